//! The cache as its users see it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::*;
use crate::clock::ManualClock;

fn small() -> Cache<u32, u32> {
    Cache::builder().max_entries(100).build()
}

fn eventually(holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn what_was_inserted_is_found_and_nothing_else() {
    let cache = small();
    cache.insert(1, 10);
    assert_eq!(cache.get(&1).as_deref(), Some(&10));
    assert_eq!(cache.get_cloned(&1), Some(10));
    assert!(cache.get(&2).is_none());
    assert!(cache.contains(&1) && !cache.contains(&2));
    assert_eq!(cache.len(), 1);
}

#[test]
fn keys_are_looked_up_in_borrowed_form() {
    let cache: Cache<String, Arc<[u8]>> = Cache::builder().max_entries(10).build();
    cache.insert("key".to_string(), Arc::from(*b"value"));
    let entry = cache.get("key").expect("present");
    assert_eq!((entry.key().as_str(), &entry[..]), ("key", &b"value"[..]));
    assert!(cache.remove("key").is_some());
    assert!(cache.remove("key").is_none());
}

#[test]
fn a_second_insert_replaces_and_borrows_keep_the_first() {
    let cache = small();
    cache.insert(1, 10);
    let first = cache.get(&1).expect("present");
    cache.insert(1, 11);
    let second = cache.get(&1).expect("present");
    assert_eq!((*first, *second), (10, 11));
    assert_eq!(cache.len(), 1);
    assert_eq!(cache.stats().updates, 1);
}

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
fn a_random_run_agrees_with_a_map() {
    let cache: Cache<u32, u64> = Cache::builder().max_entries(100_000).build();
    let mut model: HashMap<u32, u64> = HashMap::new();
    let mut random = fastrand::Rng::with_seed(7);
    for step in 0..200_000_u64 {
        let key = random.u32(..5_000);
        match random.u32(..10) {
            0..4 => {
                cache.insert(key, step);
                model.insert(key, step);
            }
            4..6 => assert_eq!(cache.remove(&key).map(|entry| *entry), model.remove(&key)),
            _ => assert_eq!(cache.get_cloned(&key), model.get(&key).copied()),
        }
    }
    assert_eq!(cache.len(), model.len());
    let walked: HashMap<u32, u64> = cache.iter().map(|entry| (*entry.key(), *entry)).collect();
    assert_eq!(walked, model);
    cache.clear();
    assert!(cache.is_empty() && cache.iter().next().is_none());
}

#[test]
fn every_value_is_dropped_exactly_once() {
    #[derive(Clone)]
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let drops = Arc::new(AtomicUsize::new(0));
    let cache: Cache<u32, Counted> = Cache::builder().max_entries(50).build();
    for key in 0..1_000 {
        cache.insert(key % 80, Counted(drops.clone()));
        if key % 3 == 0 {
            cache.remove(&(key % 70));
        }
    }
    // The ticker may be at it too, and readers of other tests may hold it up.
    eventually(|| {
        cache.reclaim();
        drops.load(Ordering::Relaxed) == 1_000 - cache.len()
    });
    drop(cache);
    // The ticker may be just looking after the cache, and is then the last to leave.
    eventually(|| Arc::strong_count(&drops) == 1);
    assert_eq!(drops.load(Ordering::Relaxed), 1_000);
}

#[test]
fn entries_expire_when_their_time_is_up() {
    let clock = ManualClock::new();
    let cache: Cache<u32, u32> = Cache::builder()
        .max_entries(100)
        .time_to_live(Duration::from_secs(10))
        .clock(&clock)
        .build();
    cache.insert(1, 1);
    cache.insert_with_ttl(2, 2, Duration::from_secs(5));
    clock.advance(Duration::from_millis(4_999));
    assert!(cache.contains(&1) && cache.contains(&2));
    clock.advance(Duration::from_millis(1));
    assert!(cache.contains(&1) && cache.get(&2).is_none());
    clock.advance(Duration::from_secs(5));
    assert!(cache.get(&1).is_none());
    cache.reclaim();
    assert_eq!(cache.len(), 0);
    assert_eq!(cache.stats().expirations, 2);
}

#[test]
fn an_idle_cache_reclaims_what_expires_on_its_own() {
    let value = Arc::new(());
    let cache: Cache<u32, Arc<()>> = Cache::builder()
        .max_entries(100)
        .time_to_live(Duration::from_millis(20))
        .build();
    cache.insert(1, value.clone());
    let started = Instant::now();
    eventually(|| Arc::strong_count(&value) == 1);
    assert!(started.elapsed() >= Duration::from_millis(20) - 2 * crate::clock::TICK);
    assert!(cache.is_empty());
}

#[test]
fn readers_and_writers_agree_under_load() {
    let cache: Cache<u64, (u64, u64)> = Cache::builder().max_entries(2_000).build();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for seed in 0..2 {
            let (cache, done) = (&cache, &done);
            scope.spawn(move || {
                let mut random = fastrand::Rng::with_seed(seed);
                while !done.load(Ordering::Relaxed) {
                    if let Some(entry) = cache.get(&random.u64(..3_000)) {
                        assert_eq!(entry.0, *entry.key());
                        assert_eq!(entry.1, entry.0 ^ 0xABCD);
                    }
                }
            });
        }
        for seed in 10..12 {
            let cache = &cache;
            scope.spawn(move || {
                let mut random = fastrand::Rng::with_seed(seed);
                for _ in 0..100_000 {
                    let key = random.u64(..3_000);
                    if random.u32(..4) == 0 {
                        cache.remove(&key);
                    } else {
                        cache.insert(key, (key, key ^ 0xABCD));
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_millis(300));
        done.store(true, Ordering::Relaxed);
    });
    assert!(cache.len() <= 2_000);
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
