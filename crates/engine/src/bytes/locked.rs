//! Locking shards: one, or several in an order that cannot deadlock.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;

use parking_lot::MutexGuard;

use super::shard::Shard;
use super::store::{ByteStore, Database};

impl ByteStore {
    pub(super) fn lock(&self, database: Database, index: usize) -> LockedShard<'_> {
        debug_assert!(index < self.shards_per_database);
        let guard = self.shards[database.0 * self.shards_per_database + index].lock();
        LockedShard {
            store: self,
            database,
            index,
            bytes: guard.bytes,
            entries: guard.map.len(),
            with_deadline: guard.with_deadline,
            guard: Some(guard),
        }
    }

    /// Locks the shards of all these hashes, in ascending order so that two callers cannot wait for
    /// each other.
    pub(super) fn lock_all(
        &self,
        database: Database,
        hashes: impl Iterator<Item = u64>,
    ) -> LockedShards<'_> {
        let mut indices: Vec<_> = hashes.map(|hash| self.shard_of(hash)).collect();
        indices.sort_unstable();
        indices.dedup();
        let locked = indices
            .into_iter()
            .map(|index| self.lock(database, index))
            .collect();
        LockedShards {
            store: self,
            locked,
        }
    }
}

/// A locked shard that brings the store's sums up to date when it is released, and frees what was
/// removed only after that.
pub(super) struct LockedShard<'a> {
    store: &'a ByteStore,
    database: Database,
    index: usize,
    bytes: u64,
    entries: usize,
    with_deadline: usize,
    /// Taken by `drop` only.
    guard: Option<MutexGuard<'a, Shard>>,
}

impl Deref for LockedShard<'_> {
    type Target = Shard;

    fn deref(&self) -> &Shard {
        self.guard.as_ref().expect("locked until dropped")
    }
}

impl DerefMut for LockedShard<'_> {
    fn deref_mut(&mut self) -> &mut Shard {
        self.guard.as_mut().expect("locked until dropped")
    }
}

impl Drop for LockedShard<'_> {
    fn drop(&mut self) {
        let Some(mut shard) = self.guard.take() else {
            return;
        };
        let size = &self.store.sizes[self.database.0];
        // Wrapping: a difference that is negative is added as its two's complement. The sums are
        // changed under the lock, so each stays equal to what the shards hold.
        if shard.bytes != self.bytes {
            let difference = shard.bytes.wrapping_sub(self.bytes);
            self.store
                .used_bytes
                .fetch_add(difference, Ordering::Relaxed);
        }
        if shard.map.len() != self.entries {
            let difference = shard.map.len().wrapping_sub(self.entries);
            size.entries.fetch_add(difference, Ordering::Relaxed);
        }
        if shard.with_deadline != self.with_deadline {
            let difference = shard.with_deadline.wrapping_sub(self.with_deadline);
            size.with_deadline.fetch_add(difference, Ordering::Relaxed);
        }
        let removed = std::mem::take(&mut shard.removed);
        drop(shard);
        drop(removed);
    }
}

/// Several locked shards of one database, see [`ByteStore::lock_all`].
pub(super) struct LockedShards<'a> {
    store: &'a ByteStore,
    locked: Vec<LockedShard<'a>>,
}

impl LockedShards<'_> {
    /// The shard of a key's hash, which was among those that were asked for.
    pub(super) fn of(&mut self, hash: u64) -> &mut Shard {
        let index = self.store.shard_of(hash);
        let position = self
            .locked
            .binary_search_by_key(&index, |shard| shard.index)
            .expect("every hash's shard was locked");
        &mut self.locked[position]
    }
}
