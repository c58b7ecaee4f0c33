//! Extremes: very long and empty parts, clocks that go backwards, one database beside another.

use super::test_support::*;
use super::*;

#[test]
fn keys_and_values_may_be_empty_or_longer_than_blocks() {
    let store = store(None);
    let lens = [0, 1, 16_375, 16_376, 16_377, 40_000, 200_000];
    for key_len in lens {
        for value_len in lens {
            let (key, value) = (pattern(key_len, 1), pattern(value_len, 2));
            set(&store, &key, &value).unwrap();
            assert_eq!(store.get(DB, &key, NOW).unwrap(), value[..]);
        }
    }
    assert_eq!(store.len(DB), lens.len());
    store.validate();
    for key_len in lens {
        assert!(store.remove(DB, &pattern(key_len, 1), NOW).is_some());
    }
    assert_eq!(store.used_bytes(), 0);
}

#[test]
fn a_clock_that_goes_backwards_only_lets_entries_live_longer() {
    let store = store(None);
    let options = SetOptions {
        deadline: DeadlineChange::At(UnixMillis(2_000)),
        ..SetOptions::default()
    };
    store
        .set(DB, b"k", b"v", options, UnixMillis(1_000))
        .unwrap();
    let mut sweep = Sweep::default();
    while !store.sweep(&mut sweep, UnixMillis(1_999), 10).finished {}
    for now in [1_999, 0, 500] {
        assert!(store.get(DB, b"k", UnixMillis(now)).is_some());
        while !store.sweep(&mut sweep, UnixMillis(now), 10).finished {}
    }
    while !store.sweep(&mut sweep, UnixMillis(2_000), 10).finished {}
    assert!(store.is_empty(DB));
}

#[test]
fn flags_and_versions_are_kept_and_a_version_changes_with_each_write() {
    let store = store(None);
    let write = |flags| {
        let options = SetOptions {
            flags,
            ..SetOptions::default()
        };
        store.set(DB, b"k", b"v", options, NOW).unwrap();
        store.peek(DB, b"k", NOW, |found| {
            let found = found.unwrap();
            (found.flags(), found.version())
        })
    };
    let (flags, first) = write(7);
    assert_eq!(flags, 7);
    let (flags, second) = write(0);
    assert_eq!(flags, 0);
    assert_ne!(first, second);
    let later = Some(UnixMillis(NOW.0 + 1));
    let change = |_: Option<Current<'_>>| (Change::SetDeadline(later), ());
    store.update(DB, b"k", NOW, change).unwrap();
    store.peek(DB, b"k", NOW, |found| {
        assert_eq!(found.unwrap().version(), second);
    });
}

#[test]
fn a_flush_of_one_database_leaves_the_others_and_frees_its_own() {
    let store = store(None);
    let other = store.database(5).unwrap();
    for number in 0..10_000_u32 {
        for database in [DB, other] {
            let (key, options) = (number.to_be_bytes(), expiring(number));
            store.set(database, &key, &[1; 50], options, NOW).unwrap();
        }
    }
    let discarded = store.flush(DB);
    assert_eq!((store.len(DB), store.len_with_deadline(DB)), (0, 0));
    assert_eq!(store.get(DB, &0_u32.to_be_bytes(), NOW), None);
    set(&store, b"new", b"v").unwrap();
    assert_eq!(store.len(other), 10_000);
    drop(discarded);
    store.validate();
    assert_eq!(store.get(DB, b"new", NOW).unwrap(), "v");
    assert!(store.get(other, &1_u32.to_be_bytes(), NOW).is_some());
    drop(store.flush(other));
    drop(store.flush(DB));
    assert_eq!(store.used_bytes(), 0);
}

/// Every other entry with a deadline.
fn expiring(number: u32) -> SetOptions {
    SetOptions {
        deadline: match number % 2 {
            0 => DeadlineChange::Clear,
            _ => DeadlineChange::At(UnixMillis(NOW.0 + 1_000)),
        },
        ..SetOptions::default()
    }
}
