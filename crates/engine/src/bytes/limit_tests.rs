//! The limit: tiny, changing, met by heavy entries, and by values that are held.

use super::test_support::*;
use super::*;

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
fn the_heaviest_entry_that_is_accepted_fits_whatever_the_limit_and_what_was_there() {
    let limits = [
        1_500,
        5_000,
        20_000,
        100_000,
        1 << 20,
        5 << 20,
        9 << 20,
        40 << 20,
    ];
    for (limit, filling) in limits
        .into_iter()
        .flat_map(|limit| [(limit, 20 + limit as usize / 2_000), (limit, 20_000)])
    {
        let store = store(Some(limit));
        let mut written = 0;
        while written < limit * 3 / 2
            && set(&store, &written.to_be_bytes(), &pattern(filling, 1)).is_ok()
        {
            written += filling as u64 + 20;
        }
        let is_refused = |len: &usize| store.check_entry(5, *len).is_err();
        let lens: Vec<_> = (0..limit as usize)
            .rev()
            .step_by((limit / 500).max(1) as usize)
            .collect();
        let longest = lens.partition_point(is_refused);
        let value = pattern(lens[longest], 2);
        assert!(value.len() as u64 > limit / 8, "{} of {limit}", value.len());
        set(&store, b"heavy", &value).unwrap();
        assert!(
            store.used_bytes() <= limit,
            "{} of {limit}, filled by {filling}",
            store.used_bytes()
        );
        assert_eq!(store.get(DB, b"heavy", NOW).unwrap(), value[..]);
        store.validate();
    }
}

#[test]
fn a_write_into_a_store_of_entries_that_are_all_used_moves_only_some_of_them() {
    let store = store(Some(4 << 20));
    let mut keys = 0_u32;
    while store.stats().evictions == 0 {
        set(&store, &keys.to_be_bytes(), &[1; 100]).unwrap();
        keys += 1;
    }
    for _ in 0..3 {
        (0..keys).for_each(|number| drop(store.get(DB, &number.to_be_bytes(), NOW)));
    }
    let opened = || store.shards[0].lock().log.opened;
    let before = store.stats().evictions;
    for number in keys..keys + 5_000 {
        let opened_before = opened();
        set(&store, &number.to_be_bytes(), &[1; 100]).unwrap();
        let segments = opened() - opened_before;
        assert!(segments <= 6, "one write moved {segments} segments");
    }
    assert!(store.stats().evictions > before);
}

#[test]
fn a_limit_that_is_lowered_or_raised_very_much_is_still_used() {
    let fill = |store: &ByteStore, count: u32| {
        for number in 0..count {
            set(store, &number.to_be_bytes(), &[1; 100]).unwrap();
        }
    };
    let large = store(Some(1 << 30));
    fill(&large, 100_000);
    large.set_max_bytes(Some(1 << 20), NOW);
    fill(&large, 20_000);
    assert!(large.used_bytes() <= 1 << 20);
    assert!(large.len(DB) > 5_000, "{} entries", large.len(DB));
    large.validate();
    let small = store(Some(10_000));
    fill(&small, 1_000);
    small.set_max_bytes(Some(1 << 30), NOW);
    fill(&small, 200_000);
    assert_eq!(small.len(DB), 200_000);
    assert!(
        small.shards[0].lock().log.numbers() < 2_000,
        "small segments"
    );
    small.validate();
}

#[test]
fn values_that_are_held_push_others_out_but_never_refuse_a_write() {
    for len in [1_000, 50_000] {
        let store = store(Some(8 << 20));
        let mut held = Vec::new();
        for number in 0..1_000_u32 {
            set(
                &store,
                &number.to_be_bytes(),
                &pattern(len, number as usize),
            )
            .unwrap();
            let value = store.get(DB, &number.to_be_bytes(), NOW).unwrap();
            assert_eq!(value, pattern(len, number as usize)[..]);
            held.push(value);
        }
        for (number, value) in held.iter().enumerate() {
            assert_eq!(*value, pattern(len, number)[..]);
        }
        drop(held);
        set(&store, b"next", b"v").unwrap();
        assert!(store.used_bytes() <= 8 << 20);
        store.validate();
    }
}

#[test]
fn a_change_of_sizes_leaves_no_memory_that_nothing_can_use() {
    let store = store(Some(32 << 20));
    for number in 0..1_500_u32 {
        set(&store, &number.to_be_bytes(), &[1; 50_000]).unwrap();
    }
    // One in eight of the large ones stays in use, wherever its blocks are.
    let in_use = |number: &u32| number.is_multiple_of(8);
    let small = |number: u32| format!("small:{number}").into_bytes();
    for number in 0..400_000_u32 {
        set(&store, &small(number), &[1; 100]).unwrap();
        if number.is_multiple_of(1_000) {
            let large = (0..1_500).filter(in_use);
            large.for_each(|number| drop(store.get(DB, &number.to_be_bytes(), NOW)));
        }
    }
    let stayed =
        (0..1_500_u32).filter(|number| store.get(DB, &number.to_be_bytes(), NOW).is_some());
    let large_bytes = stayed.count() as u64 * 4 * 16_384;
    let records: usize = store
        .shards
        .iter()
        .map(|shard| shard.lock().log.capacity())
        .sum();
    let used = store.used_bytes();
    assert!(used > 31 << 20);
    assert!(
        records as u64 + large_bytes > used * 8 / 10,
        "{records} + {large_bytes} of {used}"
    );
}

#[test]
fn a_limit_that_is_lowered_to_next_to_nothing_is_held_by_what_is_still_accepted() {
    for limit in (500..6_000).step_by(100) {
        let store = store(Some(2 << 20));
        // In several parts of the index, which keep tables when they are empty.
        for number in 0..20_u8 {
            set(&store, &[number], &[1; 121]).unwrap();
        }
        store.set_max_bytes(Some(limit), NOW);
        let is_accepted = set(&store, b"", b"").is_ok();
        assert!(
            store.used_bytes() <= limit,
            "{} of {limit}",
            store.used_bytes()
        );
        assert!(is_accepted || limit < 3_000, "refused within {limit}");
    }
}

#[test]
fn a_store_whose_records_die_early_stays_within_its_limit() {
    let store = store(Some(300_000));
    let mut random = fastrand::Rng::with_seed(3);
    for step in 0..60_000_u32 {
        let key = random.u32(..400).to_be_bytes();
        if step.is_multiple_of(3) {
            store.remove(DB, &key, NOW);
        } else {
            set(&store, &key, &[1; 3_000][..random.usize(..3_000)]).unwrap();
        }
    }
    store.validate();
    assert!(store.used_bytes() <= 300_000);
}
