//! Keys, values and places to keep a cache that are out of the ordinary.

use super::*;

#[test]
fn keys_and_values_without_size_are_stored_and_borrowed() {
    let cache: Cache<(), ()> = Cache::builder().max_entries(10).build();
    assert!(cache.get(&()).is_none());
    cache.insert((), ());
    let borrow = cache.get(&());
    cache.insert((), ());
    cache.clear();
    assert!(borrow.is_some() && cache.is_empty());
    drop(borrow);
    free_all(&cache);
}

#[test]
fn values_are_aligned_as_their_type_demands() {
    #[repr(align(128))]
    struct Aligned(u8);
    let cache: Cache<u8, Aligned> = Cache::builder().max_bytes(1 << 20).build();
    for key in 0..200 {
        cache.insert(key, Aligned(key));
    }
    for key in 0..200 {
        let entry = cache.get(&key).expect("there is room");
        assert_eq!(std::ptr::from_ref(entry.value()).addr() % 128, 0);
        assert_eq!(entry.0, key);
    }
    assert!(cache.weight() >= 200 * 256);
}

#[test]
fn large_values_are_stored_without_the_stack() {
    let cache: Cache<u32, [u8; 1 << 16]> = Cache::builder().max_entries(10).build();
    for key in 0..20 {
        cache.insert(key, [key as u8; 1 << 16]);
        assert_eq!(cache.get(&key).expect("just inserted")[99], key as u8);
    }
}

#[test]
fn a_cache_in_a_thread_local_is_dropped_with_the_thread() {
    thread_local!(static CACHE: Cache<u32, Counted> = Cache::builder().max_entries(10).build());
    let values = Arc::default();
    for _ in 0..10 {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                CACHE.with(|cache| {
                    for key in 0..20 {
                        cache.insert(key, Counted::new(&values));
                        assert!(cache.get(&key).is_some());
                    }
                });
            });
        });
    }
    eventually(|| alive(&values) == 0);
}

#[test]
fn a_cache_is_read_and_written_while_its_thread_is_torn_down() {
    struct Late(Cache<u32, u32>);
    impl Drop for Late {
        fn drop(&mut self) {
            assert_eq!(self.0.get_cloned(&1), Some(1));
            self.0.insert(2, 2);
            self.0.remove(&1);
        }
    }
    thread_local!(static LATE: std::cell::RefCell<Option<Late>> = const { std::cell::RefCell::new(None) });
    for late_first in [true, false] {
        let cache = small();
        cache.insert(1, 1);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                if !late_first {
                    assert!(cache.contains(&1));
                }
                LATE.with(|late| *late.borrow_mut() = Some(Late(cache.clone())));
                assert!(cache.contains(&1));
            });
        });
        eventually(|| cache.len() == 1 && cache.contains(&2));
        cache.validate();
    }
}

#[test]
fn many_caches_live_beside_each_other() {
    let caches: Vec<Cache<u32, u32>> = (0..300).map(|_| small()).collect();
    for (index, cache) in (0..).zip(&caches) {
        cache.insert(index, index);
    }
    for (index, cache) in (0..).zip(&caches) {
        assert_eq!(cache.get_cloned(&index), Some(index));
        assert_eq!((cache.len(), cache.stats().hits), (1, 1));
    }
}
