//! The store: which shard a key belongs to, the operations, and the accounting over all shards.

use std::collections::HashSet;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use foldhash::fast::RandomState;
use parking_lot::Mutex;

use super::entry::weight;
use super::shard::{Map, Shard};
use super::{
    Change, Condition, Current, DeadlineChange, SetOptions, SetOutcome, Stats, UnixMillis, Value,
};

/// A scan's cursor holds the shard in eight bits.
pub(super) const MAX_SHARDS: usize = 256;

/// How a store is laid out and bounded.
#[derive(Debug, Clone)]
pub struct StoreConfig {
    /// Bound on the bytes of all entries together (key, value and overhead). None: no bound.
    pub max_bytes: Option<u64>,
    /// Numbered databases, at least one.
    pub databases: usize,
    /// Shards per database; rounded up to a power of two, at most 256.
    pub shards: usize,
}

impl Default for StoreConfig {
    fn default() -> Self {
        StoreConfig {
            max_bytes: None,
            databases: 16,
            shards: 64,
        }
    }
}

/// Why a write was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// What was to be written does not fit into the limit even if everything else goes.
    #[error("an entry of {needed_bytes} bytes does not fit into {max_bytes} bytes of memory")]
    TooLarge {
        /// What it would take.
        needed_bytes: u64,
        /// The store's limit.
        max_bytes: u64,
    },
}

/// A numbered database of a store, see [`ByteStore::database`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Database(pub(super) usize);

impl Database {
    /// The database's number.
    pub fn index(self) -> usize {
        self.0
    }
}

/// What a flush took out. Dropping it frees the memory, which takes time in proportion to the number
/// of entries: a caller can do so where nobody waits.
#[derive(Debug)]
#[must_use = "dropping it here frees everything on this thread"]
pub struct Discarded {
    _maps: Vec<Map>,
}

/// A sharded map of byte strings with deadlines and a bound on memory. See the [module](super).
#[derive(Debug)]
pub struct ByteStore {
    pub(super) hasher: RandomState,
    /// The shards of database 0, then those of database 1, and so on.
    pub(super) shards: Box<[Mutex<Shard>]>,
    pub(super) shards_per_database: usize,
    pub(super) sizes: Box<[Size]>,
    pub(super) used_bytes: AtomicU64,
    pub(super) max_bytes: Option<u64>,
}

/// How much is in one database, kept beside the shards so that no lock is needed to tell.
#[derive(Debug, Default)]
pub(super) struct Size {
    pub(super) entries: AtomicUsize,
    pub(super) with_deadline: AtomicUsize,
}

/// Whether a write answers the value that was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Read,
    Other,
}

impl ByteStore {
    /// An empty store.
    pub fn new(config: &StoreConfig) -> Self {
        let hasher = RandomState::default();
        let databases = config.databases.max(1);
        let shards_per_database = config.shards.clamp(1, MAX_SHARDS).next_power_of_two();
        let shard = || Mutex::new(Shard::new(hasher.clone()));
        ByteStore {
            shards: (0..databases * shards_per_database)
                .map(|_| shard())
                .collect(),
            sizes: (0..databases).map(|_| Size::default()).collect(),
            hasher,
            shards_per_database,
            used_bytes: AtomicU64::new(0),
            max_bytes: config.max_bytes,
        }
    }

    /// The database with this number, if there is one.
    pub fn database(&self, index: usize) -> Option<Database> {
        (index < self.sizes.len()).then_some(Database(index))
    }

    /// All databases.
    pub fn databases(&self) -> impl Iterator<Item = Database> + use<> {
        (0..self.sizes.len()).map(Database)
    }

