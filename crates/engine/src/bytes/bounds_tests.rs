//! Extremes and bad input: tiny and changing limits, very long and empty parts, clocks that go
//! backwards, values that outlive what they were read from.

use super::*;

const NOW: UnixMillis = UnixMillis(1_000_000);
const DB: Database = Database(0);

fn store(max_bytes: Option<u64>) -> ByteStore {
    ByteStore::new(&StoreConfig {
        max_bytes,
        ..StoreConfig::default()
    })
}

fn set(store: &ByteStore, key: &[u8], value: &[u8]) -> Result<SetOutcome, StoreError> {
    store.set(DB, key, value, SetOptions::default(), NOW)
}

/// Bytes that differ from place to place, so that a piece in the wrong place is noticed.
fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len)
        .map(|index| (index / 251 + index * 7 + seed) as u8)
        .collect()
}

#[test]
fn a_store_without_any_memory_refuses_every_write_and_finds_nothing() {
    let store = store(Some(0));
    assert!(matches!(
        set(&store, b"", b""),
        Err(StoreError::TooLarge { max_bytes: 0, .. })
    ));
    assert!(store.builder(0).is_err());
    assert_eq!(store.get(DB, b"", NOW), None);
    assert_eq!(store.used_bytes(), 0);
}

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
fn a_value_of_512_mebibytes_is_stored_read_and_freed_in_pieces() {
    const LEN: usize = 512 << 20;
    let store = store(Some(600 << 20));
    let mut builder = store.builder(LEN).unwrap();
    while !builder.is_full() {
        let count = builder.unfilled(&store).len();
        builder.advance(count);
    }
    let value = builder.finish().unwrap();
    store
        .set(DB, b"k", value, SetOptions::default(), NOW)
        .unwrap();
    let value = store.get(DB, b"k", NOW).unwrap();
    assert_eq!(value.len(), LEN);
    assert_eq!(value.slices().map(<[u8]>::len).sum::<usize>(), LEN);
    drop(value);
    store.remove(DB, b"k", NOW);
    let mut sweep = Sweep::default();
    let mut steps = 0;
    while !store.sweep(&mut sweep, NOW, 64).finished {
        steps += 1;
    }
    assert!(steps > 500, "freed in {steps} steps");
    assert_eq!(store.used_bytes(), 0);
}

#[test]
fn memory_of_values_that_wait_to_be_freed_is_used_before_anything_is_evicted() {
    let store = store(Some(8 << 20));
    set(&store, b"stays", &[1; 2_000_000]).unwrap();
    for _ in 0..20 {
        set(&store, b"replaced", &[2; 3_000_000]).unwrap();
    }
    assert!(store.get(DB, b"stays", NOW).is_some());
    assert!(store.used_bytes() <= 8 << 20);
}

#[test]
fn a_value_stays_whole_when_its_entry_is_replaced_evicted_or_flushed_and_the_store_dropped() {
    for len in [0, 10, 5_000, 100_000, 2_000_000] {
        let store = store(Some(4 << 20));
        let value = pattern(len, 3);
        let mut handles = Vec::new();
        set(&store, b"k", &value).unwrap();
        handles.push(store.get(DB, b"k", NOW).unwrap());
        set(&store, b"k", &pattern(len, 4)).unwrap();
        set(&store, b"k", &value).unwrap();
        handles.push(store.get(DB, b"k", NOW).unwrap());
        for number in 0..300_u32 {
            let filling = pattern(100_000, number as usize);
            set(&store, &number.to_be_bytes(), &filling).unwrap();
        }
        let evicted = store.get(DB, b"k", NOW).is_none();
        assert!(evicted);
        set(&store, b"k", &value).unwrap();
        handles.push(store.get(DB, b"k", NOW).unwrap());
        drop(store.flush(DB));
        drop(store);
        let copy = handles[0].clone();
        assert!(handles.iter().all(|handle| *handle == value[..]));
        drop(handles);
        assert_eq!(copy, value[..]);
    }
}

