//! `moka::sync`.

use foldhash::fast::RandomState;
use moka::sync::Cache;

use super::{Payload, Reads, Setup, Writes};

/// `moka::sync::Cache`. A read clones the value.
#[derive(Clone)]
pub struct Moka<V>(Cache<String, V, RandomState>);

impl<V: Payload> Reads<V> for Moka<V> {
    fn read<R>(&mut self, key: &String, look: impl FnOnce(&V) -> R) -> Option<R> {
        self.0.get(key).as_ref().map(look)
    }
}

impl<V: Payload> Writes<V> for Moka<V> {
    fn write(&mut self, key: String, value: V) {
        self.0.insert(key, value);
    }

    fn remove(&mut self, key: &String) -> bool {
        self.0.remove(key).is_some()
    }

    fn settle(&mut self) {
        self.0.run_pending_tasks();
    }
}

impl<V: Payload> Setup<V> for Moka<V> {
    const NAME: &'static str = "moka";
    const LENDS: bool = false;

    fn with_room_for(entries: usize) -> Self {
        let builder = Cache::builder().max_capacity(entries as u64);
        Moka(builder.build_with_hasher(RandomState::default()))
    }
}
