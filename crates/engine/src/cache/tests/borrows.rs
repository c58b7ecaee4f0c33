//! Borrows: what they keep alive, for how long, and what of that is counted.

use std::sync::OnceLock;

use super::*;

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

type Shared = Cache<u32, Counted>;

fn counted(max_entries: usize) -> (Shared, Arc<AtomicUsize>) {
    (
        Cache::builder().max_entries(max_entries).build(),
        Arc::default(),
    )
}

#[test]
fn a_borrow_outlives_replacement_removal_eviction_and_clear() {
    let (cache, values) = counted(10);
    let mut borrows = Vec::new();
    cache.insert(1, Counted::new(&values));
    borrows.push(cache.get(&1).expect("present"));
    cache.insert(1, Counted::new(&values));
    borrows.push(cache.remove(&1).expect("present"));
    cache.insert(1, Counted::new(&values));
    borrows.push(cache.get(&1).expect("present"));
    for key in 2..100 {
        cache.insert(key, Counted::new(&values));
    }
    borrows.push(cache.get(&99).expect("present"));
    cache.clear();
    eventually(|| {
        cache.reclaim();
        alive(&values) == 4
    });
    assert_eq!(
        borrows.iter().map(|entry| *entry.key()).collect::<Vec<_>>(),
        [1, 1, 1, 99]
    );
    assert!(borrows.iter().all(|entry| Arc::ptr_eq(&entry.0, &values)));
    drop(borrows);
    eventually(|| alive(&values) == 0);
}

#[test]
fn a_borrow_that_ends_has_its_entry_freed_though_nobody_touches_the_cache() {
    let (cache, values) = counted(10);
    cache.insert(1, Counted::new(&values));
    let borrow = cache.remove(&1);
    std::thread::sleep(Duration::from_millis(30));
    assert_eq!(alive(&values), 1);
    drop(borrow);
    eventually(|| alive(&values) == 0);
}

#[test]
fn thousands_of_borrows_live_on_one_thread() {
    let (cache, values) = counted(5_000);
    for key in 0..5_000 {
        cache.insert(key, Counted::new(&values));
    }
    let mut borrows: Vec<_> = (0..5_000)
        .map(|key| cache.get(&key).expect("present"))
        .collect();
    borrows.extend((0..5_000).map(|key| cache.get(&key).expect("present")));
    cache.clear();
    cache.validate();
    // In another order than they were taken.
    fastrand::Rng::with_seed(1).shuffle(&mut borrows);
    for _ in 0..5_000 {
        borrows.pop();
    }
    assert!(borrows.iter().all(|entry| Arc::ptr_eq(&entry.0, &values)));
    drop(borrows);
    free_all(&cache);
    eventually(|| alive(&values) == 0);
}

#[test]
fn a_forgotten_borrow_keeps_one_entry_until_the_cache_is_dropped() {
    let (cache, values) = counted(100);
    for key in 0..1_000 {
        cache.insert(key, Counted::new(&values));
    }
    std::mem::forget(cache.get(&999));
    cache.clear();
    eventually(|| {
        cache.reclaim();
        alive(&values) == 1
    });
    cache.insert(999, Counted::new(&values));
    assert!(cache.contains(&999));
    drop(cache);
    eventually(|| alive(&values) == 0);
}

#[test]
fn caches_after_one_with_forgotten_borrows_free_everything() {
    for _ in 0..50 {
        let (cache, values) = counted(100);
        for key in 0..150 {
            cache.insert(key, Counted::new(&values));
            std::mem::forget(cache.get(&key));
        }
        drop(cache);
        eventually(|| alive(&values) == 0);
    }
    let (cache, values) = counted(100);
    for key in 0..1_000 {
        cache.insert(key, Counted::new(&values));
    }
    cache.clear();
    free_all(&cache);
    eventually(|| alive(&values) == 0);
}

#[test]
fn a_borrow_forgotten_by_a_thread_that_ended_keeps_its_entry_too() {
    let (cache, values) = counted(100);
    cache.insert(1, Counted::new(&values));
    std::thread::scope(|scope| {
        scope.spawn(|| std::mem::forget(cache.get(&1)));
    });
    cache.clear();
    cache.reclaim();
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(alive(&values), 1);
    drop(cache);
    eventually(|| alive(&values) == 0);
}

