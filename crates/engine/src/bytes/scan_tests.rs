//! Scans: every key that stays is found, in bounded steps.

use std::collections::BTreeSet;

use super::tests::{START, expiring, later, put, store};
use super::*;

fn scan_all(store: &ByteStore, count: usize, mut between: impl FnMut()) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut cursor = Cursor::default();
    loop {
        let mut keys = Keys::default();
        cursor = store.scan(Database::default(), cursor, count, START, &mut keys);
        found.extend(keys.iter().map(<[u8]>::to_vec));
        if cursor == Cursor::default() {
            return found;
        }
        between();
    }
}

#[test]
fn a_scan_returns_every_key_that_stays_while_others_come_and_go() {
    for seed in 0..20 {
        let mut random = fastrand::Rng::with_seed(seed);
        let store = store(None);
        let staying: BTreeSet<Vec<u8>> = (0..500).map(|n| format!("stay:{n}").into()).collect();
        let mut added = 0;
        let mut goers: Vec<Vec<u8>> = (0..500).map(|n| format!("go:{n}").into()).collect();
        let mut all: Vec<_> = staying.iter().chain(&goers).cloned().collect();
        random.shuffle(&mut all);
        for key in &all {
            put(&store, key, b"");
        }
        let count = random.usize(1..50);
        let found = scan_all(&store, count, || {
            for _ in 0..random.usize(..20) {
                if random.bool() && !goers.is_empty() {
                    let goer = goers.swap_remove(random.usize(..goers.len()));
                    store.remove(Database::default(), &goer, START);
                } else if added < 2_000 {
                    added += 1;
                    put(&store, format!("new:{added}").as_bytes(), b"");
                }
            }
        });
        let found: BTreeSet<_> = found.into_iter().collect();
        assert!(found.is_superset(&staying), "seed {seed}");
    }
}

#[test]
fn a_scan_of_a_store_at_rest_returns_each_key_once() {
    let store = store(None);
    for number in 0..1_000_u32 {
        put(&store, &number.to_be_bytes(), b"");
    }
    for count in [1, 10, 999, usize::MAX] {
        let found = scan_all(&store, count, || {});
        assert_eq!(found.len(), 1_000);
        assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), 1_000);
    }
}

#[test]
fn a_scan_accepts_any_number_as_its_cursor() {
    let store = store(None);
    put(&store, b"k", b"");
    for cursor in [1, 7, 255, 256, u64::MAX, u64::MAX - 255, 1 << 40] {
        let mut keys = Keys::default();
        store.scan(Database::default(), Cursor(cursor), 10, START, &mut keys);
        assert!(keys.len() <= 1);
    }
}

#[test]
fn a_scan_shows_no_expired_key() {
    let store = store(None);
    put(&store, b"lives", b"v");
    let written = store.set(
        Database::default(),
        b"expired",
        b"v",
        expiring(later(1)),
        START,
    );
    assert!(written.unwrap().stored);
    let mut keys = Keys::default();
    let next = store.scan(
        Database::default(),
        Cursor::default(),
        100,
        later(1),
        &mut keys,
    );
    assert_eq!(next, Cursor::default());
    assert_eq!(keys.iter().collect::<Vec<_>>(), [b"lives"]);
}

#[test]
fn a_scan_of_long_keys_makes_steps_of_bounded_size_and_misses_none() {
    let store = store(None);
    let key = |index: usize| format!("{index:050000}{index:050000}").into_bytes();
    for index in 0..200 {
        put(&store, &key(index), b"");
    }
    let mut steps = 0;
    let found = scan_all(&store, usize::MAX, || steps += 1);
    let found: BTreeSet<_> = found.into_iter().collect();
    assert_eq!(found, (0..200).map(key).collect());
    // A step may go beyond the bound by the few keys of one bucket.
    assert!(steps >= 200 * 100_000 / (2 * SCAN_BYTES), "{steps}");
}
