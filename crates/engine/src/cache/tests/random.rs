//! A long random run against a simple model.

use std::collections::HashMap;

use super::*;

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

/// What the model knows of an entry.
struct Known {
    value: u64,
    deadline: Option<Duration>,
}

/// Whatever the cache holds must be what was stored last and has not expired; what it may have evicted is
/// the only thing the model does not know.
#[test]
fn a_random_run_with_expiry_and_eviction_never_returns_what_it_must_not() {
    for seed in 0..8 {
        let clock = ManualClock::new();
        let values = Arc::default();
        let bounded_in_bytes = seed % 2 == 1;
        let builder = Cache::<u32, (u64, Counted)>::builder().clock(&clock);
        let cache = if bounded_in_bytes {
            builder
                .max_bytes(40_000)
                .weigher(|key, _| u64::from(key % 7) * 50)
                .build()
        } else {
            builder.max_entries(300).build()
        };
        let mut model: HashMap<u32, Known> = HashMap::new();
        let mut random = fastrand::Rng::with_seed(seed);
        for step in 0..30_000 {
            let key = random.u32(..600);
            let now = clock.now();
            let expected = |model: &HashMap<u32, Known>| {
                let known = model.get(&key)?;
                let is_live = known.deadline.is_none_or(|deadline| deadline > now);
                is_live.then_some(known.value)
            };
            match random.u32(..100) {
                0..30 => {
                    cache.insert(key, (step, Counted::new(&values)));
                    assert_eq!(cache.get(&key).map(|entry| entry.0), Some(step));
                    model.insert(
                        key,
                        Known {
                            value: step,
                            deadline: None,
                        },
                    );
                }
                30..45 => {
                    let live = Duration::from_millis(random.u64(..200));
                    cache.insert_with_ttl(key, (step, Counted::new(&values)), live);
                    assert_eq!(cache.contains(&key), !live.is_zero());
                    model.insert(
                        key,
                        Known {
                            value: step,
                            deadline: Some(now + live),
                        },
                    );
                }
                45..50 => {
                    let live = Duration::from_millis(random.u64(..200));
                    if cache.expire_after(&key, live) {
                        let known = model.get_mut(&key).expect("the cache has it");
                        assert!(known.deadline.is_none_or(|deadline| deadline > now));
                        known.deadline = Some(now + live);
                    }
                }
                50..58 => {
                    let removed = cache.remove(&key).map(|entry| entry.0);
                    assert!(removed.is_none() || removed == expected(&model));
                    model.remove(&key);
                }
                58..61 => clock.advance(Duration::from_millis(random.u64(..30))),
                61 if random.u32(..50) == 0 => {
                    cache.clear();
                    model.clear();
                }
                62 => {
                    cache.reclaim();
                    for entry in cache.iter() {
                        let known = &model[entry.key()];
                        assert_eq!(entry.0, known.value);
                        assert!(known.deadline.is_none_or(|deadline| deadline > now));
                    }
                }
                _ => {
                    let found = cache.get(&key).map(|entry| entry.0);
                    assert!(found.is_none() || found == expected(&model));
                }
            }
            if bounded_in_bytes {
                assert!(cache.weight() <= 40_000);
            } else {
                assert!(cache.len() <= 300);
            }
            if step % 500 == 0 {
                cache.validate();
            }
        }
        let stats = cache.stats();
        let gone = stats.evictions + stats.expirations + stats.removals;
        assert_eq!(stats.inserts - gone, stats.entries);
        assert!(stats.evictions > 0 && stats.expirations > 0 && stats.removals > 0);
        free_all_of(&cache, &values);
        drop(cache);
        eventually(|| alive(&values) == 0);
    }
}
