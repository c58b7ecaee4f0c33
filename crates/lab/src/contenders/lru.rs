//! The crate `lru`: exact least-recently-used order, for one thread.

use std::num::NonZeroUsize;

use foldhash::fast::RandomState;
use lru::LruCache;

use super::{Payload, Reads, Setup, Writes};

/// `lru::LruCache`. A read borrows, and moves the entry to the front.
pub struct Lru<V>(LruCache<String, V, RandomState>);

impl<V: Payload> Reads<V> for Lru<V> {
    fn read<R>(&mut self, key: &String, look: impl FnOnce(&V) -> R) -> Option<R> {
        self.0.get(key).map(look)
    }
}

impl<V: Payload> Writes<V> for Lru<V> {
    fn write(&mut self, key: String, value: V) {
        self.0.put(key, value);
    }

    fn remove(&mut self, key: &String) -> bool {
        self.0.pop(key).is_some()
    }
}

impl<V: Payload> Setup<V> for Lru<V> {
    const NAME: &'static str = "lru";
    const LENDS: bool = true;

    fn with_room_for(entries: usize) -> Self {
        let entries = NonZeroUsize::new(entries).unwrap_or(NonZeroUsize::MIN);
        Lru(LruCache::with_hasher(entries, RandomState::default()))
    }
}