    /// Writes a value if the condition holds.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] if key and value alone exceed the limit; nothing has changed then.
    pub fn set(
        &self,
        database: Database,
        key: &[u8],
        value: Value,
        options: SetOptions,
        now: UnixMillis,
    ) -> Result<SetOutcome, StoreError> {
        let use_of_entry = if options.is_read {
            Use::Read
        } else {
            Use::Other
        };
        let ((stored, kept), replaced) =
            self.apply(database, key, now, use_of_entry, |current| {
                let stored = match options.condition {
                    Condition::Always => true,
                    Condition::IfAbsent => current.is_none(),
                    Condition::IfPresent => current.is_some(),
                };
                if !stored {
                    return (Change::Keep, (false, current.map(|it| it.value.clone())));
                }
                let deadline = match options.deadline {
                    DeadlineChange::Clear => None,
                    DeadlineChange::Keep => current.and_then(|it| it.deadline),
                    DeadlineChange::At(at) => Some(at),
                };
                (Change::Store { value, deadline }, (true, None))
            })?;
        Ok(SetOutcome {
            stored,
            previous: replaced.or(kept),
        })
    }

    /// Shows the entry to `decide` under the shard's lock and does what it says, as one step.
    /// Counted neither as a hit nor as a miss.
    ///
    /// `decide` must be short and must not use the store: its shard is locked.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] if a value to be stored exceeds the limit; nothing has changed then.
    pub fn update<R>(
        &self,
        database: Database,
        key: &[u8],
        now: UnixMillis,
        decide: impl FnOnce(Option<Current<'_>>) -> (Change, R),
    ) -> Result<R, StoreError> {
        self.apply(database, key, now, Use::Other, decide)
            .map(|(result, _replaced)| result)
    }

    /// [`update`](Self::update) that also reads the entry: counted as a hit or a miss and as a use.
    ///
    /// # Errors
    /// Those of [`update`](Self::update).
    pub fn read_and_update<R>(
        &self,
        database: Database,
        key: &[u8],
        now: UnixMillis,
        decide: impl FnOnce(Option<Current<'_>>) -> (Change, R),
    ) -> Result<R, StoreError> {
        self.apply(database, key, now, Use::Read, decide)
            .map(|(result, _replaced)| result)
    }

    /// [`update`](Self::update) that also returns the value that was replaced or removed.
    fn apply<R>(
        &self,
        database: Database,
        key: &[u8],
        now: UnixMillis,
        use_of_entry: Use,
        decide: impl FnOnce(Option<Current<'_>>) -> (Change, R),
    ) -> Result<(R, Option<Value>), StoreError> {
        let hash = self.hash(key);
        let mut shard = self.lock(database, self.shard_of(hash));
        let found = shard.find(hash, key, now);
        if use_of_entry == Use::Read {
            shard.count_read(found, now);
        }
        let (change, result) = decide(found.map(|index| shard.map[index].current()));
        let (deadline, value) = match change {
            Change::Keep => return Ok((result, None)),
            Change::Remove => (Some(now), None),
            Change::SetDeadline(deadline) => (deadline, None),
            Change::Store { value, deadline } => (deadline, Some(value)),
        };
        if let Some(value) = &value {
            self.check_fits(weight(key, value))?;
        }
        let replaced = match (value, found) {
            _ if deadline.is_some_and(|at| at <= now) => {
                found.map(|index| shard.take_at(index).value)
            }
            (Some(value), _) => shard.store(hash, key, value, deadline, now),
            (None, Some(index)) => {
                shard.set_deadline(index, deadline);
                None
            }
            (None, None) => None,
        };
        drop(shard);
        self.evict_to_limit(|in_database, candidate| in_database == database && candidate == key);
        Ok((result, replaced))
    }

    /// Writes all pairs as one step, without deadlines. With [`Condition::IfAbsent`] nothing is
    /// written where any of the keys is there, with [`Condition::IfPresent`] where any is not.
    /// Returns whether the pairs were written. Of a key that is named twice the last value counts.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] if the pairs together exceed the limit; nothing has changed then.
    pub fn set_many(
        &self,
        database: Database,
        pairs: &[(&[u8], Value)],
        condition: Condition,
        now: UnixMillis,
    ) -> Result<bool, StoreError> {
        self.check_fits(pairs.iter().map(|(key, value)| weight(key, value)).sum())?;
        let hashes: Vec<_> = pairs.iter().map(|(key, _)| self.hash(key)).collect();
        let mut shards = self.lock_all(database, hashes.iter().copied());
        let mut allowed = true;
        for (&hash, (key, _)) in hashes.iter().zip(pairs) {
            let present = shards.of(hash).find(hash, key, now).is_some();
            allowed &= match condition {
                Condition::Always => true,
                Condition::IfAbsent => !present,
                Condition::IfPresent => present,
            };
        }
        if !allowed {
            return Ok(false);
        }
        let mut replaced = Vec::new();
        for (&hash, (key, value)) in hashes.iter().zip(pairs) {
            replaced.extend(shards.of(hash).store(hash, key, value.clone(), None, now));
        }
        drop(shards);
        drop(replaced);
        if self.is_over_limit() {
            let written: HashSet<&[u8]> = pairs.iter().map(|(key, _)| *key).collect();
            self.evict_to_limit(|in_database, candidate| {
                in_database == database && written.contains(candidate)
            });
        }
        Ok(true)
    }

    /// Removes an entry and returns its value.
    pub fn remove(&self, database: Database, key: &[u8], now: UnixMillis) -> Option<Value> {
        let hash = self.hash(key);
        let mut shard = self.lock(database, self.shard_of(hash));
        let index = shard.find(hash, key, now)?;
        Some(shard.take_at(index).value)
    }

    /// Empties a database, shard after shard, without freeing anything.
    pub fn flush(&self, database: Database) -> Discarded {
        let _maps = (0..self.shards_per_database)
            .map(|index| self.lock(database, index).take_all())
            .collect();
        Discarded { _maps }
    }

    /// Entries in a database, including expired ones that were not met yet.
    pub fn len(&self, database: Database) -> usize {
        self.sizes[database.0].entries.load(Ordering::Relaxed)
    }

    /// Whether a database holds nothing.
    pub fn is_empty(&self, database: Database) -> bool {
        self.len(database) == 0
    }

    /// Entries of a database that have a deadline.
    pub fn len_with_deadline(&self, database: Database) -> usize {
        self.sizes[database.0].with_deadline.load(Ordering::Relaxed)
    }

    /// Bytes of all entries: keys, values and overhead.
    pub fn used_bytes(&self) -> u64 {
        self.used_bytes.load(Ordering::Relaxed)
    }

    /// The limit that [`used_bytes`](Self::used_bytes) is held to.
    pub fn max_bytes(&self) -> Option<u64> {
        self.max_bytes
    }

    /// What happened so far. Locks one shard after another.
    pub fn stats(&self) -> Stats {
        let mut total = Stats::default();
        for shard in &self.shards {
            total += shard.lock().stats;
        }
        total
    }

    /// Starts the counts of [`stats`](Self::stats) again from zero.
    pub fn reset_stats(&self) {
        for shard in &self.shards {
            shard.lock().stats = Stats::default();
        }
    }

    pub(super) fn hash(&self, key: &[u8]) -> u64 {
        self.hasher.hash_one(key)
    }

    pub(super) fn shard_of(&self, hash: u64) -> usize {
        // The map inside takes its bucket from the low bits and its tag from the top seven; bits 32
        // and up are left for the choice of the shard.
        (hash >> 32) as usize & (self.shards_per_database - 1)
    }

    fn check_fits(&self, needed_bytes: u64) -> Result<(), StoreError> {
        match self.max_bytes {
            Some(max_bytes) if needed_bytes > max_bytes => Err(StoreError::TooLarge {
                needed_bytes,
                max_bytes,
            }),
            _ => Ok(()),
        }
    }

    /// Panics unless all kept sums agree with the entries. Walks everything.
    #[cfg(test)]
    pub(super) fn validate(&self) {
        for database in self.databases() {
            let (mut entries, mut with_deadline) = (0, 0);
            for index in 0..self.shards_per_database {
                let shard = self.lock(database, index);
                shard.validate();
                entries += shard.map.len();
                with_deadline += shard.with_deadline;
            }
            assert_eq!(self.len(database), entries);
            assert_eq!(self.len_with_deadline(database), with_deadline);
        }
        let bytes: u64 = self.shards.iter().map(|shard| shard.lock().bytes).sum();
        assert_eq!(self.used_bytes(), bytes);
    }
}
