//! What contenders are filled with and asked for: built before anything is timed.

use std::sync::Arc;

use super::{Payload, Setup};

/// Random choices that are the same in every run.
pub const SEED: u64 = 0x68_6f_74;

const PREFIX: &str = "session:";

/// The key with this number.
#[must_use]
pub fn key(number: usize) -> String {
    format!("{PREFIX}{number:08}")
}

/// Keys with values, and the order in which they are asked for.
pub struct KeySet<V> {
    /// By number.
    pub keys: Vec<String>,
    /// By number.
    pub values: Vec<V>,
    /// Keys again, in memory of their own and in the order of asking: reading the question costs the
    /// same for every contender, and does not bring the answer's key into the processor's cache.
    pub lookups: Arc<[String]>,
}

impl<V: Payload> KeySet<V> {
    /// So many keys, asked for round and round in one shuffled order.
    pub fn shuffled(count: usize, value: impl Fn(usize) -> V) -> Self {
        let mut order: Vec<usize> = (0..count).collect();
        fastrand::Rng::with_seed(SEED).shuffle(&mut order);
        Self::asked_in(count, value, order)
    }

    /// So many keys, asked for in a random order of this length, with repetitions.
    pub fn random(count: usize, length: usize, value: impl Fn(usize) -> V) -> Self {
        let mut random = fastrand::Rng::with_seed(SEED);
        Self::asked_in(count, value, (0..length).map(|_| random.usize(..count)))
    }

    fn asked_in(
        count: usize,
        value: impl Fn(usize) -> V,
        order: impl IntoIterator<Item = usize>,
    ) -> Self {
        KeySet {
            keys: (0..count).map(key).collect(),
            values: (0..count).map(value).collect(),
            lookups: order.into_iter().map(key).collect(),
        }
    }

    /// A store that holds all of the set. Some divide their room among shards, so they get more of it
    /// than there are entries, and all the same.
    ///
    /// # Panics
    /// If the store does not hold what it has room for: its hits would be misses.
    #[must_use]
    pub fn filled<S: Setup<V>>(&self) -> S {
        self.fill(S::with_room_for(self.room()), S::NAME)
    }

    /// Room for the set, with what shards need beyond it.
    #[must_use]
    pub fn room(&self) -> usize {
        self.keys.len() * 5 / 4 + 64
    }

    /// Fills a store that was set up otherwise.
    ///
    /// # Panics
    /// As [`filled`](Self::filled).
    pub fn fill<S: super::Writes<V>>(&self, mut store: S, name: &str) -> S {
        for (key, value) in self.keys.iter().zip(&self.values) {
            store.write(key.clone(), value.clone());
        }
        store.settle();
        let holds = |key: &String| store.read(key, |_| ()).is_some();
        assert!(
            self.keys.iter().all(holds),
            "{name} does not hold what it has room for"
        );
        store
    }

    pub(super) fn number_of(&self, key: &str) -> usize {
        let number = key.strip_prefix(PREFIX).map(str::parse);
        number
            .and_then(Result::ok)
            .expect("keys end with their number")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffled_order_asks_for_every_key_once() {
        let set = KeySet::shuffled(100, Arc::new);
        let mut asked = set.lookups.to_vec();
        assert_ne!(asked, set.keys);
        asked.sort();
        assert_eq!(asked, set.keys);
        assert_eq!(set.number_of(&set.keys[42]), 42);
    }

    #[test]
    fn a_random_order_asks_for_keys_of_the_set_only() {
        let set = KeySet::random(10, 1_000, Arc::new);
        assert_eq!(set.lookups.len(), 1_000);
        assert!(set.lookups.iter().all(|key| set.keys.contains(key)));
    }
}