#[test]
fn what_is_referred_to_counts_until_it_is_not() {
    let store = store(None);
    set(&store, b"large", &[1; 1_000_000]).unwrap();
    set(&store, b"small", &[1; 10]).unwrap();
    let handles = [b"large", b"small"].map(|key| store.get(DB, key, NOW));
    drop(store.flush(DB));
    assert!(store.used_bytes() > 1_000_000);
    drop(handles);
    assert_eq!(store.used_bytes(), 0);
}

#[test]
fn a_builder_that_is_dropped_half_filled_leaves_nothing_behind() {
    let store = store(None);
    let mut builder = store.builder(10_000_000).unwrap();
    assert_eq!(
        store.used_bytes(),
        0,
        "nothing is taken before it is filled"
    );
    while builder.filled() < 5_000_000 {
        let count = builder.unfilled(&store).len().min(1_000);
        builder.advance(count);
    }
    let used = store.used_bytes();
    assert!((5_000_000..6_000_000).contains(&used), "{used}");
    assert!(builder.finish().is_none(), "it is not full");
    assert_eq!(store.used_bytes(), 0);
}

#[test]
fn a_value_that_arrives_in_pieces_is_the_same_as_one_that_is_there() {
    let store = store(None);
    for len in [0, 1, 16_376, 100_000] {
        let bytes = pattern(len, 5);
        let mut builder = store.builder(len).unwrap();
        let mut random = fastrand::Rng::with_seed(len as u64);
        while !builder.is_full() {
            let filled = builder.filled();
            let room = builder.unfilled(&store);
            let count = room.len().min(random.usize(1..9_000));
            room[..count].copy_from_slice(&bytes[filled..][..count]);
            builder.advance(count);
        }
        assert!(builder.unfilled(&store).is_empty());
        let value = builder.finish().unwrap();
        let blocks: Vec<_> = value.slices().take(len / BLOCK_VALUE_BYTES).collect();
        let places: Vec<_> = blocks.iter().map(|block| block.as_ptr()).collect();
        store
            .set(DB, b"k", value.clone(), SetOptions::default(), NOW)
            .unwrap();
        let stored = store.get(DB, b"k", NOW).unwrap();
        assert_eq!(stored, bytes[..]);
        let stored_at = stored.slices().map(<[u8]>::as_ptr);
        assert!(stored_at.zip(&places).all(|(at, place)| at == *place));
    }
}

#[test]
fn a_builder_evicts_for_what_it_takes() {
    let store = store(Some(10 << 20));
    for number in 0..10_000_u32 {
        set(&store, &number.to_be_bytes(), &[1; 900]).unwrap();
    }
    let mut builder = store.builder(5_000_000).unwrap();
    while !builder.is_full() {
        let count = builder.unfilled(&store).len();
        builder.advance(count);
        assert!(store.used_bytes() <= 10 << 20);
    }
    assert!(store.builder(11 << 20).is_err());
}

#[test]
fn a_value_of_another_store_is_copied() {
    let (one, other) = (store(None), store(None));
    let bytes = pattern(100_000, 6);
    set(&one, b"k", &bytes).unwrap();
    let value = one.get(DB, b"k", NOW).unwrap();
    other
        .set(DB, b"k", value, SetOptions::default(), NOW)
        .unwrap();
    drop(one);
    assert_eq!(other.get(DB, b"k", NOW).unwrap(), bytes[..]);
}

