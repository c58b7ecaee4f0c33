//! The typed in-process cache.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//! use hotcopy_engine::cache::Cache;
//!
//! let cache: Cache<String, Arc<[u8]>> = Cache::builder()
//!     .max_entries(10_000)
//!     .time_to_live(Duration::from_secs(60))
//!     .build();
//! cache.insert("config".to_string(), Arc::from(*b"a=1"));
//! let config = cache.get("config").expect("just inserted");
//! assert_eq!(&config[..], b"a=1");
//! ```
//!
//! # Cost
//!
//! A hit takes no lock and writes nothing that another hit reads: it marks its own thread's record,
//! looks into one cache line of the index and one or two of the entry, publishes the entry's address in its own
//! thread's record, and counts itself there. Deadlines, eviction and statistics are always on; there
//! is no faster mode without them. A read by `get` borrows; [`Cache::get_cloned`] adds the clone.
//!
//! # Memory
//!
//! An entry takes the size of its key and value, 32 bytes of its node and links, 6 to 8 of the index, 4 for its deadline and
//! some 4 for what the policy remembers. A cache that is bounded in bytes counts all of it. Nodes come
//! in chunks of 128, which stay with the cache until it is dropped.
//!
//! # Time
//!
//! Entries expire after a time to live (of the cache or their own), after an idle time, or both, whichever is first.
//! Expired entries are never returned; they are reclaimed within some ticks, also when nobody uses the cache.
//! Times are exact to one [`TICK`](crate::clock::TICK), which is 4 ms.
//!
//! # Code of yours that panics, and other mishaps
//!
//! `Hash`, `Eq`, the weigher and `Drop` run under no lock, so a panic in one of them reaches the caller
//! and leaves the cache as it was before, or after. When `Drop` of an entry panics, the entries that are freed
//! with it are dropped all the same, and the panic comes out of the call that freed them: any
//! call that writes, or the ticker, which ignores it.
//!
//! All of them may use the cache they are called by. Only an `Eq` that removes or adds entries of the very
//! hash it is asked about, at each comparison, leaves no answer to give: the call that writes panics.
//!
//! An entry that is heavier than the whole cache is not stored, and the one it was to replace is removed;
//! [`CacheStats::too_heavy`] counts it. An entry is weighed once, when it is stored, so a weigher that
//! answers differently every time confuses nobody; the engine's own share is never zero.

mod budget;
mod builder;
mod due;
mod hasher;
mod inner;
mod iter;
mod links;
mod locked;
mod lookup;
mod node;
mod reference;
mod retire;
mod retired;
mod settle;
mod shard;
mod slab;
mod stats;
#[cfg(test)]
mod tests;
#[cfg(any(test, fuzzing))]
mod validate;
mod weight;

use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

pub use builder::CacheBuilder;
use inner::Inner;
pub use iter::Iter;
use locked::Terms;
use node::Node;
pub use reference::Ref;
use retire::pass_on;
use shard::{Cause, NotAtOnce};
pub use stats::CacheStats;

use crate::clock::{Millis, to_millis};
use crate::policy;
use crate::reclaim::{self, Pin};

/// A bounded map for many threads, whose entries may expire. See the [module](self).
///
/// Cheap to clone: clones are handles of the same cache.
pub struct Cache<K, V> {
    inner: Arc<Inner<K, V>>,
}

impl<K, V> Clone for Cache<K, V> {
    fn clone(&self) -> Self {
        Cache {
            inner: self.inner.clone(),
        }
    }
}

impl<K, V> Cache<K, V> {
    /// Sets up a cache.
    pub fn builder() -> CacheBuilder<K, V> {
        CacheBuilder::new()
    }

    /// Entries in the cache, with those that have expired and were not yet reclaimed.
    pub fn len(&self) -> usize {
        self.inner.size().entries as usize
    }

    /// Whether the cache holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The weight of the entries in the cache: bytes where it is bounded in bytes, else their number.
    pub fn weight(&self) -> u64 {
        self.inner.size().weight
    }

