//! Maps that never evict: what a lookup costs where nothing else is done.

use std::sync::Arc;

use foldhash::fast::RandomState;

use super::{Payload, Reads, Setup, Writes};

/// `hashbrown::HashMap` with foldhash, for one thread. A read borrows.
pub struct HashMap<V>(hashbrown::HashMap<String, V, RandomState>);

impl<V: Payload> Reads<V> for HashMap<V> {
    fn read<R>(&mut self, key: &String, look: impl FnOnce(&V) -> R) -> Option<R> {
        self.0.get(key).map(look)
    }
}

impl<V: Payload> Writes<V> for HashMap<V> {
    fn write(&mut self, key: String, value: V) {
        self.0.insert(key, value);
    }

    fn remove(&mut self, key: &String) -> bool {
        self.0.remove(key).is_some()
    }
}

impl<V: Payload> Setup<V> for HashMap<V> {
    const NAME: &'static str = "hashbrown";
    const LENDS: bool = true;

    fn with_room_for(entries: usize) -> Self {
        let hasher = RandomState::default();
        HashMap(hashbrown::HashMap::with_capacity_and_hasher(
            entries, hasher,
        ))
    }
}

/// A `hashbrown::HashMap` that nobody changes any more and all threads read.
#[derive(Clone)]
pub struct FrozenMap<V>(Arc<hashbrown::HashMap<String, V, RandomState>>);

impl<V> FrozenMap<V> {
    /// What it is called in a table.
    pub const NAME: &'static str = "hashbrown, read-only";
}

impl<V> From<HashMap<V>> for FrozenMap<V> {
    fn from(map: HashMap<V>) -> Self {
        FrozenMap(Arc::new(map.0))
    }
}

impl<V: Payload> Reads<V> for FrozenMap<V> {
    fn read<R>(&mut self, key: &String, look: impl FnOnce(&V) -> R) -> Option<R> {
        self.0.get(key).map(look)
    }
}

/// `papaya::HashMap`, shared. A read borrows under a guard of its own.
#[derive(Clone)]
pub struct Papaya<V>(Arc<papaya::HashMap<String, V, RandomState>>);

impl<V: Payload> Reads<V> for Papaya<V> {
    fn read<R>(&mut self, key: &String, look: impl FnOnce(&V) -> R) -> Option<R> {
        self.0.pin().get(key).map(look)
    }
}

impl<V: Payload> Writes<V> for Papaya<V> {
    fn write(&mut self, key: String, value: V) {
        self.0.pin().insert(key, value);
    }

    fn remove(&mut self, key: &String) -> bool {
        self.0.pin().remove(key).is_some()
    }
}

impl<V: Payload> Setup<V> for Papaya<V> {
    const NAME: &'static str = "papaya";
    const LENDS: bool = true;

    fn with_room_for(entries: usize) -> Self {
        Papaya(Arc::new(papaya::HashMap::with_capacity_and_hasher(
            entries,
            RandomState::default(),
        )))
    }
}
