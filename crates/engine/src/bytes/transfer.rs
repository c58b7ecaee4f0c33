//! Moving or copying an entry to another key as one step.

use super::shard::NewEntry;
use super::store::{ByteStore, Database};
use super::{BLOCK_VALUE_BYTES, Condition, Current, Payload, StoreError, UnixMillis};

/// What became of a [`rename`](ByteStore::rename) or [`copy`](ByteStore::copy).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transfer {
    /// The entry is at its new key.
    Done,
    /// There is no entry to take.
    NoSource,
    /// The condition did not hold for the new key.
    Refused,
}

/// A key in a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// The database.
    pub database: Database,
    /// The key.
    pub key: &'a [u8],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Goes,
    Stays,
}

impl ByteStore {
    /// Moves an entry with its flags and deadline to another key, if the condition holds for that. Nobody
    /// ever sees both keys or neither. Of the value only the [rest](super::Value::rest) is copied.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] if the limit could not hold the entry with its new key; nothing has changed then.
    pub fn rename(
        &self,
        database: Database,
        from: &[u8],
        to: &[u8],
        condition: Condition,
        now: UnixMillis,
    ) -> Result<Transfer, StoreError> {
        let from = Place {
            database,
            key: from,
        };
        let to = Place { database, key: to };
        self.transfer(from, to, Source::Goes, condition, now)
    }

    /// Stores an entry's value with its flags and deadline under another key too, if the condition
    /// holds for that. The copies share the blocks of their value.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] if the limit could not hold the copy; nothing has changed then.
    pub fn copy(
        &self,
        from: Place<'_>,
        to: Place<'_>,
        condition: Condition,
        now: UnixMillis,
    ) -> Result<Transfer, StoreError> {
        self.transfer(from, to, Source::Stays, condition, now)
    }

    fn transfer(
        &self,
        from: Place<'_>,
        to: Place<'_>,
        source: Source,
        condition: Condition,
        now: UnixMillis,
    ) -> Result<Transfer, StoreError> {
        if to.key.len() >= BLOCK_VALUE_BYTES {
            // Before others are evicted for the blocks of the key.
            let len = |found: Option<Current<'_>>| found.map_or(0, |it| it.value_len());
            let value_len = self.peek(from.database, from.key, now, len);
            self.check_entry(to.key.len(), value_len)?;
        }
        let key = self.prepare(to.key.into(), || self.make_room_for_block());
        let (from_index, from_hash) = self.hasher.hash(from.key);
        let (to_index, to_hash) = self.hasher.hash(to.key);
        let mut shards = self.lock_all([from_index, to_index].into_iter());
        shards.at(to_index).make_numbers(now);
        let shard = shards.at(from_index);
        let Some(found) = shard.find(from.database.0, from_hash, from.key, now) else {
            return Ok(Transfer::NoSource);
        };
        let current = shard.current(found);
        let (value, flags, deadline) = (current.value(), current.flags(), current.deadline());
        let is_itself = from == to;
        let is_there = {
            let shard = shards.at(to_index);
            shard.find(to.database.0, to_hash, to.key, now).is_some()
        };
        let is_allowed = match condition {
            Condition::Always => true,
            Condition::IfAbsent => !is_there,
            Condition::IfPresent => is_there,
        };
        if !is_allowed {
            return Ok(Transfer::Refused);
        }
        if is_itself {
            return Ok(Transfer::Done);
        }
        self.check_entry(to.key.len(), value.len())?;
        let entry = NewEntry {
            key,
            kept_hash: self.hasher.kept_hash(to.key),
            value: self.prepare(Payload::Value(value), || {}),
            flags,
            deadline,
        };
        if source == Source::Goes {
            let shard = shards.at(from_index);
            // Looked for again: what was found is good until the shard changes, and to look at the target may
            // have removed an expired entry.
            let found = shard.find(from.database.0, from_hash, from.key, now);
            found.into_iter().for_each(|found| shard.remove(found));
            shard.tidy();
        }
        let shard = shards.at(to_index);
        let replaced = shard.find(to.database.0, to_hash, to.key, now);
        shard.store(to.database.0, to_hash, &entry, replaced);
        shard.tidy();
        drop(shards);
        drop(entry);
        self.evict_to_limit(0, to_index, now, &|in_database, candidate| {
            in_database == to.database && candidate == to.key
        });
        Ok(Transfer::Done)
    }
}
