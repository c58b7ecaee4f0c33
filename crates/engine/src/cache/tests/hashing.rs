//! Hashes that collide, and `Hash` and `Eq` that lie.

use std::hash::{Hash, Hasher};
use std::sync::atomic::AtomicU32;

use super::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Colliding(u32);

impl Hash for Colliding {
    fn hash<H: Hasher>(&self, _state: &mut H) {}
}

#[test]
fn thousands_of_keys_with_one_hash_are_told_apart() {
    let cache: Cache<Colliding, u32> = Cache::builder().max_entries(2_000).build();
    for key in 0..2_000 {
        cache.insert(Colliding(key), key);
    }
    assert_eq!(cache.len(), 2_000);
    for key in (0..2_000).step_by(7) {
        assert_eq!(cache.get_cloned(&Colliding(key)), Some(key));
    }
    assert!(cache.get(&Colliding(5_000)).is_none());
    assert_eq!(cache.iter().count(), 2_000);
    cache.validate();
    for key in (0..2_000).step_by(2) {
        assert!(cache.remove(&Colliding(key)).is_some());
    }
    cache.insert(Colliding(1), 0);
    assert_eq!(
        (cache.len(), cache.get_cloned(&Colliding(1))),
        (1_000, Some(0))
    );
    cache.validate();
    for key in 5_000..6_100 {
        cache.insert(Colliding(key), key);
    }
    assert_eq!(cache.len(), 2_000);
    cache.validate();
}

#[test]
fn a_hash_that_answers_differently_every_time_loses_entries_and_nothing_else() {
    static ANSWERS: AtomicU32 = AtomicU32::new(0);
    #[derive(PartialEq, Eq)]
    struct Lying(u32);
    impl Hash for Lying {
        fn hash<H: Hasher>(&self, state: &mut H) {
            (ANSWERS.fetch_add(1, Ordering::Relaxed) % 50).hash(state);
        }
    }
    let values = Arc::default();
    let cache: Cache<Lying, Counted> = Cache::builder().max_entries(30).build();
    for step in 0..3_000 {
        cache.insert(Lying(step % 40), Counted::new(&values));
        cache.get(&Lying(step % 17));
        cache.remove(&Lying(step % 23));
        assert!(cache.len() <= 30);
    }
    cache.validate();
    cache.clear();
    free_all(&cache);
    eventually(|| alive(&values) == 0);
}

#[test]
fn an_eq_that_lies_finds_the_wrong_entries_and_harms_nothing() {
    static ANSWERS: AtomicU32 = AtomicU32::new(0);
    struct Lying(u32);
    impl PartialEq for Lying {
        fn eq(&self, _other: &Self) -> bool {
            ANSWERS.fetch_add(1, Ordering::Relaxed).is_multiple_of(3)
        }
    }
    impl Eq for Lying {}
    impl Hash for Lying {
        fn hash<H: Hasher>(&self, state: &mut H) {
            (self.0 % 5).hash(state);
        }
    }
    let values = Arc::default();
    let cache: Cache<Lying, Counted> = Cache::builder().max_entries(30).build();
    for step in 0..3_000 {
        cache.insert(Lying(step), Counted::new(&values));
        cache.remove(&Lying(step / 2));
    }
    cache.validate();
    cache.clear();
    free_all(&cache);
    eventually(|| alive(&values) == 0);
}

#[test]
fn an_equal_key_with_another_hash_is_stored_beside_the_first() {
    thread_local!(static ANSWER: std::cell::Cell<u32> = const { std::cell::Cell::new(0) });
    #[derive(PartialEq, Eq)]
    struct Moody;
    impl Hash for Moody {
        fn hash<H: Hasher>(&self, state: &mut H) {
            ANSWER.get().hash(state);
        }
    }

    // One bucket holds all, and the hashes have one tag: so the second looks where the first is.
    let cache: Cache<Moody, u32> = Cache::builder().max_entries(100).build();
    let (_, first) = cache.inner.locate(&Moody);
    cache.insert(Moody, 1);
    let is_alike = |answer: &u32| {
        ANSWER.set(*answer);
        let (_, other) = cache.inner.locate(&Moody);
        other.tag == first.tag && other.position != first.position
    };
    let alike = (1..).find(is_alike).expect("one of some 255 has this tag");
    ANSWER.set(alike);
    cache.insert(Moody, 2);
    cache.validate();
    assert_eq!(cache.len(), 2);
    cache.clear();
    cache.validate();
}