#[test]
fn reclaim_frees_at_once_what_many_borrows_have_kept() {
    const ENTRIES: u32 = 400;
    let (cache, values) = counted(ENTRIES as usize);
    for key in 0..ENTRIES {
        cache.insert(key, Counted::new(&values));
    }
    let steps_to_look_at_borrowed = || -> usize {
        let shards = cache.inner.shards.iter();
        shards
            .map(|shard| shard.lock().state.retired.recheck_steps())
            .sum()
    };
    let borrows: Vec<_> = (0..ENTRIES).map(|key| cache.get(&key)).collect();
    cache.clear();
    eventually(|| {
        cache.reclaim();
        steps_to_look_at_borrowed() > 5
    });
    drop(borrows);
    cache.reclaim();
    assert_eq!(steps_to_look_at_borrowed(), 0);
    // The ticker may be dropping some just now.
    eventually(|| alive(&values) == 0);
}

#[test]
fn a_borrow_in_a_thread_local_is_good_until_the_thread_has_ended() {
    struct Holder(std::cell::RefCell<Option<Ref<'static, u32, Counted>>>);
    impl Drop for Holder {
        fn drop(&mut self) {
            let borrow = self.0.take().expect("was set");
            assert_eq!((*borrow.key(), alive(&borrow.0)), (1, 1));
        }
    }
    thread_local!(static HOLDER: Holder = const { Holder(std::cell::RefCell::new(None)) });
    static CACHES: [OnceLock<Shared>; 2] = [const { OnceLock::new() }; 2];
    for (cache, holder_first) in CACHES.iter().zip([true, false]) {
        let values = Arc::default();
        let cache = cache.get_or_init(|| Cache::builder().max_entries(9).build());
        cache.insert(1, Counted::new(&values));
        std::thread::spawn(move || {
            if holder_first {
                HOLDER.with(|_| ());
            }
            let borrow = cache.get(&1);
            HOLDER.with(|holder| *holder.0.borrow_mut() = borrow);
            cache.clear();
        })
        .join()
        .expect("the thread ends well");
        eventually(|| alive(&values) == 0);
    }
}

#[test]
fn a_reader_that_is_stuck_in_a_probe_does_not_empty_the_cache() {
    use std::sync::mpsc;

    #[derive(PartialEq, Eq, Hash)]
    struct Key(u32);
    struct Stuck(u32, mpsc::Sender<()>, std::sync::Mutex<mpsc::Receiver<()>>);
    impl std::hash::Hash for Stuck {
        fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }
    trait Named {
        fn is_named(&self, other: u32) -> bool;
        fn name(&self) -> u32;
    }
    impl Named for Key {
        fn is_named(&self, other: u32) -> bool {
            self.0 == other
        }
        fn name(&self) -> u32 {
            self.0
        }
    }
    impl Named for Stuck {
        fn is_named(&self, other: u32) -> bool {
            self.1.send(()).expect("the test waits");
            self.2
                .lock()
                .expect("nobody panics")
                .recv()
                .expect("the test lets go");
            self.0 == other
        }
        fn name(&self) -> u32 {
            self.0
        }
    }
    impl std::hash::Hash for dyn Named {
        fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
            self.name().hash(state);
        }
    }
    impl PartialEq for dyn Named {
        fn eq(&self, other: &dyn Named) -> bool {
            other.is_named(self.name())
        }
    }
    impl Eq for dyn Named {}
    impl std::borrow::Borrow<dyn Named> for Key {
        fn borrow(&self) -> &(dyn Named + 'static) {
            self
        }
    }

    let cache: Cache<Key, u32> = Cache::builder().max_bytes(1 << 20).build();
    cache.insert_many((0..20_000).map(|key| (Key(key), key)));
    let full = cache.len();
    cache.insert(Key(7), 7);
    let (inside, is_inside) = mpsc::channel();
    let (go, goes) = mpsc::channel();
    std::thread::scope(|scope| {
        let cache = &cache;
        scope.spawn(move || {
            let stuck = Stuck(7, inside, std::sync::Mutex::new(goes));
            cache.get::<dyn Named>(&stuck);
        });
        is_inside.recv().expect("the reader compares");
        cache.insert_many((100_000..103_000).map(|key| (Key(key), key)));
        let held = cache.len();
        go.send(()).expect("the reader waits");
        assert!(held > full - full / 10, "{held} of {full}");
    });
    free_all(&cache);
}
