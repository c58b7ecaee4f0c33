//! What is counted adds up.

use super::*;

#[test]
fn hits_and_misses_of_all_threads_add_up_to_the_reads() {
    let cache: Cache<u32, u32> = Cache::builder().max_entries(1_000).build();
    cache.insert_many((0..2_000).map(|key| (key, key)));
    let before = cache.stats();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let cache = &cache;
            scope.spawn(move || {
                for step in 0..10_000 {
                    cache.get(&((step * (thread + 1)) % 3_000));
                    if step % 10 == 0 {
                        cache.insert(step % 2_500, step);
                    }
                }
            });
        }
    });
    let between = cache.stats() - before;
    assert_eq!(between.hits + between.misses, 80_000);
    assert_eq!(between.inserts + between.updates, 8_000);
    let all = cache.stats();
    assert_eq!(all.inserts - all.evictions, all.entries);
    assert_eq!(all.entries, cache.len() as u64);
}

#[test]
fn a_cache_does_not_inherit_the_counts_of_those_before_it() {
    for _ in 0..100 {
        let caches: Vec<Cache<u32, u32>> = (0..20).map(|_| small()).collect();
        for cache in &caches {
            cache.insert(1, 1);
            cache.get(&1);
            cache.get(&2);
            cache.get(&3);
        }
        for cache in &caches {
            let stats = cache.stats();
            assert_eq!((stats.hits, stats.misses), (1, 2));
        }
    }
}

#[test]
fn every_departure_is_counted_under_its_cause() {
    let clock = ManualClock::new();
    let cache: Cache<u32, u32> = Cache::builder().max_entries(10).clock(&clock).build();
    cache.insert_many((0..15).map(|key| (key, key)));
    cache.insert(14, 0);
    cache.remove(&14);
    cache.insert_with_ttl(20, 20, Duration::from_secs(1));
    clock.advance(Duration::from_secs(1));
    cache.reclaim();
    let stats = cache.stats();
    assert_eq!((stats.inserts, stats.updates, stats.evictions), (16, 1, 5));
    assert_eq!(
        (stats.removals, stats.expirations, stats.entries),
        (1, 1, 9)
    );
    cache.clear();
    assert_eq!(cache.stats().removals, 10);
}
