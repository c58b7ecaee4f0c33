//! The store's promises, one by one.

use super::*;

pub(super) const START: UnixMillis = UnixMillis(1_000_000);

pub(super) fn store(max_bytes: Option<u64>) -> ByteStore {
    ByteStore::new(&StoreConfig {
        max_bytes,
        databases: 4,
        shards: 8,
        ..StoreConfig::default()
    })
}

pub(super) fn later(ms: u64) -> UnixMillis {
    UnixMillis(START.0 + ms)
}

fn value(bytes: &[u8]) -> Value {
    Value::copy_from_slice(bytes)
}

pub(super) fn put(store: &ByteStore, key: &[u8], bytes: &[u8]) {
    let options = SetOptions::default();
    let written = store.set(Database::default(), key, bytes, options, START);
    assert!(written.unwrap().stored);
}

pub(super) fn expiring(at: UnixMillis) -> SetOptions {
    SetOptions {
        deadline: DeadlineChange::At(at),
        ..SetOptions::default()
    }
}

#[test]
fn a_value_is_returned_until_its_deadline_and_never_after() {
    let store = store(None);
    let db = Database::default();
    let written = store.set(db, b"k", b"v", expiring(later(10)), START);
    assert!(written.unwrap().previous.is_none());
    assert_eq!(store.get(db, b"k", later(9)).unwrap(), "v");
    assert_eq!(store.get(db, b"k", later(10)), None);
    assert_eq!(store.len(db), 0);
    store.validate();
    let stats = store.stats();
    assert_eq!((stats.hits, stats.misses, stats.expirations), (1, 1, 1));
}

#[test]
fn a_condition_that_fails_leaves_the_value_and_reports_it() {
    let store = store(None);
    let db = Database::default();
    let only = |condition| SetOptions {
        condition,
        is_read: true,
        ..SetOptions::default()
    };
    let absent = only(Condition::IfAbsent);
    let present = only(Condition::IfPresent);
    let set = |bytes: &[u8], options| store.set(db, b"k", bytes, options, START);
    assert!(!set(b"0", present).unwrap().stored);
    assert!(set(b"1", absent).unwrap().stored);
    let refused = set(b"2", absent).unwrap();
    assert_eq!(
        (refused.stored, refused.previous),
        (false, Some(value(b"1")))
    );
    let replaced = set(b"3", present).unwrap();
    assert_eq!(
        (replaced.stored, replaced.previous),
        (true, Some(value(b"1")))
    );
    assert_eq!(store.get(db, b"k", START).unwrap(), "3");
}

#[test]
fn an_expired_entry_counts_as_absent_for_conditions() {
    let store = store(None);
    let db = Database::default();
    store
        .set(db, b"k", b"old", expiring(later(1)), START)
        .unwrap();
    let options = SetOptions {
        condition: Condition::IfAbsent,
        deadline: DeadlineChange::Keep,
        ..SetOptions::default()
    };
    let outcome = store.set(db, b"k", b"new", options, later(1)).unwrap();
    assert!(outcome.stored && outcome.previous.is_none());
    let deadline = store.inspect(db, b"k", later(1), |found| found.unwrap().deadline());
    assert_eq!(
        deadline, None,
        "the expired entry's deadline must not go on"
    );
}

#[test]
fn keeping_the_deadline_keeps_it_and_clearing_clears_it() {
    let store = store(None);
    let db = Database::default();
    let deadline = |store: &ByteStore| store.inspect(db, b"k", START, |it| it.unwrap().deadline());
    store
        .set(db, b"k", b"1", expiring(later(5)), START)
        .unwrap();
    let keep = SetOptions {
        deadline: DeadlineChange::Keep,
        ..SetOptions::default()
    };
    store.set(db, b"k", b"2", keep, START).unwrap();
    assert_eq!(deadline(&store), Some(later(5)));
    put(&store, b"k", b"3");
    assert_eq!(deadline(&store), None);
    assert_eq!(store.len_with_deadline(db), 0);
}

#[test]
fn a_deadline_in_the_past_removes_the_entry() {
    let store = store(None);
    let db = Database::default();
    put(&store, b"a", b"1");
    put(&store, b"b", b"1");
    store.set(db, b"a", b"2", expiring(START), START).unwrap();
    let change = |_: Option<Current<'_>>| (Change::SetDeadline(Some(UnixMillis(1))), ());
    store.update(db, b"b", START, change).unwrap();
    assert!(store.is_empty(db));
    store.validate();
}

#[test]
fn a_value_larger_than_the_limit_is_refused_and_changes_nothing() {
    let store = store(Some(2000));
    let db = Database::default();
    put(&store, b"k", b"small");
    let refused = store.set(db, b"k", &[0; 2000], SetOptions::default(), START);
    assert!(matches!(
        refused,
        Err(StoreError::TooLarge {
            max_bytes: 2000,
            ..
        })
    ));
    assert_eq!(store.get(db, b"k", START).unwrap(), "small");
    let pairs = [(&b"k"[..], (&[1; 900]).into()), (b"l", (&[1; 900]).into())];
    assert!(
        store
            .set_many(db, &pairs, Condition::Always, START)
            .is_err()
    );
    assert_eq!(store.get(db, b"k", START).unwrap(), "small");
}

#[test]
fn memory_stays_bounded_and_what_was_just_written_stays() {
    let limit = 100_000;
    let store = store(Some(limit));
    for number in 0..5_000_u32 {
        let key = number.to_be_bytes();
        put(&store, &key, &[7; 100]);
        assert!(store.used_bytes() <= limit);
        assert!(store.get(Database::default(), &key, START).is_some());
    }
    store.validate();
    assert!(
        store.used_bytes() > limit - 2500,
        "evicts no more than it must"
    );
    assert!(store.stats().evictions > 4_000);
}

