//! Code of the user's that uses the cache which calls it.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;

use super::*;

/// A key of one of three hashes, whose comparison calls a function of the test with both keys.
#[derive(Clone, Copy, Debug)]
struct Meddler {
    number: u32,
    meddle: fn(Meddler, Meddler),
}

thread_local! {
    /// Comparisons within comparisons.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

impl Hash for Meddler {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.number % 3).hash(state);
    }
}

impl PartialEq for Meddler {
    fn eq(&self, other: &Self) -> bool {
        let depth = DEPTH.get();
        if depth < 2 {
            DEPTH.set(depth + 1);
            let outcome = catch_unwind(|| (self.meddle)(*self, *other));
            DEPTH.set(depth);
            if let Err(panic) = outcome {
                resume_unwind(panic);
            }
        }
        self.number == other.number
    }
}

impl Eq for Meddler {}

#[test]
fn eq_may_read_the_cache_and_write_to_entries_of_it() {
    static CACHE: OnceLock<Cache<Meddler, u32>> = OnceLock::new();
    let cache = CACHE.get_or_init(|| Cache::builder().max_entries(20).build());
    let key = |number| Meddler {
        number,
        meddle: |one, other| {
            let cache = CACHE.get().expect("set");
            cache.get(&other);
            cache.contains(&one);
            if cache.contains(&one) {
                cache.insert(one, 1);
            }
            cache.expire_after(&other, Duration::from_secs(100));
            cache.reclaim();
        },
    };
    for step in 0..40 {
        cache.insert(key(step % 30), step);
        cache.get(&key(step % 7));
        cache.remove(&key(step % 11));
        assert!(cache.len() <= 20);
    }
    cache.validate();
    DEPTH.set(2);
    free_all(cache);
}

#[test]
fn an_eq_that_changes_the_cache_at_each_comparison_ends_in_a_panic() {
    static CACHE: OnceLock<Cache<Meddler, u32>> = OnceLock::new();
    let cache = CACHE.get_or_init(|| Cache::builder().max_entries(20).build());
    let key = |number| Meddler {
        number,
        meddle: |stored, _| {
            let cache = CACHE.get().expect("set");
            DEPTH.set(2);
            cache.remove(&stored);
            cache.insert(stored, 1);
        },
    };
    cache.insert(key(0), 0);
    cache.insert(key(1), 0);
    let panic = catch_unwind(AssertUnwindSafe(|| cache.insert(key(3), 0)))
        .expect_err("never the same twice");
    let message = panic.downcast_ref::<&str>().expect("a message");
    assert!(
        message.contains("`Eq` of the key changes the cache"),
        "{message}"
    );
    cache.validate();
    DEPTH.set(2);
    assert_eq!(cache.len(), 2);
    cache.insert(key(3), 0);
    assert_eq!(cache.len(), 3);
    free_all(cache);
}

#[test]
fn eq_may_read_the_cache_hundreds_of_times_over() {
    static CACHE: OnceLock<Cache<Key, Counted>> = OnceLock::new();
    thread_local!(static DEPTH: std::cell::Cell<u32> = const { std::cell::Cell::new(0) });
    struct Key(u32);
    impl Hash for Key {
        fn hash<H: Hasher>(&self, _state: &mut H) {}
    }
    impl PartialEq for Key {
        fn eq(&self, other: &Self) -> bool {
            let depth = DEPTH.get();
            if depth > 0 {
                DEPTH.set(depth - 1);
                assert!(CACHE.get().expect("set").get(other).is_some());
            } else {
                // The thread is pinned 300 times over: what it compares must not be freed.
                let cache = CACHE.get().expect("set");
                std::thread::scope(|scope| {
                    scope.spawn(|| {
                        cache.clear();
                        cache.reclaim();
                    });
                });
            }
            self.0 == other.0
        }
    }
    impl Eq for Key {}

    let values = Arc::default();
    let cache = CACHE.get_or_init(|| Cache::builder().max_entries(20).build());
    cache.insert(Key(1), Counted::new(&values));
    DEPTH.set(300);
    let entry = cache.get(&Key(1)).expect("was there when the read began");
    assert_eq!(alive(&entry.0), 1);
    drop(entry);
    free_all(cache);
    eventually(|| alive(&values) == 0);
}

/// A value whose drop uses the cache it was in, once.
struct Reentrant {
    cache: Cache<u32, Option<Reentrant>>,
    key: u32,
    dropped: Arc<AtomicUsize>,
}

impl Drop for Reentrant {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::SeqCst);
        self.cache.get(&self.key);
        self.cache.insert(self.key + 1_000, None);
        self.cache.remove(&(self.key + 999));
        self.cache.iter().take(3).for_each(drop);
        self.cache.stats();
        self.cache.reclaim();
    }
}

#[test]
fn drop_may_use_the_cache() {
    let dropped = Arc::default();
    let cache: Cache<u32, Option<Reentrant>> = Cache::builder().max_entries(50).build();
    let value = |key| {
        Some(Reentrant {
            cache: cache.clone(),
            key,
            dropped: Arc::clone(&dropped),
        })
    };
    for key in 0..300 {
        cache.insert(key, value(key));
    }
    cache.insert(299, value(299));
    cache.remove(&299);
    cache.set_max_entries(20);
    assert!(cache.len() <= 20);
    cache.clear();
    eventually(|| {
        cache.clear();
        cache.reclaim();
        alive(&dropped) == 301
    });
    free_all(&cache);
}

#[test]
fn the_last_handle_may_be_dropped_by_an_entry_of_another_cache() {
    let values = Arc::default();
    let outer: Cache<u32, Cache<u32, Counted>> = Cache::builder().max_entries(5).build();
    for key in 0..50 {
        let inner = Cache::builder().max_entries(10).build();
        for key in 0..10 {
            inner.insert(key, Counted::new(&values));
        }
        outer.insert(key, inner);
    }
    free_all(&outer);
    eventually(|| alive(&values) == 50);
    drop(outer);
    eventually(|| alive(&values) == 0);
}

#[test]
fn a_weigher_may_use_another_handle_of_the_cache() {
    static CACHE: OnceLock<Cache<u32, u32>> = OnceLock::new();
    let cache = CACHE.get_or_init(|| {
        Cache::builder()
            .max_bytes(100_000)
            .weigher(|key, _| {
                let cache = CACHE.get().expect("set");
                cache.remove(key);
                cache.len() as u64
            })
            .build()
    });
    cache.insert_many((0..500).map(|key| (key % 100, key)));
    cache.validate();
}
