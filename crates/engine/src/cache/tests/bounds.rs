//! Capacity and weight: never exceeded, changed live, and odd ones.

use super::*;
use crate::cache::shard::Shard;

#[test]
fn a_cache_never_holds_more_entries_than_it_may() {
    let cache = small();
    for key in 0..10_000 {
        cache.insert(key, key);
        assert!(cache.len() <= 100);
        assert!(cache.contains(&key), "just inserted");
    }
    assert_eq!(cache.len(), 100);
    let stats = cache.stats();
    assert_eq!((stats.inserts, stats.evictions), (10_000, 9_900));
}

/// What an entry of these types weighs without heap.
fn entry_bytes() -> u64 {
    let cache: Cache<u32, u32> = Cache::builder().max_bytes(1 << 20).build();
    cache.insert(1, 1);
    cache.weight()
}

#[test]
fn a_cache_of_no_entries_stores_nothing() {
    let cache: Cache<u32, u32> = Cache::builder().max_entries(0).build();
    cache.insert(1, 1);
    assert!(cache.get(&1).is_none() && cache.is_empty());
    assert_eq!(cache.stats().too_heavy, 1);
    cache.validate();
}

#[test]
fn a_cache_of_no_bytes_stores_nothing() {
    let cache: Cache<(), ()> = Cache::builder().max_bytes(0).build();
    cache.insert((), ());
    assert!(cache.get(&()).is_none() && cache.is_empty());
    assert_eq!((cache.weight(), cache.stats().too_heavy), (0, 1));
}

#[test]
fn a_cache_of_one_entry_holds_the_last_one() {
    let cache: Cache<u32, u32> = Cache::builder().max_entries(1).build();
    for key in 0..100 {
        cache.insert(key, key);
        assert_eq!((cache.get_cloned(&key), cache.len()), (Some(key), 1));
    }
    cache.validate();
}

#[test]
fn an_entry_heavier_than_the_cache_is_not_stored_and_removes_what_it_was_to_replace() {
    let cache: Cache<u32, u64> = Cache::builder()
        .max_bytes(10_000)
        .weigher(|_, value| *value)
        .build();
    cache.insert(1, 10);
    cache.insert(2, 10);
    cache.insert(1, 10_000);
    assert!(!cache.contains(&1) && cache.contains(&2));
    assert_eq!(cache.stats().too_heavy, 1);
    cache.validate();
}

#[test]
fn an_entry_of_the_largest_weight_is_too_heavy_or_ends_the_others() {
    for max_bytes in [1_000, u64::MAX] {
        let cache: Cache<u32, u64> = Cache::builder()
            .max_bytes(max_bytes)
            .weigher(|_, value| *value)
            .build();
        cache.insert(1, 1);
        cache.insert(2, u64::MAX);
        cache.insert(3, u64::MAX);
        assert_eq!(cache.contains(&2), max_bytes == u64::MAX);
        cache.validate();
        cache.clear();
        assert_eq!(cache.weight(), 0);
    }
}

#[test]
fn a_weigher_that_returns_nothing_leaves_the_share_of_the_engine() {
    let cache: Cache<u32, u32> = Cache::builder().max_bytes(20_000).weigher(|_, _| 0).build();
    cache.insert_many((0..10_000).map(|key| (key, key)));
    assert!(cache.len() as u64 <= 20_000 / entry_bytes());
    assert!(cache.weight() <= 20_000);
    cache.validate();
}

#[test]
fn a_weigher_that_answers_differently_every_time_confuses_no_sum() {
    let answers = AtomicUsize::new(0);
    let cache: Cache<u32, u32> = Cache::builder()
        .max_bytes(50_000)
        .weigher(move |_, _| {
            let answer = answers.fetch_add(1, Ordering::Relaxed) as u64;
            answer.wrapping_mul(0x9e37_79b9) % 3_000
        })
        .build();
    for step in 0..5_000 {
        cache.insert(step % 300, step);
        if step % 7 == 0 {
            cache.remove(&(step % 11));
        }
        assert!(cache.weight() <= 50_000);
    }
    cache.validate();
    cache.clear();
    assert_eq!(cache.weight(), 0);
    cache.validate();
}

#[test]
fn a_large_entry_evicts_as_many_as_it_takes() {
    let cache: Cache<u32, u64> = Cache::builder()
        .max_bytes(100_000)
        .weigher(|_, value| *value)
        .build();
    cache.insert_many((0..500).map(|key| (key, 50)));
    cache.insert(1_000, 90_000);
    assert!(cache.contains(&1_000) && cache.weight() <= 100_000);
    cache.validate();
}

#[test]
fn bounds_that_are_lowered_evict_at_once_and_raised_ones_let_more_in() {
    let cache: Cache<u32, u32> = Cache::builder().max_entries(10_000).build();
    cache.insert_many((0..10_000).map(|key| (key, key)));
    for bound in [5_000, 100, 1, 0] {
        cache.set_max_entries(bound);
        assert_eq!(cache.len(), bound);
        cache.validate();
    }
    cache.insert(1, 1);
    assert!(cache.is_empty());
    cache.set_max_entries(2_000);
    cache.insert_many((0..10_000).map(|key| (key, key)));
    assert_eq!(cache.len(), 2_000);
    cache.validate();
}

