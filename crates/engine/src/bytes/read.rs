//! Reading: values, which is a use of their entries, and looks at entries, which are none.

use super::store::{ByteStore, Database};
use super::{Current, UnixMillis, Value};

/// Up to this many keys are read by [`ByteStore::get_many`] as of one moment.
pub const ATOMIC_GET_KEYS: usize = 128;

impl ByteStore {
    /// The value of a key, counted as a hit or a miss.
    pub fn get(&self, database: Database, key: &[u8], now: UnixMillis) -> Option<Value> {
        self.inspect(database, key, now, |found| found.map(|it| it.value()))
    }

    /// Looks at an entry under its shard's lock. `look` must be short. That is no use of the entry: it
    /// counts neither as a hit nor as a miss, and keeps it no longer from being evicted.
    pub fn peek<R>(
        &self,
        database: Database,
        key: &[u8],
        now: UnixMillis,
        look: impl FnOnce(Option<Current<'_>>) -> R,
    ) -> R {
        let (index, hash) = self.hasher.hash(key);
        let mut shard = self.lock(index);
        let found = shard.find(database.0, hash, key, now);
        look(found.map(|found| shard.current(found)))
    }

    /// Looks at an entry under its shard's lock, counted as a hit or a miss and as a use. `look` must
    /// be short.
    pub fn inspect<R>(
        &self,
        database: Database,
        key: &[u8],
        now: UnixMillis,
        look: impl FnOnce(Option<Current<'_>>) -> R,
    ) -> R {
        let (index, hash) = self.hasher.hash(key);
        let mut shard = self.lock(index);
        let found = shard.find(database.0, hash, key, now);
        shard.count_read(found);
        look(found.map(|found| shard.current(found)))
    }

    /// The values of several keys; as of one moment if they are no more than [`ATOMIC_GET_KEYS`].
    pub fn get_many<'k>(
        &self,
        database: Database,
        keys: impl ExactSizeIterator<Item = &'k [u8]>,
        now: UnixMillis,
    ) -> Vec<Option<Value>> {
        if keys.len() > ATOMIC_GET_KEYS {
            return keys.map(|key| self.get(database, key, now)).collect();
        }
        let keys: Vec<_> = keys.map(|key| (self.hasher.hash(key), key)).collect();
        let mut shards = self.lock_all(keys.iter().map(|((index, _), _)| *index));
        keys.iter()
            .map(|&((index, hash), key)| {
                let shard = shards.at(index);
                let found = shard.find(database.0, hash, key, now);
                shard.count_read(found);
                found.map(|found| shard.current(found).value())
            })
            .collect()
    }
}
