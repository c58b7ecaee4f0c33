//! What is kept: bytes, and a decoded tree; each behind a counted pointer, and copied as a whole.

use std::sync::Arc;

use crate::contenders::{Payload, Reads, Writes};
use crate::value::config::Config;

/// A payload that can be copied with all that it points at.
pub(super) trait DeepClone: Payload {
    fn deep_clone(&self) -> Self;
}

impl DeepClone for Arc<[u8]> {
    fn deep_clone(&self) -> Self {
        Arc::from(&**self)
    }
}

impl DeepClone for Arc<Config> {
    fn deep_clone(&self) -> Self {
        Arc::new(Config::clone(self))
    }
}

/// A store whose readers and writers get and give copies, as a cache in a language without ownership
/// has to do it to be safe from its users.
pub(super) struct Copying<S>(pub(super) S);

impl<V: DeepClone, S: Reads<V>> Reads<V> for Copying<S> {
    fn read<R>(&mut self, key: &String, look: impl FnOnce(&V) -> R) -> Option<R> {
        self.0.read(key, |value| look(&value.deep_clone()))
    }
}

impl<V: DeepClone, S: Writes<V>> Writes<V> for Copying<S> {
    fn write(&mut self, key: String, value: V) {
        self.0.write(key, value.deep_clone());
    }

    fn remove(&mut self, key: &String) -> bool {
        self.0.remove(key)
    }
}

/// No cache: what the loop around it costs.
pub(super) struct Nothing;

impl<V> Reads<V> for Nothing {
    fn read<R>(&mut self, _key: &String, _look: impl FnOnce(&V) -> R) -> Option<R> {
        None
    }
}

impl<V> Writes<V> for Nothing {
    fn write(&mut self, key: String, value: V) {
        drop((key, value));
    }

    fn remove(&mut self, _key: &String) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contenders::Ours;
    use crate::value::config::generate;

    #[test]
    fn a_copy_is_equal_and_in_memory_of_its_own() {
        let bytes: Arc<[u8]> = Arc::from([7; 100]);
        assert_eq!(bytes.deep_clone(), bytes);
        assert!(!Arc::ptr_eq(&bytes.deep_clone(), &bytes));
        let tree = Arc::new(generate(1));
        assert_eq!(tree.deep_clone(), tree);
        assert!(!Arc::ptr_eq(&tree.deep_clone(), &tree));
    }

    #[test]
    fn a_copying_store_lends_nothing_and_keeps_nothing_of_its_users() {
        let mut store = Copying(Ours::with(&[], 10));
        let value: Arc<[u8]> = Arc::from([7; 100]);
        let key = "a".to_owned();
        store.write(key.clone(), Arc::clone(&value));
        let kept = store.0.read(&key, Arc::clone).expect("just written");
        assert!(!Arc::ptr_eq(&kept, &value));
        let read = store.read(&key, Arc::clone).expect("just written");
        assert_eq!(read, value);
        assert!(!Arc::ptr_eq(&read, &kept));
    }
}
