//! `TinyUFO`.

use std::sync::Arc;

use super::{Payload, Reads, Setup, Writes};

/// `TinyUfo`, shared, in its fast mode. It keeps a hash instead of the key and lets nobody choose
/// the hasher. A read clones the value.
#[derive(Clone)]
pub struct TinyUfo<V: Payload>(Arc<tinyufo::TinyUfo<String, V>>);

impl<V: Payload> Reads<V> for TinyUfo<V> {
    fn read<R>(&mut self, key: &String, look: impl FnOnce(&V) -> R) -> Option<R> {
        self.0.get(key).as_ref().map(look)
    }
}

impl<V: Payload> Writes<V> for TinyUfo<V> {
    fn write(&mut self, key: String, value: V) {
        self.0.put(key, value, 1);
    }

    fn remove(&mut self, key: &String) -> bool {
        self.0.remove(key).is_some()
    }
}

impl<V: Payload> Setup<V> for TinyUfo<V> {
    const NAME: &'static str = "TinyUFO";
    const LENDS: bool = false;

    fn with_room_for(entries: usize) -> Self {
        TinyUfo(Arc::new(tinyufo::TinyUfo::new(entries, entries)))
    }
}
