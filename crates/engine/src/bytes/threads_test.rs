//! Several threads at once: what one finds is whole and of the key it asked for, and the sums are right
//! when all have ended.

use super::test_support::*;
use super::*;

const THREADS: u64 = 4;
const STEPS: usize = 8_000;
const KEYS: u32 = 300;

/// A value of any length of a key begins alike, and nothing of another key's.
fn check(key: u32, value: &Value) {
    let len = value.len();
    assert_eq!(
        *value,
        pattern(len, key as usize)[..],
        "key {key}, {len} bytes"
    );
}

fn work(store: &ByteStore, thread: u64) {
    let mut random = fastrand::Rng::with_seed(thread);
    let mut held = Vec::new();
    let mut sweep = Sweep::default();
    for step in 0..STEPS {
        let key = random.u32(..KEYS);
        let name = key.to_be_bytes();
        let now = UnixMillis(NOW.0 + step as u64);
        match random.u32(..100) {
            0..40 => {
                let len = *random.choice(&[10, 500, 3_000, 40_000]).unwrap();
                let value = pattern(random.usize(..len), key as usize);
                let deadline = match random.bool() {
                    true => DeadlineChange::Clear,
                    false => DeadlineChange::At(UnixMillis(now.0 + random.u64(..500))),
                };
                let options = SetOptions {
                    deadline,
                    ..SetOptions::default()
                };
                store.set(DB, &name, &value[..], options, now).unwrap();
            }
            40..80 => {
                if let Some(value) = store.get(DB, &name, now) {
                    check(key, &value);
                    if held.len() < 20 {
                        held.push((key, value));
                    }
                }
            }
            80..85 => drop(store.remove(DB, &name, now)),
            85..90 => held.drain(..).for_each(|(key, value)| check(key, &value)),
            90..95 => drop(store.sweep(&mut sweep, now, 100)),
            95..97 => {
                let mut keys = Keys::default();
                store.scan(DB, Cursor(random.u64(..)), 50, now, &mut keys);
                assert!(keys.iter().all(|key| key.len() == 4));
            }
            97 if random.u32(..20) == 0 => drop(store.flush(DB)),
            98 if random.u32(..20) == 0 => {
                store.set_max_bytes(Some(random.u64(1..12) << 20), now);
            }
            _ => {}
        }
    }
}

#[test]
fn threads_that_write_evict_flush_and_read_at_once_see_whole_values_and_leave_exact_sums() {
    let store = store(Some(4 << 20));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let store = &store;
            scope.spawn(move || work(store, thread));
        }
    });
    store.validate();
    store.set_max_bytes(Some(1 << 20), NOW);
    assert!(store.used_bytes() <= 1 << 20);
    drop(store.flush(DB));
    let mut now = NOW;
    while store.needs_sweep() {
        // Blocks that are kept for the next use go when they were not used for a while.
        now.0 += 1_000;
        store.sweep(&mut Sweep::default(), now, 1_000);
    }
    assert_eq!(store.used_bytes(), 0);
}
