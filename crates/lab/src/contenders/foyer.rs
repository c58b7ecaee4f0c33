//! foyer's cache in memory.

use foldhash::fast::RandomState;
use foyer_memory::{Cache, CacheBuilder};

use super::{Payload, Reads, Setup, Writes};

/// `foyer::Cache` with its default policy. A read counts a reference to the entry.
#[derive(Clone)]
pub struct Foyer<V: Payload>(Cache<String, V, RandomState>);

impl<V: Payload> Reads<V> for Foyer<V> {
    fn read<R>(&mut self, key: &String, look: impl FnOnce(&V) -> R) -> Option<R> {
        self.0.get(key).map(|entry| look(entry.value()))
    }
}

impl<V: Payload> Writes<V> for Foyer<V> {
    fn write(&mut self, key: String, value: V) {
        self.0.insert(key, value);
    }

    fn remove(&mut self, key: &String) -> bool {
        self.0.remove(key).is_some()
    }
}

impl<V: Payload> Setup<V> for Foyer<V> {
    const NAME: &'static str = "foyer";
    const LENDS: bool = false;

    fn with_room_for(entries: usize) -> Self {
        let builder = CacheBuilder::new(entries).with_hash_builder(RandomState::default());
        Foyer(builder.build())
    }
}
