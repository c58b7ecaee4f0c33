//! Code of the user's that panics, wherever the cache calls it.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

thread_local! {
    /// After how many calls of the user's code the next one panics. Per thread, so that the ticker's drops never do.
    static FUSE: Cell<Option<u32>> = const { Cell::new(None) };
}

fn burn() {
    let fuse = FUSE.get();
    FUSE.set(fuse.map(|left| left.saturating_sub(1)));
    if fuse == Some(0) {
        FUSE.set(None);
        // Quiet: thousands of these are wanted.
        std::panic::resume_unwind(Box::new("fuse"));
    }
}

#[derive(Clone, Debug)]
struct Key(u32);

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        burn();
        (self.0 / 3).hash(state);
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        burn();
        self.0 == other.0
    }
}

impl Eq for Key {}

struct Value(u32, Counted);

impl Clone for Value {
    fn clone(&self) -> Self {
        burn();
        Value(self.0, self.1.clone())
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            burn();
        }
    }
}

fn filled(values: &Arc<AtomicUsize>) -> Cache<Key, Value> {
    let cache: Cache<Key, Value> = Cache::builder()
        .max_bytes(30_000)
        .weigher(|_, _| {
            burn();
            10
        })
        .build();
    for key in 0..400 {
        cache.insert(Key(key), Value(key, Counted::new(values)));
    }
    cache
}

/// Runs `act` on a fresh cache with a panic in the first call of the user's code, the second, and so on
/// until there is none. After each, the cache must be whole, and no value lost or dropped twice.
fn panic_everywhere(act: impl Fn(&Cache<Key, Value>, &Arc<AtomicUsize>)) {
    let mut panics = 0;
    for fuse in 0..2_000 {
        let values = Arc::default();
        let cache = filled(&values);
        FUSE.set(Some(fuse));
        let outcome = catch_unwind(AssertUnwindSafe(|| act(&cache, &values)));
        let has_panicked = FUSE.take().is_none();
        assert_eq!(outcome.is_err(), has_panicked);
        panics += u32::from(has_panicked);
        cache.validate();
        for key in 0..50 {
            cache.insert(Key(key), Value(key, Counted::new(&values)));
            assert_eq!(cache.get(&Key(key)).map(|entry| entry.0), Some(key));
        }
        assert!(cache.weight() <= 30_000);
        free_all_of(&cache, &values);
        drop(cache);
        eventually(|| alive(&values) == 0);
        if !has_panicked {
            assert!(panics > 0, "nothing of the user's was called");
            return;
        }
        // The later ones are like those before.
        if fuse > 100 {
            return;
        }
    }
}

#[test]
fn a_panic_in_a_lookup_leaves_the_cache_as_it_was() {
    panic_everywhere(|cache, _| {
        let held = cache.len();
        for key in (0..400).step_by(40) {
            cache.get(&Key(key));
            cache.contains(&Key(key));
        }
        assert_eq!(cache.len(), held);
    });
}

#[test]
fn a_panic_in_clone_reaches_the_caller_and_ends_the_borrow() {
    panic_everywhere(|cache, _| {
        for key in 390..400 {
            drop(cache.get_cloned(&Key(key)));
        }
    });
}

#[test]
fn a_panic_in_an_insert_that_evicts_leaves_a_cache_in_order() {
    panic_everywhere(|cache, values| {
        for key in 1_000..1_100 {
            cache.insert(Key(key), Value(key, Counted::new(values)));
        }
    });
}

#[test]
fn a_panic_in_an_insert_that_replaces_leaves_a_cache_in_order() {
    panic_everywhere(|cache, values| {
        for _ in 0..100 {
            cache.insert(Key(399), Value(399, Counted::new(values)));
        }
    });
}

#[test]
fn a_panic_in_a_removal_leaves_a_cache_in_order() {
    panic_everywhere(|cache, _| {
        for key in 300..400 {
            cache.remove(&Key(key));
        }
        cache.reclaim();
    });
}

#[test]
fn a_panic_in_a_change_of_the_deadline_leaves_a_cache_in_order() {
    panic_everywhere(|cache, _| {
        for key in 390..400 {
            cache.expire_after(&Key(key), Duration::ZERO);
        }
        cache.reclaim();
    });
}

#[test]
fn a_panic_in_drop_does_not_stop_clear() {
    panic_everywhere(|cache, values| {
        let cleared = catch_unwind(AssertUnwindSafe(|| cache.clear()));
        assert!(cache.is_empty());
        if let Err(panic) = cleared {
            std::panic::resume_unwind(panic);
        }
        // A thread of another test that is pinned may have held it up.
        while alive(values) > 0 {
            cache.reclaim();
        }
    });
}

#[test]
fn a_panic_in_drop_does_not_stop_clear_in_many_shards() {
    let values = Arc::default();
    let cache: Cache<u32, Value> = Cache::builder().build();
    for key in 0..20_000 {
        cache.insert(key, Value(key, Counted::new(&values)));
    }
    FUSE.set(Some(10));
    let outcome = catch_unwind(AssertUnwindSafe(|| cache.clear()));
    assert!(outcome.is_err() && cache.is_empty());
    free_all(&cache);
    eventually(|| alive(&values) == 0);
}

#[test]
fn a_panic_in_drop_does_not_stop_a_bound_from_being_lowered() {
    let values = Arc::default();
    let cache: Cache<u32, Value> = Cache::builder().build();
    for key in 0..20_000 {
        cache.insert(key, Value(key, Counted::new(&values)));
    }
    FUSE.set(Some(10));
    let outcome = catch_unwind(AssertUnwindSafe(|| cache.set_max_entries(10)));
    assert!(outcome.is_err());
    assert_eq!(cache.len(), 10);
    cache.validate();
}

#[test]
fn a_panic_in_drop_when_the_cache_is_dropped_leaves_no_entry_behind() {
    for fuse in 0..50 {
        let values = Arc::default();
        let cache = filled(&values);
        // The ticker may be the last to hold the cache, and ignores panics.
        free_all(&cache);
        FUSE.set(Some(fuse));
        let _ = catch_unwind(AssertUnwindSafe(|| drop(cache)));
        FUSE.set(None);
        eventually(|| alive(&values) == 0);
    }
}

#[test]
fn a_walk_is_over_after_a_panic_of_who_walks() {
    let values = Arc::default();
    let cache = filled(&values);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        for (step, _entry) in cache.iter().enumerate() {
            if step == 5 {
                std::panic::resume_unwind(Box::new("enough"));
            }
        }
    }));
    assert!(outcome.is_err());
    cache.clear();
    free_all(&cache);
    eventually(|| alive(&values) == 0);
}

#[test]
fn a_panic_in_drop_on_the_ticker_stops_no_clock() {
    struct Explosive;
    impl Drop for Explosive {
        fn drop(&mut self) {
            std::panic::resume_unwind(Box::new("on the ticker"));
        }
    }
    let cache: Cache<u32, Explosive> = Cache::builder()
        .time_to_live(Duration::from_millis(5))
        .build();
    for key in 0..20 {
        cache.insert(key, Explosive);
    }
    eventually(|| cache.is_empty());
    let witness = Arc::new(());
    let other: Cache<u32, Arc<()>> = Cache::builder()
        .time_to_live(Duration::from_millis(5))
        .build();
    other.insert(1, witness.clone());
    eventually(|| Arc::strong_count(&witness) == 1);
}
