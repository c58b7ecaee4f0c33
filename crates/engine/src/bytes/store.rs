//! The store: which shard a key belongs to, the operations, and the limit over all shards.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::builder::Prepared;
use super::key::KeyHasher;
use super::pool::Pool;
use super::segment::MAX_VALUE_BYTES as MAX_ITEM_BYTES;
use super::shard::{MAX_DATABASES, NewEntry, Shard};
use super::stats::Sizes;
use super::weight::{self, Layout};
use super::{
    Change, Condition, Current, DeadlineChange, Payload, SetOptions, SetOutcome, Stats, StoreError,
    UnixMillis, Value,
};

/// A scan's cursor holds the shard in eight bits.
pub(super) const MAX_SHARDS: usize = 256;

/// How a store is laid out and bounded.
#[derive(Debug, Clone)]
pub struct StoreConfig {
    /// Bound on the memory of the store, see [`ByteStore::used_bytes`]. None: no bound.
    pub max_bytes: Option<u64>,
    /// Numbered databases, from one to 128.
    pub databases: usize,
    /// Shards; rounded up to a power of two, at most 256. A store with a small limit has fewer.
    pub shards: usize,
    /// Longest key and longest value; never more than 2^32 - 1.
    pub max_item_bytes: usize,
}

impl Default for StoreConfig {
    fn default() -> Self {
        StoreConfig {
            max_bytes: None,
            databases: 16,
            shards: 16,
            max_item_bytes: MAX_ITEM_BYTES,
        }
    }
}

/// A numbered database of a store, see [`ByteStore::database`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Database(pub(super) usize);

impl Database {
    /// The one with the number zero, which every store has.
    pub const FIRST: Database = Database(0);

    /// The database's number.
    pub fn index(self) -> usize {
        self.0
    }
}

/// A sharded map of byte strings with deadlines and a bound on memory. See the [module](super).
#[derive(Debug)]
pub struct ByteStore {
    pub(super) hasher: KeyHasher,
    pub(super) shards: Arc<[Mutex<Shard>]>,
    /// What evicting everything in a shard would free, as of when it was last unlocked.
    pub(super) weights: Box<[AtomicU64]>,
    pub(super) sizes: Arc<Sizes>,
    pub(super) pool: Arc<Pool>,
    pub(super) max_item_bytes: usize,
    /// What a shard takes beside its entries, see [`weight::of_shard`].
    pub(super) shard_bytes: AtomicU64,
}

/// Whether a write answers the value that was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Read,
    Other,
}

/// A [`Change`] of which all is made that can be made without the lock.
enum Decision<'a> {
    Keep,
    SetDeadline(Option<UnixMillis>),
    Store {
        value: Prepared<'a>,
        flags: u32,
        deadline: Option<UnixMillis>,
    },
}

impl ByteStore {
    /// An empty store.
    pub fn new(config: &StoreConfig) -> Self {
        let layout = Layout::new(config.max_bytes, config.shards.min(MAX_SHARDS));
        let max_bytes = config.max_bytes.unwrap_or(u64::MAX);
        let pool = Pool::new(max_bytes, layout.kept_blocks);
        let sizes = Arc::new(Sizes::new(config.databases.clamp(1, MAX_DATABASES)));
        let hasher = KeyHasher::new(layout.shards);
        let shard = || Shard::new(&pool, layout, hasher.clone(), Arc::clone(&sizes));
        let shards = std::iter::repeat_with(|| Mutex::new(shard()));
        ByteStore {
            shards: shards.take(layout.shards).collect(),
            weights: (0..layout.shards).map(|_| AtomicU64::new(0)).collect(),
            hasher,
            sizes,
            pool,
            max_item_bytes: config.max_item_bytes.min(MAX_ITEM_BYTES),
            shard_bytes: AtomicU64::new(weight::of_shard(layout)),
        }
    }

    /// The database with this number, if there is one.
    pub fn database(&self, index: usize) -> Option<Database> {
        (index < self.sizes.databases()).then_some(Database(index))
    }

    /// All databases.
    pub fn databases(&self) -> impl Iterator<Item = Database> + use<> {
        (0..self.sizes.databases()).map(Database)
    }

