//! Writing several entries as one step.

use std::collections::HashSet;

use super::limit::StoreError;
use super::shard::NewEntry;
use super::store::{ByteStore, Database};
use super::{Condition, Payload, UnixMillis};

impl ByteStore {
    /// Writes all pairs as one step, without flags and deadlines. With [`Condition::IfAbsent`] nothing
    /// is written where any of the keys is there, with [`Condition::IfPresent`] where any is not.
    /// Returns whether the pairs were written. Of a key that is named twice the last value counts.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] if the pairs together exceed the limit; nothing has changed then.
    pub fn set_many(
        &self,
        database: Database,
        pairs: &[(&[u8], Payload<'_>)],
        condition: Condition,
        now: UnixMillis,
    ) -> Result<bool, StoreError> {
        let lens = pairs.iter().map(|(key, value)| (key.len(), value.len()));
        self.check_entries(lens)?;
        let values: Vec<_> = pairs
            .iter()
            .map(|(_, value)| self.prepare(value.clone(), || self.make_room_for_block()))
            .collect();
        let hashes = pairs.iter().map(|(key, _)| self.hasher.hash(key));
        let hashes: Vec<_> = hashes.collect();
        let mut shards = self.lock_all(hashes.iter().map(|(index, _)| *index));
        let mut allowed = true;
        for (&(index, hash), (key, _)) in hashes.iter().zip(pairs) {
            let present = shards.at(index).find(database.0, hash, key, now).is_some();
            allowed &= match condition {
                Condition::Always => true,
                Condition::IfAbsent => !present,
                Condition::IfPresent => present,
            };
        }
        if !allowed {
            return Ok(false);
        }
        for ((&(index, hash), (key, _)), value) in hashes.iter().zip(pairs).zip(values) {
            let shard = shards.at(index);
            shard.make_numbers(now);
            let found = shard.find(database.0, hash, key, now);
            let entry = NewEntry {
                key: self.prepare((*key).into(), || {}),
                kept_hash: self.hasher.kept_hash(key),
                value,
                flags: 0,
                deadline: None,
            };
            shard.store(database.0, hash, &entry, found);
        }
        drop(shards);
        if self.used_bytes() > self.limit() {
            let written: HashSet<&[u8]> = pairs.iter().map(|(key, _)| *key).collect();
            let first_shard = hashes.first().map_or(0, |(index, _)| *index);
            self.evict_to_limit(0, first_shard, now, &|in_database, candidate| {
                in_database == database && written.contains(candidate)
            });
        }
        Ok(true)
    }
}
