//! Values: how they are made, shared, kept and freed.

use super::test_support::*;
use super::*;

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
