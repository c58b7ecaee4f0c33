//! Locking shards: one, or several in an order that cannot deadlock.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;

use parking_lot::MutexGuard;

use super::shard::Shard;
use super::store::ByteStore;

impl ByteStore {
    pub(super) fn lock(&self, index: usize) -> LockedShard<'_> {
        LockedShard {
            store: self,
            index,
            guard: Some(self.shards[index].lock()),
        }
    }

    /// Locks all these shards, in ascending order so that two callers cannot wait for each other.
    pub(super) fn lock_all(&self, indices: impl Iterator<Item = usize>) -> LockedShards<'_> {
        let mut indices: Vec<_> = indices.collect();
        indices.sort_unstable();
        indices.dedup();
        let locked = indices.into_iter().map(|index| self.lock(index)).collect();
        LockedShards(locked)
    }
}

/// A locked shard that frees what was removed only when it has been released.
pub(super) struct LockedShard<'a> {
    store: &'a ByteStore,
    index: usize,
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
        let (known, weight) = (&self.store.weights[self.index], shard.weight());
        // Compared first, so that reads do not write what other loops read.
        if known.load(Ordering::Relaxed) != weight {
            known.store(weight, Ordering::Relaxed);
        }
        let removed = std::mem::take(&mut shard.removed);
        let given_up = std::mem::take(&mut shard.log.given_up);
        drop(shard);
        drop(removed);
        drop(given_up);
    }
}

/// Several locked shards, see [`ByteStore::lock_all`].
pub(super) struct LockedShards<'a>(Vec<LockedShard<'a>>);

impl LockedShards<'_> {
    /// A shard that was among those that were asked for.
    pub(super) fn at(&mut self, index: usize) -> &mut Shard {
        let position = self.0.binary_search_by_key(&index, |shard| shard.index);
        &mut self.0[position.expect("the shard was locked")]
    }
}