    /// What happened so far. Adds up the counts of all threads and takes each shard's lock once, so
    /// it costs microseconds; nothing that reads is slowed down.
    pub fn stats(&self) -> CacheStats {
        self.inner.stats()
    }

    /// Walks over all entries that have not expired. Takes no lock. Entries that stay are met once,
    /// entries that come or go meanwhile may be met or not. Counts no hits.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter::new(&self.inner)
    }

    /// Removes everything. Borrows keep what they have.
    pub fn clear(&self) {
        pass_on(self.inner.clear());
    }

    /// Changes the bound on entries, also of a cache that had none. Evicts at once what is too much.
    pub fn set_max_entries(&self, max_entries: usize) {
        pass_on(self.inner.set_max_entries(max_entries as u64));
    }

    /// Changes the bound on bytes. Evicts at once what is too much. False, and nothing changes, if the
    /// cache was built without one: its entries were not weighed.
    pub fn set_max_bytes(&self, max_bytes: u64) -> bool {
        let counts_bytes = self.inner.budget.counts_bytes();
        if counts_bytes {
            pass_on(self.inner.set_max_bytes(max_bytes));
        }
        counts_bytes
    }

    /// Changes the time to live of entries that are stored from now on.
    pub fn set_time_to_live(&self, time_to_live: Option<Duration>) {
        self.inner.set_time_to_live(time_to_live);
    }

    /// Reclaims now what has expired or waits to be freed, instead of within some ticks.
    pub fn reclaim(&self) {
        pass_on(self.inner.reclaim());
    }
}

