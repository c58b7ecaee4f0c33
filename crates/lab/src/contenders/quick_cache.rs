//! `quick_cache`, with locks and without.

use std::sync::Arc;

use foldhash::fast::RandomState;
use quick_cache::{UnitWeighter, sync, unsync};

use super::{Payload, Reads, Setup, Writes};

type Locked<V> =
    sync::Cache<String, V, UnitWeighter, RandomState, sync::DefaultLifecycle<String, V>>;

/// `quick_cache::sync::Cache`, shared. A read clones the value.
#[derive(Clone)]
pub struct QuickCache<V>(Arc<Locked<V>>);

impl<V: Payload> Reads<V> for QuickCache<V> {
    fn read<R>(&mut self, key: &String, look: impl FnOnce(&V) -> R) -> Option<R> {
        self.0.get(key).as_ref().map(look)
    }
}

impl<V: Payload> Writes<V> for QuickCache<V> {
    fn write(&mut self, key: String, value: V) {
        self.0.insert(key, value);
    }

    fn remove(&mut self, key: &String) -> bool {
        self.0.remove(key).is_some()
    }
}

impl<V: Payload> Setup<V> for QuickCache<V> {
    const NAME: &'static str = "quick_cache sync";
    const LENDS: bool = false;

    fn with_room_for(entries: usize) -> Self {
        QuickCache(Arc::new(sync::Cache::with(
            entries,
            entries as u64,
            UnitWeighter,
            RandomState::default(),
            sync::DefaultLifecycle::default(),
        )))
    }
}

/// `quick_cache::unsync::Cache`, for one thread. A read borrows.
pub struct QuickCacheUnsync<V>(
    unsync::Cache<String, V, UnitWeighter, RandomState, unsync::DefaultLifecycle<String, V>>,
);

impl<V: Payload> Reads<V> for QuickCacheUnsync<V> {
    fn read<R>(&mut self, key: &String, look: impl FnOnce(&V) -> R) -> Option<R> {
        self.0.get(key).map(look)
    }
}

impl<V: Payload> Writes<V> for QuickCacheUnsync<V> {
    fn write(&mut self, key: String, value: V) {
        self.0.insert(key, value);
    }

    fn remove(&mut self, key: &String) -> bool {
        self.0.remove(key).is_some()
    }
}

impl<V: Payload> Setup<V> for QuickCacheUnsync<V> {
    const NAME: &'static str = "quick_cache unsync";
    const LENDS: bool = true;

    fn with_room_for(entries: usize) -> Self {
        QuickCacheUnsync(unsync::Cache::with(
            entries,
            entries as u64,
            UnitWeighter,
            RandomState::default(),
            unsync::DefaultLifecycle::default(),
        ))
    }
}
