//! Long random runs within a limit: entries may be evicted, but what is found is what was written last,
//! what was just written is found, and the limit holds.

use std::collections::HashMap;

use super::*;

const KEYS: u32 = 400;
const STEPS: usize = 4_000;

/// Values of a length and a number, so that they can be told apart without keeping them.
#[derive(Debug, Clone, Copy)]
struct Written {
    len: usize,
    number: usize,
    deadline: Option<UnixMillis>,
}

fn bytes(written: Written) -> Vec<u8> {
    let number = written.number.to_le_bytes();
    number.into_iter().cycle().take(written.len).collect()
}

fn run(seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut limit = *random.choice(&[300_000, 1 << 20, 20 << 20]).unwrap();
    let longest = random.choice(&[100, 3_000, 50_000]).copied().unwrap();
    let store = ByteStore::new(&StoreConfig {
        max_bytes: Some(limit),
        databases: 3,
        shards: 4,
        ..StoreConfig::default()
    });
    let mut model: HashMap<(usize, u32), Written> = HashMap::new();
    let mut held: Vec<(Value, Written)> = Vec::new();
    let mut sweep = Sweep::default();
    let mut now = UnixMillis(1_000);
    for number in 0..STEPS {
        now.0 += random.u64(..3);
        let (index, key) = (random.usize(..3), random.u32(..KEYS));
        let db = store.database(index).unwrap();
        let name = key.to_string();
        let name = name.as_bytes();
        let found = |model: &HashMap<_, Written>, value: &Value| {
            let written: Written = model[&(index, key)];
            assert!(written.deadline.is_none_or(|at| at > now), "it has expired");
            assert_eq!(*value, bytes(written)[..], "seed {seed}, step {number}");
            written
        };
        match random.u32(..20) {
            0..9 => {
                let deadline = random
                    .bool()
                    .then(|| UnixMillis(now.0 + random.u64(1..900)));
                let len = random.usize(..longest);
                let written = Written {
                    len,
                    number,
                    deadline,
                };
                let options = SetOptions {
                    deadline: deadline.map_or(DeadlineChange::Clear, DeadlineChange::At),
                    flags: number as u32,
                    ..SetOptions::default()
                };
                let value = bytes(written);
                store.set(db, name, &value[..], options, now).unwrap();
                model.insert((index, key), written);
                let value = store.get(db, name, now).expect("it was just written");
                assert_eq!(value, bytes(written)[..]);
            }
            9..14 => {
                if let Some(value) = store.get(db, name, now) {
                    let written = found(&model, &value);
                    if held.len() < 3 {
                        held.push((value, written));
                    }
                }
            }
            14 => {
                if let Some(value) = store.remove(db, name, now) {
                    found(&model, &value);
                }
                model.remove(&(index, key));
            }
            15 => {
                let deadline = random
                    .bool()
                    .then(|| UnixMillis(now.0 + random.u64(1..900)));
                let change = |current: Option<Current<'_>>| {
                    (Change::SetDeadline(deadline), current.is_some())
                };
                if store.update(db, name, now, change).unwrap() {
                    model.get_mut(&(index, key)).unwrap().deadline = deadline;
                }
            }
            16 => drop(store.sweep(&mut sweep, now, 50)),
            17 => {
                for (value, written) in held.drain(..) {
                    assert_eq!(value, bytes(written)[..], "a value that was kept");
                }
            }
            18 if random.u32(..30) == 0 => {
                drop(store.flush(db));
                model.retain(|(database, _), _| *database != index);
                assert!(store.is_empty(db));
            }
            19 if random.u32(..30) == 0 => {
                limit = limit / 4 * random.u64(3..6);
                limit = limit.max(300_000);
                store.set_max_bytes(Some(limit), now);
            }
            _ => {}
        }
        // A value that is kept may keep a segment or blocks.
        if held.is_empty() {
            assert!(store.used_bytes() <= limit, "seed {seed}, step {number}");
        }
        if number % 500 == 0 {
            store.validate();
        }
    }
    store.validate();
}

#[test]
fn within_a_limit_what_is_found_is_what_was_written_last() {
    (0..10).for_each(run);
}