impl<K: Hash + Eq, V> Cache<K, V> {
    /// Borrows the value of a key, and counts a hit or a miss.
    ///
    /// Costs some 15 to 20 ns for a string key on a 2.1 GHz core, however many threads read.
    #[inline(always)]
    pub fn get<Q>(&self, key: &Q) -> Option<Ref<'_, K, V>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let inner = &*self.inner;
        let (shard, hash) = inner.locate(key);
        let shard = inner.shard(shard);
        let pin = reclaim::pin();
        let node = match shard.find_at_once(&pin, hash, |stored| stored.borrow() == key) {
            Ok(at_once) => at_once,
            Err(NotAtOnce) => self.find(&pin, key),
        };
        let node = node.filter(|node| !node.is_expired(inner.idle.as_ref(), inner.now()));
        let Some(node) = node else {
            pin.counters().count_miss(inner.counters);
            return None;
        };
        if let Some(idle) = inner.idle {
            node.stamp_use(idle, inner.now());
        }
        policy::touch(&node.mark);
        pin.counters().count_hit(inner.counters);
        Some(Ref::new(node, &pin))
    }

    /// Clones the value of a key, and counts a hit or a miss.
    #[inline]
    pub fn get_cloned<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
        V: Clone,
    {
        self.get(key).map(|entry| entry.value().clone())
    }

    /// [`get`](Self::get) for several keys, in their order.
    pub fn get_many<'k, Q>(
        &self,
        keys: impl IntoIterator<Item = &'k Q>,
    ) -> Vec<Option<Ref<'_, K, V>>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized + 'k,
    {
        keys.into_iter().map(|key| self.get(key)).collect()
    }

    /// Whether the cache has a live entry for this key. Counts neither a hit nor a miss nor a use.
    pub fn contains<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let inner = &*self.inner;
        let (shard, hash) = inner.locate(key);
        reclaim::pinned(|pin| {
            inner
                .shard(shard)
                .find(pin, hash, |stored| stored.borrow() == key)
                .is_some_and(|node| !node.is_expired(inner.idle.as_ref(), inner.now()))
        })
    }

    /// Stores an entry, in place of the one the key may have. Others are evicted if there is no room.
    pub fn insert(&self, key: K, value: V) {
        self.store(key, value, self.inner.time_to_live());
    }

    /// Stores an entry with a time to live of its own. One of zero removes the entry.
    pub fn insert_with_ttl(&self, key: K, value: V, time_to_live: Duration) {
        self.store(key, value, to_millis(time_to_live));
    }

    /// [`insert`](Self::insert) for several entries, one after another.
    pub fn insert_many(&self, entries: impl IntoIterator<Item = (K, V)>) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }

    /// Removes the entry of a key and borrows it. Borrows of it that exist stay as they are.
    pub fn remove<Q>(&self, key: &Q) -> Option<Ref<'_, K, V>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let inner = &*self.inner;
        let (index, hash) = inner.locate(key);
        let shard = inner.shard(index);
        let (removed, unsettled, ready) = reclaim::pinned(|pin| {
            let (mut locked, found) =
                shard.lock_and_find(pin, hash, |stored| stored.borrow() == key);
            let (slot, at) = found?;
            let before = shard.size();
            let node = locked.node(slot);
            let moment = inner.moment();
            let is_expired = node.is_expired(moment.idle.as_ref(), moment.now);
            let removed = (!is_expired).then(|| Ref::new(node, pin));
            let cause = if is_expired {
                Cause::Expired
            } else {
                Cause::Removed
            };
            locked.remove(slot, Some(at), cause);
            let ready = locked.take_ready();
            let unsettled = inner.finish(index, before, locked, None);
            Some((removed, unsettled, ready))
        })?;
        inner.settle_and_pass_on(index, &unsettled, None, ready);
        removed
    }

    /// Changes how long a live entry still lives. False if there is none.
    pub fn expire_after<Q>(&self, key: &Q, time_to_live: Duration) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let inner = &*self.inner;
        let (index, hash) = inner.locate(key);
        let shard = inner.shard(index);
        reclaim::pinned(|pin| {
            let (mut locked, found) =
                shard.lock_and_find(pin, hash, |stored| stored.borrow() == key);
            let now = inner.moment();
            let live = found
                .map(|(slot, _)| slot)
                .filter(|slot| !locked.node(*slot).is_expired(now.idle.as_ref(), now.now));
            if let Some(slot) = live {
                let (moment, deadline) = inner.moment_and_deadline(to_millis(time_to_live));
                locked.set_deadline(slot, deadline, moment);
            }
            live.is_some()
        })
    }

    /// Hashes the key again, so that a hit need not remember the hash.
    #[cold]
    #[inline(never)]
    fn find<Q>(&self, pin: &Pin<'_>, key: &Q) -> Option<&Node<K, V>>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let (shard, hash) = self.inner.locate(key);
        let shard = self.inner.shard(shard);
        shard.find(pin, hash, |stored| stored.borrow() == key)
    }

    fn store(&self, key: K, value: V, time_to_live: Millis) {
        let inner = &*self.inner;
        let (index, hash) = inner.locate(&key);
        let shard = inner.shard(index);
        let weight = inner.weigh(&key, &value);
        let (Some(weight), 1..) = (weight, time_to_live) else {
            if weight.is_none() {
                inner.count_too_heavy(shard);
            }
            self.remove(&key);
            return;
        };
        let (moment, deadline) = inner.moment_and_deadline(time_to_live);
        let pin = reclaim::pin();
        let (mut locked, old) = shard.lock_and_find(&pin, hash, |stored| *stored == key);
        let Some((slot, ready)) = locked.new_slot() else {
            // There are four billion slots for each shard. The entry is dropped without the lock.
            drop(locked);
            return;
        };
        let before = shard.size();
        let terms = Terms {
            hash,
            weight,
            deadline,
        };
        let has_room = || !inner.budget.is_over(weight.as_one_entry());
        let slot = locked.store(slot, (key, value, terms), old, moment, has_room);
        let unsettled = inner.finish(index, before, locked, Some(slot));
        drop(pin);
        // The bounds may have been lowered since the entry was weighed.
        let kept = inner.budget.can_hold(weight).then_some(slot);
        inner.settle_and_pass_on(index, &unsettled, kept, ready);
    }
}

impl<K, V> fmt::Debug for Cache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("entries", &self.len())
            .field("weight", &self.weight())
            .finish_non_exhaustive()
    }
}
