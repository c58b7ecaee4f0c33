//! What holds when entries are moved and copied.

use std::sync::atomic::{AtomicBool, Ordering};

use super::tests::*;
use super::*;

fn place(store: &ByteStore, database: usize, key: &'static [u8]) -> Place<'static> {
    Place {
        database: store.database(database).unwrap(),
        key,
    }
}

#[test]
fn value_flags_and_deadline_go_along() {
    let store = store(None);
    let value = vec![b'v'; 100_000];
    let options = SetOptions {
        flags: 7,
        ..expiring(later(10))
    };
    let db = Database::default();
    store.set(db, b"a", &value[..], options, START).unwrap();
    let to = place(&store, 1, b"c");
    let copied = store.copy(place(&store, 0, b"a"), to, Condition::Always, START);
    assert_eq!(copied, Ok(Transfer::Done));
    let moved = store.rename(db, b"a", b"b", Condition::Always, START);
    assert_eq!(moved, Ok(Transfer::Done));
    for (database, key) in [(db, b"b"), (to.database, b"c")] {
        let found = store.peek(database, key, START, |found| {
            let found = found.unwrap();
            (found.flags(), found.deadline())
        });
        assert_eq!(found, (7, Some(later(10))));
        assert_eq!(store.get(database, key, START).unwrap(), value[..]);
        assert!(store.get(database, key, later(10)).is_none());
    }
    assert!(store.get(db, b"a", START).is_none());
    store.validate();
}

#[test]
fn copies_share_their_blocks_and_are_independent() {
    let store = store(None);
    let db = Database::default();
    put(&store, b"a", &vec![b'v'; 10_000_000]);
    let before = store.used_bytes();
    let (from, to) = (place(&store, 0, b"a"), place(&store, 0, b"b"));
    let copied = store.copy(from, to, Condition::Always, START);
    assert_eq!(copied, Ok(Transfer::Done));
    assert!(store.used_bytes() < before + 1_000_000);
    put(&store, b"a", b"changed");
    let copy = store.get(db, b"b", START).unwrap();
    assert!(copy.len() == 10_000_000 && copy.slices().flatten().all(|byte| *byte == b'v'));
    store.validate();
}

#[test]
fn a_rename_to_itself_does_nothing_and_a_target_is_replaced_only_if_that_is_allowed() {
    let store = store(None);
    let db = Database::default();
    put(&store, b"a", b"1");
    put(&store, b"b", b"2");
    let rename = |from: &[u8], to: &[u8], condition| {
        let outcome = store.rename(db, from, to, condition, START).unwrap();
        store.validate();
        outcome
    };
    assert_eq!(rename(b"a", b"a", Condition::Always), Transfer::Done);
    assert_eq!(rename(b"a", b"a", Condition::IfAbsent), Transfer::Refused);
    assert_eq!(rename(b"a", b"b", Condition::IfAbsent), Transfer::Refused);
    assert_eq!(rename(b"x", b"b", Condition::Always), Transfer::NoSource);
    assert_eq!(store.get(db, b"b", START).unwrap(), b"2"[..]);
    assert_eq!(rename(b"a", b"b", Condition::Always), Transfer::Done);
    assert_eq!(store.get(db, b"b", START).unwrap(), b"1"[..]);
    assert_eq!(store.len(db), 1);
}

#[test]
fn keys_of_any_length_take_part() {
    let store = store(None);
    let db = Database::default();
    let names: Vec<Vec<u8>> = [1, 20, 16_383, 16_384, 50_000]
        .map(|len| vec![b'k'; len])
        .into();
    for from in &names {
        for to in &names {
            put(&store, from, b"value");
            let moved = store.rename(db, from, to, Condition::Always, START);
            assert_eq!(moved, Ok(Transfer::Done));
            assert_eq!(store.remove(db, to, START).unwrap(), b"value"[..]);
            store.validate();
        }
    }
    assert!(store.is_empty(db));
}

#[test]
fn what_does_not_fit_stays_where_it_was() {
    let store = store(Some(100_000));
    let db = Database::default();
    put(&store, b"a", &[b'v'; 30_000]);
    let long = vec![b'k'; 90_000];
    let moved = store.rename(db, b"a", &long, Condition::Always, START);
    assert!(matches!(moved, Err(StoreError::TooLarge { .. })));
    store.validate();
}

/// One value goes to and fro between keys of different shards, and pairs of values change together.
/// Whoever reads both keys at once never sees the value twice or not at all, nor half of a pair.
#[test]
fn nobody_sees_a_half_done_rename_copy_or_write_of_several() {
    const KEYS: [&[u8]; 4] = [b"one", b"two", b"three", b"four"];
    let store = store(None);
    let db = Database::default();
    put(&store, KEYS[0], b"there");
    let pair = |value: &'static [u8]| [(&b"left"[..], value.into()), (&b"right"[..], value.into())];
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (store, is_over) = (&store, &is_over);
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(move || {
                    let mut reads = 0;
                    while !is_over.load(Ordering::Relaxed) {
                        let values = store.get_many(db, KEYS.into_iter(), START);
                        let there = values.iter().flatten().count();
                        assert_eq!(there, 1, "the value is at one key");
                        let names: [&[u8]; 3] = [b"left", b"right", b"copy"];
                        let values = store.get_many(db, names.into_iter(), START);
                        assert_eq!(values[0], values[1], "both were written together");
                        reads += 1;
                    }
                    reads
                })
            })
            .collect();
        for round in 0..20_000 {
            let (from, to) = (KEYS[round % 4], KEYS[(round + 1) % 4]);
            let moved = store.rename(db, from, to, Condition::IfAbsent, START);
            assert_eq!(moved, Ok(Transfer::Done));
            let value: &'static [u8] = if round % 2 == 0 { b"even" } else { b"odd" };
            let written = store.set_many(db, &pair(value), Condition::Always, START);
            assert_eq!(written, Ok(true));
        }
        is_over.store(true, Ordering::Relaxed);
        for reader in readers {
            assert!(reader.join().unwrap() > 0);
        }
    });
    store.validate();
}