    /// Writes a value if the condition holds.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] if key and value alone exceed the limit; nothing has changed then.
    pub fn set<'a>(
        &self,
        database: Database,
        key: &[u8],
        value: impl Into<Payload<'a>>,
        options: SetOptions,
        now: UnixMillis,
    ) -> Result<SetOutcome, StoreError> {
        let value = value.into();
        self.check_entry(key.len(), value.len())?;
        let value = self.prepare(value, || self.make_room_for_block());
        let use_of_entry = if options.is_read {
            Use::Read
        } else {
            Use::Other
        };
        self.apply(database, key, now, use_of_entry, |current| {
            let stored = match options.condition {
                Condition::Always => true,
                Condition::IfAbsent => current.is_none(),
                Condition::IfPresent => current.is_some(),
            };
            let previous = current.filter(|_| options.is_read).map(|it| it.value());
            let outcome = SetOutcome { stored, previous };
            if !stored {
                return Ok((Decision::Keep, outcome));
            }
            let deadline = match options.deadline {
                DeadlineChange::Clear => None,
                DeadlineChange::Keep => current.and_then(|it| it.deadline()),
                DeadlineChange::At(at) => Some(at),
            };
            let flags = options.flags;
            let store = Decision::Store {
                value,
                flags,
                deadline,
            };
            Ok((store, outcome))
        })
    }

    /// Shows the entry to `decide` under the shard's lock and does what it says, as one step.
    /// Counted neither as a hit nor as a miss.
    ///
    /// `decide` must be short and must not use the store: its shard is locked.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] if a value to be stored exceeds the limit; nothing has changed then.
    pub fn update<'a, R>(
        &self,
        database: Database,
        key: &[u8],
        now: UnixMillis,
        decide: impl FnOnce(Option<Current<'_>>) -> (Change<'a>, R),
    ) -> Result<R, StoreError> {
        self.apply_change(database, key, now, Use::Other, decide)
    }

    /// [`update`](Self::update) that also reads the entry: counted as a hit or a miss and as a use.
    ///
    /// # Errors
    /// Those of [`update`](Self::update).
    pub fn read_and_update<'a, R>(
        &self,
        database: Database,
        key: &[u8],
        now: UnixMillis,
        decide: impl FnOnce(Option<Current<'_>>) -> (Change<'a>, R),
    ) -> Result<R, StoreError> {
        self.apply_change(database, key, now, Use::Read, decide)
    }

    fn apply_change<'a, R>(
        &self,
        database: Database,
        key: &[u8],
        now: UnixMillis,
        use_of_entry: Use,
        decide: impl FnOnce(Option<Current<'_>>) -> (Change<'a>, R),
    ) -> Result<R, StoreError> {
        self.apply(database, key, now, use_of_entry, |current| {
            let (change, result) = decide(current);
            let decision = match change {
                Change::Keep => Decision::Keep,
                Change::Remove => Decision::SetDeadline(Some(now)),
                Change::SetDeadline(deadline) => Decision::SetDeadline(deadline),
                Change::Store {
                    value,
                    flags,
                    deadline,
                } => {
                    self.check_entry(key.len(), value.len())?;
                    Decision::Store {
                        // Others cannot be evicted for it here: this shard is locked.
                        value: self.prepare(value, || {}),
                        flags,
                        deadline,
                    }
                }
            };
            Ok((decision, result))
        })
    }

    fn apply<'a, R>(
        &self,
        database: Database,
        key: &[u8],
        now: UnixMillis,
        use_of_entry: Use,
        decide: impl FnOnce(Option<Current<'_>>) -> Result<(Decision<'a>, R), StoreError>,
    ) -> Result<R, StoreError> {
        let (index, hash) = self.hasher.hash(key);
        let mut shard = self.lock(index);
        shard.make_numbers(now);
        let found = shard.find(database.0, hash, key, now);
        if use_of_entry == Use::Read {
            shard.count_read(found);
        }
        let current = found.map(|found| shard.current(found));
        let (decision, result) = decide(current)?;
        let is_past = |deadline: Option<UnixMillis>| deadline.is_some_and(|at| at <= now);
        match decision {
            Decision::Keep => return Ok(result),
            Decision::SetDeadline(deadline) | Decision::Store { deadline, .. }
                if is_past(deadline) =>
            {
                found.into_iter().for_each(|found| shard.remove(found));
            }
            Decision::SetDeadline(deadline) => {
                let found = found.into_iter();
                found.for_each(|found| shard.set_deadline(found, deadline));
            }
            Decision::Store {
                value,
                flags,
                deadline,
            } => {
                let entry = NewEntry {
                    key: self.prepare(key.into(), || {}),
                    kept_hash: self.hasher.kept_hash(key),
                    value,
                    flags,
                    deadline,
                };
                shard.store(database.0, hash, &entry, found);
            }
        }
        shard.tidy();
        drop(shard);
        self.evict_to_limit(0, index, now, &|in_database, candidate| {
            in_database == database && candidate == key
        });
        Ok(result)
    }

    /// Removes an entry and returns its value.
    pub fn remove(&self, database: Database, key: &[u8], now: UnixMillis) -> Option<Value> {
        let (index, hash) = self.hasher.hash(key);
        let mut shard = self.lock(index);
        let found = shard.find(database.0, hash, key, now)?;
        let value = shard.current(found).value();
        shard.remove(found);
        shard.tidy();
        Some(value)
    }

    /// Entries in a database, including expired ones that were not met yet.
    pub fn len(&self, database: Database) -> usize {
        self.sizes.entries(database.0)
    }

    /// Whether a database holds nothing.
    pub fn is_empty(&self, database: Database) -> bool {
        self.len(database) == 0
    }

    /// Entries of a database that have a deadline.
    pub fn len_with_deadline(&self, database: Database) -> usize {
        self.sizes.with_deadline(database.0)
    }

    /// What happened so far. Locks one shard after another.
    pub fn stats(&self) -> Stats {
        let mut total = Stats::default();
        for shard in &*self.shards {
            total += shard.lock().stats;
        }
        total
    }

    /// Starts the counts of [`stats`](Self::stats) again from zero.
    pub fn reset_stats(&self) {
        for shard in &*self.shards {
            shard.lock().stats = Stats::default();
        }
    }

    pub(super) fn weight_of(&self, shard: usize) -> u64 {
        self.weights[shard].load(Ordering::Relaxed)
    }
}

impl Drop for ByteStore {
    fn drop(&mut self) {
        // Values that are still referred to free themselves when they are no more.
        self.pool.close();
    }
}
