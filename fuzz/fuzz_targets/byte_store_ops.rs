//! Random operations on the byte store: what is found is what was written last, what was just written is
//! found, and without values that are held the limit is.

#![no_main]

use std::collections::HashMap;

use hotcopy_engine::bytes::{
    ByteStore, Change, Condition, Current, Cursor, DeadlineChange, Keys, Place, SetOptions,
    StoreConfig, StoreError, Sweep, Transfer, UnixMillis, Value,
};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
enum Op {
    /// Values are of up to 64 KiB, so that there are blocks.
    Set {
        key: u8,
        len: u16,
        lives_ms: Option<u8>,
    },
    Get(u8),
    /// Reads and keeps what it found until the end.
    Hold(u8),
    Remove(u8),
    Expire {
        key: u8,
        lives_ms: Option<u8>,
    },
    Patch {
        key: u8,
        offset: u16,
        len: u16,
    },
    Rename {
        from: u8,
        to: u8,
    },
    Copy {
        from: u8,
        to: u8,
    },
    Scan,
    Sweep(u8),
    Flush,
    Limit(u8),
    Wait(u8),
}

#[derive(Debug, Arbitrary)]
struct Input {
    limit: u8,
    ops: Vec<Op>,
}

/// From what holds next to nothing to two megabytes.
fn limit(size: u8) -> u64 {
    1_000 + 32 * u64::from(size) * u64::from(size)
}

#[derive(Clone)]
struct Entry {
    bytes: Vec<u8>,
    deadline: Option<UnixMillis>,
}

fuzz_target!(|input: Input| {
    let mut bound = limit(input.limit);
    let store = ByteStore::new(&StoreConfig {
        max_bytes: Some(bound),
        databases: 1,
        shards: 2,
        ..StoreConfig::default()
    });
    let db = store.database(0).expect("there is one database");
    let mut model: HashMap<u8, Entry> = HashMap::new();
    let mut held: Vec<(Value, Vec<u8>)> = Vec::new();
    let mut sweep = Sweep::default();
    let mut now = UnixMillis(1);
    for (number, op) in input.ops.into_iter().enumerate() {
        let later = |lives_ms: Option<u8>| lives_ms.map(|ms| UnixMillis(now.0 + 1 + u64::from(ms)));
        let find = |model: &HashMap<u8, Entry>, key: u8| {
            let value = store.get(db, &[key], now)?;
            let entry = &model[&key];
            assert!(entry.deadline.is_none_or(|at| at > now));
            assert_eq!(value, entry.bytes[..]);
            Some(value)
        };
        match op {
            Op::Set { key, len, lives_ms } => {
                let bytes: Vec<u8> = (0..len).map(|at| (at as usize + number) as u8).collect();
                let deadline = later(lives_ms);
                let options = SetOptions {
                    deadline: deadline.map_or(DeadlineChange::Clear, DeadlineChange::At),
                    ..SetOptions::default()
                };
                match store.set(db, &[key], &bytes[..], options, now) {
                    Ok(outcome) => {
                        assert!(outcome.stored);
                        model.insert(key, Entry { bytes, deadline });
                        assert!(find(&model, key).is_some(), "just written");
                    }
                    Err(error @ StoreError::ItemTooLong { .. }) => {
                        unreachable!("items are short: {error}")
                    }
                    Err(StoreError::TooLarge { needed_bytes, .. }) => {
                        assert!(
                            needed_bytes > bound && bytes.len() as u64 > bound / 8 || bound < 3_000
                        );
                    }
                }
            }
            Op::Get(key) => drop(find(&model, key)),
            Op::Hold(key) => {
                if let Some(value) = find(&model, key) {
                    held.push((value, model[&key].bytes.clone()));
                }
            }
            Op::Remove(key) => {
                store.remove(db, &[key], now);
                model.remove(&key);
            }
            Op::Expire { key, lives_ms } => {
                let deadline = later(lives_ms);
                let change =
                    |it: Option<Current<'_>>| (Change::SetDeadline(deadline), it.is_some());
                if store
                    .update(db, &[key], now, change)
                    .expect("nothing is stored")
                {
                    model.get_mut(&key).expect("found").deadline = deadline;
                }
            }
            Op::Patch { key, offset, len } => {
                if let Some(value) = find(&model, key) {
                    let (offset, piece) = (usize::from(offset), vec![7; usize::from(len) / 4]);
                    let Ok(patched) = store.patched(&value, offset, &piece) else {
                        continue;
                    };
                    let mut bytes = model[&key].bytes.clone();
                    if !piece.is_empty() {
                        let end = offset + piece.len();
                        bytes.resize(bytes.len().max(end), 0);
                        bytes[offset..end].copy_from_slice(&piece);
                    }
                    assert_eq!(patched, bytes[..]);
                    drop(value);
                    let written = store.set(db, &[key], patched, SetOptions::default(), now);
                    if written.is_ok() {
                        let deadline = None;
                        model.insert(key, Entry { bytes, deadline });
                    }
                }
            }
            Op::Rename { from, to } => {
                let moved = store.rename(db, &[from], &[to], Condition::Always, now);
                if moved == Ok(Transfer::Done) {
                    let entry = model.remove(&from).expect("it was found");
                    model.insert(to, entry);
                    assert!(find(&model, to).is_some(), "just moved");
                }
            }
            Op::Copy { from, to } => {
                let (from_key, to_key) = ([from], [to]);
                let place = |key| Place { database: db, key };
                let copied = store.copy(place(&from_key), place(&to_key), Condition::Always, now);
                if copied == Ok(Transfer::Done) {
                    let entry = model[&from].clone();
                    model.insert(to, entry);
                    assert!(find(&model, to).is_some(), "just copied");
                }
            }
            Op::Scan => {
                let mut keys = Keys::default();
                let end = store.scan(db, Cursor::default(), usize::MAX, now, &mut keys);
                assert_eq!(end, Cursor::default());
                assert!(keys.iter().all(|key| model.contains_key(&key[0])));
            }
            Op::Sweep(visited) => drop(store.sweep(&mut sweep, now, usize::from(visited))),
            Op::Flush => {
                drop(store.flush(db));
                model.clear();
            }
            Op::Limit(size) => {
                bound = limit(size);
                store.set_max_bytes(Some(bound), now);
            }
            Op::Wait(ms) => now.0 += u64::from(ms),
        }
        if held.is_empty() {
            assert!(store.used_bytes() <= bound);
        }
    }
    drop(store.flush(db));
    drop(store);
    for (value, bytes) in held {
        assert_eq!(value, bytes[..]);
    }
});
