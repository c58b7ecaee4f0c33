//! Walking a database in steps while it changes.
//!
//! A shard keeps its entries in a dense vector. The walk goes from the end to the start; a new entry
//! is pushed at the end, and a removed one is replaced by the last. So an entry that stays either
//! keeps its place or moves towards the start, where the walk has yet to come, unless it was met
//! already: no entry that stays is missed. One that moves after it was met can be met twice.

use super::UnixMillis;
use super::store::{ByteStore, Database, MAX_SHARDS};

/// Bytes of keys after which [`ByteStore::scan`] ends although it might visit more.
pub const SCAN_BYTES: usize = 1024 * 1024;

const SHARD_BITS: u32 = MAX_SHARDS.trailing_zeros();

/// The position of a shard of which nothing was visited yet.
const FROM_THE_END: u64 = u32::MAX as u64;

/// Where a scan goes on: 0 at the start and after the end.
///
/// Never above 2^40, because some clients keep cursors in floating-point numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cursor(pub u64);

impl Cursor {
    /// `left`: entries of the shard that are not visited yet.
    fn new(shard: usize, left: u64) -> Self {
        Cursor(left << SHARD_BITS | shard as u64)
    }

    fn parts(self) -> (usize, u64) {
        if self == Cursor::default() {
            return (0, FROM_THE_END);
        }
        let shard = self.0 & (MAX_SHARDS as u64 - 1);
        (shard as usize, self.0 >> SHARD_BITS)
    }
}

/// Keys that a scan found, one after another in one buffer.
#[derive(Debug, Default)]
pub struct Keys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The keys in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, &end)| &self.bytes[start..end])
    }

    /// Forgets the keys and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn push(&mut self, key: &[u8]) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
    }
}

impl ByteStore {
    /// Shows the live keys of a database to `visit`, those of one shard at a time and none twice,
    /// until it returns an error. The shard is not locked while `visit` looks.
    ///
    /// # Errors
    /// Those of `visit`.
    pub fn for_all_keys<E>(
        &self,
        database: Database,
        now: UnixMillis,
        mut visit: impl FnMut(&Keys) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut keys = Keys::default();
        for index in 0..self.shards_per_database {
            let shard = self.lock(database, index);
            for (key, entry) in &shard.map {
                if !entry.is_expired(now) {
                    keys.push(key);
                }
            }
            drop(shard);
            visit(&keys)?;
            keys.clear();
        }
        Ok(())
    }

    /// Visits up to `count` entries (at least one) from `cursor` on, appends the keys of the live
    /// ones to `keys`, and returns where to go on. One shard is locked at a time. Ends early when
    /// `keys` holds [`SCAN_BYTES`], so that long keys make no larger steps than short ones.
    ///
    /// Any number is a valid cursor; one that no scan returned may skip entries.
    pub fn scan(
        &self,
        database: Database,
        cursor: Cursor,
        count: usize,
        now: UnixMillis,
        keys: &mut Keys,
    ) -> Cursor {
        let (first_shard, first_left) = cursor.parts();
        let mut budget = count.max(1);
        let mut left = first_left;
        for index in first_shard..self.shards_per_database {
            let shard = self.lock(database, index);
            let end = shard
                .map
                .len()
                .min(usize::try_from(left).unwrap_or(usize::MAX));
            let mut start = end.saturating_sub(budget);
            for (visited, (key, entry)) in shard.map[start..end].iter().rev().enumerate() {
                if !entry.is_expired(now) {
                    keys.push(key);
                }
                if keys.bytes.len() >= SCAN_BYTES {
                    start = end - visited - 1;
                    break;
                }
            }
            drop(shard);
            if start > 0 {
                return Cursor::new(index, start as u64);
            }
            budget -= end;
            left = FROM_THE_END;
            let is_full = budget == 0 || keys.bytes.len() >= SCAN_BYTES;
            if is_full && index + 1 < self.shards_per_database {
                return Cursor::new(index + 1, FROM_THE_END);
            }
        }
        Cursor::default()
    }
}
