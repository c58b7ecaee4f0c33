//! Walking a database in steps while it changes.
//!
//! A walk goes through the shards, and through each in the order of the positions of keys' hashes
//! (see the module `index`). A key's position never changes, so no entry that stays is missed or met twice,
//! whatever else comes and goes. A cursor is a shard and a position.

use super::UnixMillis;
use super::log::Location;
use super::shard::Shard;
use super::store::{ByteStore, Database, MAX_SHARDS};

/// Bytes of keys after which [`ByteStore::scan`] ends although it might visit more.
pub const SCAN_BYTES: usize = 1024 * 1024;

const SHARD_BITS: u32 = MAX_SHARDS.trailing_zeros();

/// Where a scan goes on: 0 at the start and after the end.
///
/// Never above 2^40, because some clients keep cursors in floating-point numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cursor(pub u64);

impl Cursor {
    fn new(shard: usize, position: u32) -> Self {
        Cursor(u64::from(position) << SHARD_BITS | shard as u64)
    }

    fn parts(self) -> (usize, u32) {
        let shard = self.0 & (MAX_SHARDS as u64 - 1);
        (shard as usize, (self.0 >> SHARD_BITS) as u32)
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
    /// A place somewhere in a database, to begin a scan at random.
    pub fn random_cursor(&self) -> Cursor {
        Cursor::new(fastrand::usize(..self.shards.len()), fastrand::u32(..))
    }

    /// Visits about `count` entries (at least one) from `cursor` on, appends the keys of the live ones
    /// to `keys`, and returns where to go on. One shard is locked at a time. Ends early when
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
        let (first_shard, mut position) = cursor.parts();
        let mut left = count.max(1);
        for index in first_shard..self.shards.len() {
            let mut next = Some(position);
            while let Some(from) = next {
                if left == 0 || keys.bytes.len() >= SCAN_BYTES {
                    return Cursor::new(index, from);
                }
                next = self
                    .lock(index)
                    .visit(database.0, from, &mut left, now, keys);
            }
            position = 0;
        }
        Cursor::default()
    }
}

impl Shard {
    /// Visits the next few entries; returns where to go on in this shard.
    fn visit(
        &self,
        database: usize,
        from: u32,
        left: &mut usize,
        now: UnixMillis,
        keys: &mut Keys,
    ) -> Option<u32> {
        let hash_of = |location| self.hash_at(location);
        self.index(database)?.walk(from, hash_of, |location| {
            let location = Location(location);
            *left = left.saturating_sub(1);
            if self.log.record(location).deadline() > now.0 {
                self.with_key(location, |key| keys.push(key));
            }
        })
    }
}