#[test]
fn a_bound_in_bytes_that_is_lowered_below_what_is_held_and_borrowed_holds() {
    let cache: Cache<u32, u32> = Cache::builder().max_bytes(1 << 20).build();
    cache.insert_many((0..5_000).map(|key| (key, key)));
    let borrowed: Vec<_> = (0..100).filter_map(|key| cache.get(&key)).collect();
    assert!(!borrowed.is_empty());
    assert!(cache.set_max_bytes(20_000));
    assert!(cache.weight() <= 20_000);
    assert!(cache.set_max_bytes(0));
    assert_eq!(cache.weight(), 0);
    assert!(borrowed.iter().all(|entry| **entry == *entry.key()));
    assert!(cache.set_max_bytes(1 << 20));
    cache.insert(7, 7);
    assert_eq!(cache.get_cloned(&7), Some(7));
    cache.validate();
    drop(borrowed);
    free_all(&cache);
}

#[test]
fn a_bound_in_bytes_cannot_be_given_to_entries_that_were_not_weighed() {
    let cache = small();
    cache.insert(1, 1);
    assert!(!cache.set_max_bytes(0));
    assert!(cache.contains(&1));
}

#[test]
fn a_cache_with_both_bounds_keeps_both() {
    let cache: Cache<u32, u64> = Cache::builder()
        .max_entries(50)
        .max_bytes(10_000)
        .weigher(|_, value| *value)
        .build();
    for key in 0..1_000 {
        cache.insert(key, if key % 100 < 50 { 0 } else { 1_000 });
        assert!(cache.len() <= 50 && cache.weight() <= 10_000);
    }
    cache.validate();
}

#[test]
fn a_cache_without_bounds_holds_everything() {
    let cache: Cache<u32, u32> = Cache::builder().build();
    cache.insert_many((0..100_000).map(|key| (key, key)));
    assert_eq!((cache.len(), cache.stats().evictions), (100_000, 0));
    cache.set_max_entries(1_000);
    assert_eq!(cache.len(), 1_000);
    cache.validate();
}

#[test]
fn a_bound_that_is_lowered_while_others_insert_holds_in_the_end() {
    for _ in 0..20 {
        let cache: Cache<u32, u32> = Cache::builder().max_entries(2_000).build();
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let cache = &cache;
                scope.spawn(move || {
                    cache.insert_many((0..500).map(|key| (thread * 1_000 + key, key)));
                });
            }
            cache.set_max_entries(0);
        });
        assert_eq!(cache.len(), 0);
        cache.validate();
    }
}

#[test]
fn a_heavy_entry_drives_out_light_ones_of_other_shards_until_the_budget_holds() {
    const MAX_BYTES: u64 = 4 << 20;
    let cache: Cache<u64, u64> = Cache::builder()
        .max_bytes(MAX_BYTES)
        .weigher(|_, bytes| *bytes)
        .build();
    for round in 0..20 {
        for light in 0..300 {
            cache.insert(round * 1_000 + light, 20 << 10);
        }
        let heavy = round * 1_000 + 999;
        cache.insert(heavy, MAX_BYTES * 3 / 4);
        assert!(cache.contains(&heavy));
        assert!(cache.weight() <= MAX_BYTES, "{}", cache.weight());
    }
}

#[test]
fn a_cache_never_holds_more_bytes_than_it_may_also_when_one_entry_outweighs_all_others() {
    const MOST: u64 = 4 << 20;
    let cache: Cache<u64, u64> = Cache::builder()
        .max_bytes(MOST)
        .weigher(|_, &bytes| bytes)
        .build();
    for key in 0..20_000 {
        let bytes = if key % 1000 == 999 { MOST / 2 } else { 1000 };
        cache.insert(key, bytes);
        assert!(cache.weight() <= MOST, "{} at {key}", cache.weight());
        assert!(cache.contains(&key), "just inserted");
    }
}

#[test]
fn heavy_entries_that_evict_many_do_not_leave_them_undropped_beyond_their_share() {
    const MAX_BYTES: u64 = 1 << 20;
    let cache: Cache<u32, u64> = Cache::builder()
        .max_bytes(MAX_BYTES)
        .weigher(|_, value| *value)
        .build();
    cache.insert_many((0..1_000).map(|key| (key, 1_000)));
    for key in 1_000..1_300 {
        cache.insert(key, 3_000);
        let ready = cache.inner.shards.iter().map(Shard::ready_weight);
        // Half of the share; the ticker may just have freed as much again, and drop it in a moment.
        let most = MAX_BYTES / 64 + 4_000;
        assert!(ready.sum::<u64>() <= most, "at {key}");
    }
    cache.validate();
}
