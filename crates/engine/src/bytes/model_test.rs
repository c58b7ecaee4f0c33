//! Random operations on a store and on a simple model, compared after each.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// The same operations on a `BTreeMap` that forgets expired entries before each.
#[derive(Default)]
struct Model(BTreeMap<Vec<u8>, (Vec<u8>, Option<UnixMillis>)>);

impl Model {
    fn expire(&mut self, now: UnixMillis) {
        self.0
            .retain(|_, (_, deadline)| deadline.is_none_or(|at| at > now));
    }

    fn get(&self, key: &[u8]) -> Option<Value> {
        self.0
            .get(key)
            .map(|(bytes, _)| Value::copy_from_slice(bytes))
    }
}

#[test]
fn random_operations_agree_with_a_simple_model() {
    for seed in 0..30 {
        let mut random = fastrand::Rng::with_seed(seed);
        let store = ByteStore::new(&StoreConfig {
            databases: 4,
            shards: 8,
            ..StoreConfig::default()
        });
        let mut models: [Model; 4] = Default::default();
        let mut sweep = Sweep::default();
        let mut now = UnixMillis(1_000_000);
        for step in 0..3_000 {
            now.0 += random.u64(..3);
            let index = random.usize(..4);
            let db = store.database(index).unwrap();
            let model = &mut models[index];
            model.expire(now);
            let key = format!("key:{}", random.u32(..40)).into_bytes();
            let before = model.get(&key);
            let deadline = random.bool().then(|| UnixMillis(now.0 + random.u64(..40)));
            match random.u32(..11) {
                0..3 => {
                    let options = SetOptions {
                        condition: *random
                            .choice(&[Condition::Always, Condition::IfAbsent, Condition::IfPresent])
                            .unwrap(),
                        deadline: match deadline {
                            Some(at) => DeadlineChange::At(at),
                            None if random.bool() => DeadlineChange::Keep,
                            None => DeadlineChange::Clear,
                        },
                        flags: 0,
                        is_read: true,
                    };
                    let is_long = random.u32(..10) == 0;
                    let len = random.usize(..if is_long { 40_000 } else { 30 });
                    let bytes = vec![b'a' + (step % 26) as u8; len];
                    let outcome = store.set(db, &key, &bytes[..], options, now).unwrap();
                    let stored = match options.condition {
                        Condition::Always => true,
                        Condition::IfAbsent => before.is_none(),
                        Condition::IfPresent => before.is_some(),
                    };
                    assert_eq!((outcome.stored, outcome.previous), (stored, before));
                    if stored {
                        let kept = model.0.get(&key).and_then(|(_, deadline)| *deadline);
                        let deadline = match options.deadline {
                            DeadlineChange::Keep => kept,
                            _ => deadline,
                        };
                        model.0.insert(key, (bytes, deadline));
                    }
                }
                3 => {
                    assert_eq!(store.remove(db, &key, now), before);
                    model.0.remove(&key);
                }
                4 => {
                    let change = |_: Option<Current<'_>>| (Change::SetDeadline(deadline), ());
                    store.update(db, &key, now, change).unwrap();
                    if let Some((_, at)) = model.0.get_mut(&key) {
                        *at = deadline;
                    }
                }
                5 => {
                    store.sweep(&mut sweep, now, 5);
                }
                6 if random.u32(..50) == 0 => {
                    drop(store.flush(db));
                    model.0.clear();
                }
                8 | 9 => {
                    let to_index = random.usize(..4);
                    let to = format!("key:{}", random.u32(..40)).into_bytes();
                    let target = store.database(to_index).unwrap();
                    models[to_index].expire(now);
                    let conditions = [Condition::Always, Condition::IfAbsent, Condition::IfPresent];
                    let condition = *random.choice(&conditions).unwrap();
                    let entry = models[index].0.get(&key).cloned();
                    let is_there = models[to_index].0.contains_key(&to);
                    let is_allowed = match condition {
                        Condition::Always => true,
                        Condition::IfAbsent => !is_there,
                        Condition::IfPresent => is_there,
                    };
                    let expected = match &entry {
                        None => Transfer::NoSource,
                        Some(_) if is_allowed => Transfer::Done,
                        Some(_) => Transfer::Refused,
                    };
                    let moves = index == to_index && random.bool();
                    let outcome = if moves {
                        store.rename(db, &key, &to, condition, now)
                    } else {
                        let place = |database, key| Place { database, key };
                        store.copy(place(db, &key), place(target, &to), condition, now)
                    };
                    assert_eq!(outcome, Ok(expected));
                    if let (Some(entry), Transfer::Done) = (entry, expected) {
                        if moves {
                            models[index].0.remove(&key);
                        }
                        models[to_index].0.insert(to, entry);
                    }
                }
                7 => {
                    let mut keys = Keys::default();
                    let end = store.scan(db, Cursor::default(), usize::MAX, now, &mut keys);
                    assert_eq!(end, Cursor::default());
                    let found: BTreeSet<_> = keys.iter().map(<[u8]>::to_vec).collect();
                    assert_eq!(found, model.0.keys().cloned().collect(), "step {step}");
                }
                _ => {
                    assert_eq!(store.get(db, &key, now), before, "step {step}");
                }
            }
            if step % 100 == 0 {
                store.validate();
            }
        }
        store.validate();
    }
}
