//! Threads that use one cache at the same time, whatever the others do to it.
//!
//! Values live on the heap and know whether they were dropped, so a value that is freed too early is noticed
//! by the tests themselves, and by sanitizers and Miri, which run them too (in small: Miri interprets).

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hotcopy_engine::cache::{Cache, Ref};

/// Changes that a writer makes.
const STEPS: u64 = if cfg!(miri) { 60 } else { 20_000 };

const KEYS: u64 = if cfg!(miri) { 8 } else { 300 };

/// How many values are alive.
type Alive = Arc<AtomicUsize>;

/// A value that tells whose it is, and that it is alive.
struct Value {
    content: Box<Content>,
    alive: Alive,
}

struct Content {
    key: u64,
    version: u64,
    /// Zero when the value was dropped.
    check: u64,
}

impl Value {
    fn new(key: u64, version: u64, alive: &Alive) -> Self {
        alive.fetch_add(1, Ordering::Relaxed);
        Value {
            content: Box::new(Content {
                key,
                version,
                check: !(key ^ version),
            }),
            alive: alive.clone(),
        }
    }

    /// The version, if this is a living value of the key.
    fn version_of(&self, key: u64) -> u64 {
        let content = &*self.content;
        assert_eq!(content.key, key, "another key's value");
        assert_eq!(content.check, !(key ^ content.version), "a dead value");
        content.version
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        assert_ne!(self.content.check, 0, "dropped twice");
        self.content.check = 0;
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Waits until `alive` has gone down to `expected`.
fn assert_soon_alive(alive: &Alive, expected: usize, mut meanwhile: impl FnMut()) {
    let started = Instant::now();
    while alive.load(Ordering::Relaxed) != expected {
        meanwhile();
        assert!(
            started.elapsed() < Duration::from_secs(30),
            "{} values live, not {expected}",
            alive.load(Ordering::Relaxed)
        );
        thread::yield_now();
    }
}

#[test]
fn borrows_read_what_they_borrowed_over_replacement_eviction_and_clearing() {
    const HELD: usize = 20;
    let alive = Alive::default();
    let cache: Cache<u64, Value> = Cache::builder().max_entries(KEYS as usize / 2).build();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for seed in 0..2 {
            let (cache, done) = (&cache, &done);
            scope.spawn(move || {
                let mut random = fastrand::Rng::with_seed(seed);
                let mut held: VecDeque<(u64, Ref<'_, u64, Value>)> = VecDeque::new();
                while !done.load(Ordering::Relaxed) {
                    let key = random.u64(..KEYS);
                    if let Some(entry) = cache.get(&key) {
                        held.push_back((entry.version_of(key), entry));
                    }
                    if held.len() > random.usize(..HELD)
                        && let Some((version, entry)) = held.pop_front()
                    {
                        assert_eq!(entry.version_of(*entry.key()), version);
                    }
                }
            });
        }
        let writers: Vec<_> = (2..4)
            .map(|seed| {
                let (cache, alive) = (&cache, &alive);
                scope.spawn(move || {
                    let mut random = fastrand::Rng::with_seed(seed);
                    for step in 0..STEPS {
                        let key = random.u64(..KEYS);
                        match random.u32(..100) {
                            0 => cache.clear(),
                            1..10 => cache.reclaim(),
                            10..30 => drop(cache.remove(&key)),
                            _ => cache.insert(key, Value::new(key, step, alive)),
                        }
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.join().expect("the writer ends");
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(cache.len() <= KEYS as usize / 2);
    assert_soon_alive(&alive, cache.len(), || cache.reclaim());
    drop(cache);
    assert_soon_alive(&alive, 0, || ());
}

/// A key whose hash is that of three others.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Colliding(u64);

impl Hash for Colliding {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0 / 4);
    }
}

#[test]
fn every_reader_sees_the_versions_of_a_key_in_order_also_if_hashes_collide() {
    let alive = Alive::default();
    // Large enough that nothing is evicted, so that a key which is never removed is always there.
    let cache: Cache<Colliding, Value> = Cache::builder().max_entries(100_000).build();
    let keys = KEYS - KEYS % 4;
    for key in 0..keys {
        cache.insert(Colliding(key), Value::new(key, 0, &alive));
    }
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for seed in 0..2 {
            let (cache, done) = (&cache, &done);
            scope.spawn(move || {
                let mut random = fastrand::Rng::with_seed(seed);
                let mut last_seen = vec![0; keys as usize];
                while !done.load(Ordering::Relaxed) {
                    let key = random.u64(..keys);
                    let last_seen = &mut last_seen[key as usize];
                    match cache.get(&Colliding(key)) {
                        Some(entry) => {
                            let version = entry.version_of(key);
                            assert!(version >= *last_seen, "{version} after {last_seen}");
                            *last_seen = version;
                        }
                        None => assert_ne!(key % 4, 0, "a key that stays was missed"),
                    }
                }
            });
        }
        // Each key has one writer, so that it knows what must be there.
        let writers: Vec<_> = (0..2)
            .map(|parity| {
                let (cache, alive) = (&cache, &alive);
                scope.spawn(move || {
                    let mut random = fastrand::Rng::with_seed(10 + parity);
                    for version in 1..STEPS {
                        let key = random.u64(..keys / 2) * 2 + parity;
                        cache.insert(Colliding(key), Value::new(key, version, alive));
                        let entry = cache.get(&Colliding(key)).expect("just inserted");
                        assert_eq!(entry.version_of(key), version);
                        if !key.is_multiple_of(4) && random.bool() {
                            let removed = cache.remove(&Colliding(key)).expect("present");
                            assert_eq!(removed.version_of(key), version);
                            assert!(!cache.contains(&Colliding(key)));
                        }
                        // Of nobody else's concern, but the index grows and shrinks by it.
                        let own = keys + (version % 200) * 2 + parity;
                        if version / 200 % 2 == 0 {
                            cache.insert(Colliding(own), Value::new(own, version, alive));
                        } else {
                            cache.remove(&Colliding(own));
                        }
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.join().expect("the writer ends");
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_soon_alive(&alive, cache.len(), || cache.reclaim());
    drop(cache);
    assert_soon_alive(&alive, 0, || ());
}

#[test]
fn threads_that_come_and_go_hold_nothing_up() {
    let alive = Alive::default();
    let cache: Cache<u64, Value> = Cache::builder().max_entries(100).build();
    cache.insert(0, Value::new(0, 0, &alive));
    let forgotten = AtomicBool::new(false);
    for version in 1..(STEPS / 20).max(4) {
        thread::scope(|scope| {
            let (cache, forgotten) = (&cache, &forgotten);
            for _ in 0..2 {
                scope.spawn(move || {
                    let entry = cache.get(&0).expect("always there");
                    let first_seen = entry.version_of(0);
                    let newer = cache.get(&0).expect("always there");
                    assert!(newer.version_of(0) >= first_seen);
                    if first_seen == 0 && !forgotten.swap(true, Ordering::Relaxed) {
                        std::mem::forget(entry);
                    }
                });
            }
            cache.insert(0, Value::new(0, version, &alive));
        });
    }
    let kept = usize::from(forgotten.load(Ordering::Relaxed));
    assert_soon_alive(&alive, 1 + kept, || cache.reclaim());
    drop(cache);
    assert_soon_alive(&alive, 0, || ());
}

#[test]
fn statistics_are_read_while_threads_count_in_many_caches() {
    // More than a thread counts for without a table that grows.
    const CACHES: usize = 30;
    let caches: Vec<Cache<u64, u64>> = (0..CACHES)
        .map(|_| Cache::builder().max_entries(10).build())
        .collect();
    let reads = STEPS / 20;
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for cache in &caches {
                    for key in 0..reads {
                        cache.get(&key);
                    }
                }
            });
        }
        let mut before = vec![0; CACHES];
        while before.iter().sum::<u64>() < 2 * reads * CACHES as u64 {
            for (cache, before) in caches.iter().zip(&mut before) {
                let misses = cache.stats().misses;
                assert!((*before..=2 * reads).contains(&misses));
                *before = misses;
            }
        }
    });
}