#[test]
fn an_entry_that_is_read_often_outlives_those_that_are_not() {
    let store = store(Some(100_000));
    let db = Database::default();
    put(&store, b"hot", b"x");
    for number in 0..20_000_u32 {
        let now = later(u64::from(number));
        let key = number.to_be_bytes();
        store
            .set(db, &key, &[7; 100], SetOptions::default(), now)
            .unwrap();
        assert!(store.get(db, b"hot", now).is_some(), "evicted at {number}");
    }
}

#[test]
fn a_sweep_removes_what_expired_and_nothing_else() {
    let store = store(None);
    let db = store.database(2).unwrap();
    for number in 0..1_000_u64 {
        let options = expiring(later(1 + number % 100));
        store
            .set(db, &number.to_be_bytes(), b"v", options, START)
            .unwrap();
    }
    store
        .set(db, b"stays", b"v", SetOptions::default(), START)
        .unwrap();
    let mut sweep = Sweep::default();
    for now in [later(50), later(100)] {
        while !store.sweep(&mut sweep, now, 7).finished {}
        let due = now.0 - START.0;
        assert_eq!(store.len(db) as u64, 1 + 1_000 - due * 10);
    }
    assert_eq!(store.sweep(&mut sweep, later(200), 7).visited, 0);
    store.validate();
}

#[test]
fn writers_of_the_same_pairs_are_never_seen_half_done() {
    let store = store(None);
    let db = Database::default();
    let keys: Vec<Vec<u8>> = (0..20).map(|n| format!("key:{n}").into()).collect();
    let write = |bytes: &[u8]| {
        let pairs: Vec<_> = keys.iter().map(|key| (&key[..], bytes.into())).collect();
        for _ in 0..2_000 {
            store
                .set_many(db, &pairs, Condition::Always, START)
                .unwrap();
        }
    };
    write(b"0");
    std::thread::scope(|scope| {
        scope.spawn(|| write(b"1"));
        scope.spawn(|| write(b"2"));
        for _ in 0..2_000 {
            let seen = store.get_many(db, keys.iter().map(|key| &key[..]), START);
            assert!(seen.iter().all(|it| *it == seen[0] && it.is_some()));
        }
    });
    store.validate();
}

#[test]
fn a_conditional_write_of_many_writes_all_or_none() {
    let store = store(None);
    let db = Database::default();
    put(&store, b"b", b"old");
    let pairs = [(&b"a"[..], b"1".into()), (b"b", b"2".into())];
    assert!(
        !store
            .set_many(db, &pairs, Condition::IfAbsent, START)
            .unwrap()
    );
    assert_eq!(store.get(db, b"a", START), None);
    store.remove(db, b"b", START);
    assert!(
        store
            .set_many(db, &pairs, Condition::IfAbsent, START)
            .unwrap()
    );
    assert_eq!(store.get(db, b"b", START).unwrap(), "2");
}

#[test]
fn memory_of_entries_that_are_gone_is_given_back() {
    const ENTRIES: usize = 200_000;
    let store = store(None);
    let db = Database::default();
    for expire in [false, true] {
        for index in 0..ENTRIES {
            let options = expiring(later(10));
            let key = index.to_string();
            let written = store.set(db, key.as_bytes(), b"v", options, START);
            assert!(written.unwrap().stored);
        }
        let full = store.used_bytes();
        assert!(full > ENTRIES as u64 * 30);
        if expire {
            let mut sweep = Sweep::default();
            while !store.sweep(&mut sweep, later(10), 64).finished {}
            assert_eq!(store.used_bytes(), 0);
        } else {
            for index in 100..ENTRIES {
                store.remove(db, index.to_string().as_bytes(), START);
            }
            for index in 0..100 {
                assert!(store.get(db, index.to_string().as_bytes(), START).is_some());
            }
            // Of each shard two or three segments stay: those that are open, and the survivors.
            let left = store.used_bytes();
            assert!(left < full / 4, "{left} of {full}");
        }
        store.validate();
    }
}

#[test]
fn a_look_is_no_use_and_a_read_that_also_writes_is_one() {
    let store = store(None);
    let db = Database::default();
    put(&store, b"k", b"v");
    let mark = || {
        let (index, hash) = store.hasher.hash(b"k");
        let mut shard = store.lock(index);
        let location = shard.find(0, hash, b"k", START).unwrap().location;
        shard.log.record(location).mark()
    };
    let hits = || (store.stats().hits, store.stats().misses);
    assert!(store.peek(db, b"k", later(1), |found| found.is_some()));
    assert!(!store.peek(db, b"no", later(1), |found| found.is_some()));
    let keep = |current: Option<Current<'_>>| (Change::Keep, current.is_some());
    assert!(store.update(db, b"k", later(2), keep).unwrap());
    assert_eq!((hits(), mark()), ((0, 0), 0));
    assert!(store.read_and_update(db, b"k", later(3), keep).unwrap());
    assert!(!store.read_and_update(db, b"no", later(3), keep).unwrap());
    assert_eq!((hits(), mark()), ((1, 1), 1));
    let set_and_get = SetOptions {
        is_read: true,
        ..SetOptions::default()
    };
    for (key, counted) in [(b"k", (2, 1)), (b"n", (2, 2))] {
        store.set(db, key, b"w", set_and_get, later(4)).unwrap();
        assert_eq!(hits(), counted);
    }
    store
        .inspect(db, b"k", later(5), |found| found.is_some())
        .then_some(())
        .unwrap();
    assert_eq!((hits(), mark()), ((3, 2), 1));
}