#[test]
fn a_limit_that_is_lowered_is_held_at_once_and_one_that_is_raised_is_used() {
    let store = store(Some(64 << 20));
    let fill = |from: u32| {
        for number in from..from + 100_000 {
            set(&store, &number.to_be_bytes(), &[1; 1_000]).unwrap();
        }
    };
    fill(0);
    assert!(store.used_bytes() > 60 << 20);
    for limit in [32 << 20, 8 << 20, 3 << 20] {
        store.set_max_bytes(Some(limit), NOW);
        assert_eq!(store.max_bytes(), Some(limit));
        assert!(store.used_bytes() <= limit);
        store.validate();
    }
    set(&store, b"k", b"v").unwrap();
    assert!(store.get(DB, b"k", NOW).is_some());
    store.set_max_bytes(None, NOW);
    fill(0);
    assert!(store.used_bytes() > 90 << 20);
    store.set_max_bytes(Some(0), NOW);
    assert_eq!((store.len(DB), store.used_bytes()), (0, 0));
    assert!(set(&store, b"k", b"v").is_err());
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
fn an_update_can_store_what_it_makes_of_the_value_before() {
    let store = store(None);
    for expected in 1..=3_u64 {
        let mut text = String::new();
        let counted = store.read_and_update(DB, b"n", NOW, |current| {
            let before = current.map_or(0, |it| it.value().to_vec().len() as u64);
            text = "x".repeat(before as usize + 1);
            let change = Change::Store {
                value: Value::copy_from_slice(text.as_bytes()).into(),
                flags: 0,
                deadline: current.and_then(|it| it.deadline()),
            };
            (change, before + 1)
        });
        assert_eq!(counted, Ok(expected));
    }
    assert_eq!(store.get(DB, b"n", NOW).unwrap(), "xxx");
}

#[test]
fn overwriting_the_same_keys_takes_no_more_memory_for_ever() {
    let store = store(None);
    let mut random = fastrand::Rng::with_seed(1);
    let mut most = 0;
    for step in 0..400_000 {
        let key = random.u32(..20_000).to_be_bytes();
        set(&store, &key, &[1; 100][..random.usize(50..100)]).unwrap();
        if step == 100_000 {
            most = store.used_bytes();
        }
    }
    let used = store.used_bytes();
    assert!(used <= most * 5 / 4, "{used} bytes after {most}");
    store.validate();
}

#[test]
fn with_a_full_store_dead_records_go_before_live_ones() {
    let store = store(Some(4 << 20));
    let live = 20_000_u32;
    for round in 0..10 {
        for number in 0..live {
            set(&store, &number.to_be_bytes(), &[round; 120]).unwrap();
        }
    }
    assert_eq!(store.stats().evictions, 0);
    assert_eq!(store.len(DB), live as usize);
    store.validate();
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

#[test]
fn a_patched_value_shares_the_blocks_that_do_not_change() {
    let store = store(None);
    let mut random = fastrand::Rng::with_seed(2);
    for _ in 0..200 {
        let mut expected = pattern(random.usize(..80_000), 1);
        set(&store, b"k", &expected).unwrap();
        let before = store.get(DB, b"k", NOW).unwrap();
        let offset = random.usize(..expected.len() + 20_000);
        let bytes = pattern(random.usize(..20_000), 9);
        let patched = store.patched(&before, offset, &bytes).unwrap();
        assert_eq!(before, expected[..], "it is another value");
        if !bytes.is_empty() {
            let end = offset + bytes.len();
            expected.resize(expected.len().max(end), 0);
            expected[offset..end].copy_from_slice(&bytes);
        }
        assert_eq!(patched, expected[..]);
        let unchanged = offset / BLOCK_VALUE_BYTES;
        let blocks = |value: &Value| -> Vec<_> {
            let whole = value.len() / BLOCK_VALUE_BYTES;
            value.slices().take(whole).map(<[u8]>::as_ptr).collect()
        };
        let (old, new) = (blocks(&before), blocks(&patched));
        assert!(
            old.iter()
                .zip(&new)
                .take(unchanged)
                .all(|(old, new)| old == new)
        );
        store
            .set(DB, b"k", patched, SetOptions::default(), NOW)
            .unwrap();
        drop(before);
        assert_eq!(store.get(DB, b"k", NOW).unwrap(), expected[..]);
    }
    drop(store.flush(DB));
    assert_eq!(store.used_bytes(), 0);
}
