//! What is timed: reading keys round and round, and writing over them.

use std::hint::black_box;
use std::sync::Arc;

use super::{KeySet, Payload, Reads, Writes};
use crate::rounds::Operation;

/// Looks up keys one after the other, and again from the first.
pub struct Get<S, V> {
    store: S,
    keys: Arc<[String]>,
    next: usize,
    value: std::marker::PhantomData<fn() -> V>,
}

impl<S: Reads<V>, V> Get<S, V> {
    /// Begins with the key at `next`.
    pub fn starting_at(store: S, keys: &Arc<[String]>, next: usize) -> Self {
        Get {
            store,
            keys: Arc::clone(keys),
            next,
            value: std::marker::PhantomData,
        }
    }
}

impl<S: Reads<V>, V: Payload> Operation for Get<S, V> {
    fn run(&mut self, count: u64) {
        for _ in 0..count {
            let key = black_box(&self.keys[self.next]);
            self.next += 1;
            if self.next == self.keys.len() {
                self.next = 0;
            }
            // What the value points at is had, not only where the pointer lies.
            black_box(self.store.read(key, |value| {
                black_box::<&V::Target>(value);
            }));
        }
    }
}

/// Writes over keys that are there, in the order in which they are asked for. Keys and values are
/// made before; what the store frees of them is timed.
pub struct Overwrite<S, V> {
    store: S,
    entries: Vec<(String, V)>,
    next: usize,
    ready: Vec<(String, V)>,
}

impl<S: Writes<V>, V: Payload> Overwrite<S, V> {
    /// Writes the entries of the set.
    pub fn new(store: S, set: &KeySet<V>) -> Self {
        let entries = set.lookups.iter().map(|key| {
            let number = set.number_of(key);
            (key.clone(), set.values[number].clone())
        });
        Overwrite {
            store,
            entries: entries.collect(),
            next: 0,
            ready: Vec::new(),
        }
    }
}

impl<S: Writes<V>, V: Payload> Operation for Overwrite<S, V> {
    fn prepare(&mut self, count: u64) {
        for _ in 0..count {
            self.ready.push(self.entries[self.next].clone());
            self.next = (self.next + 1) % self.entries.len();
        }
    }

    fn run(&mut self, _count: u64) {
        for (key, value) in self.ready.drain(..) {
            self.store.write(key, value);
        }
    }
}
