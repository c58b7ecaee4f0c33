//! What the handles of a cache share: the shards, the budget over all of them, and the time.

#![allow(
    unsafe_code,
    reason = "shards are reached without a bounds check on each hit"
)]

use std::hash::{BuildHasher, Hash as StdHash};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::budget::{Amount, Budget};
use super::builder::Weigher;
use super::hasher::KeyHash;
use super::node::{IdleTime, Node};
use super::retire::{Panic, pass_on};
use super::shard::{Moment, Shard};
use super::stats::{CacheStats, Events};
use super::weight::Weight;
use crate::clock::{self, Clock, Millis, NEVER, NextTick, Ticked, to_millis};
use crate::index::Hash;
use crate::reclaim::{self, CounterId, Counts};

/// A shard has at least so many entries, if the bound tells: the policy judges entries by
/// comparing them with others, and needs some to compare.
const MIN_SHARD_ENTRIES: u64 = 512;

/// The same for a cache that is bounded in bytes, of entries nobody knows the size of.
const MIN_SHARD_BYTES: u64 = 1 << 20;

/// Shards for each core: two threads seldom want the same one.
const SHARDS_PER_CORE: usize = 4;

const MAX_SHARDS: usize = 1024;

/// Entries that an expiry sweep looks at before it lets others have the lock.
const SWEEP_STEP: usize = 256;

/// How long entries live.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Times {
    pub(super) time_to_live: Option<Duration>,
    pub(super) time_to_idle: Option<Duration>,
    pub(super) jitter: f64,
}

/// Fields that a hit reads come first; nothing writes to them.
pub(super) struct Inner<K, V> {
    key_hash: KeyHash,
    /// The number of shards, a power of two, less one.
    shard_mask: u32,
    pub(super) shard_bits: u32,
    pub(super) shards: Box<[Shard<K, V>]>,
    pub(super) idle: Option<IdleTime>,
    clock: Clock,
    pub(super) counters: CounterId,
    counters_before: Counts,
    weigher: Option<Box<Weigher<K, V>>>,
    jitter: f64,
    /// Of entries that are stored from now on.
    time_to_live: AtomicU64,
    pub(super) budget: Budget,
}

impl<K, V> Inner<K, V> {
    pub(super) fn new(
        budget: Budget,
        weigher: Option<Box<Weigher<K, V>>>,
        times: Times,
        clock: Clock,
        cores: usize,
    ) -> Self {
        let by_entries = budget.max_entries() / MIN_SHARD_ENTRIES;
        let useful = by_entries.min(budget.max_bytes() / MIN_SHARD_BYTES);
        let most = (cores * SHARDS_PER_CORE)
            .next_power_of_two()
            .min(MAX_SHARDS);
        let shards: u32 = 1 << useful.clamp(1, most as u64).ilog2();
        let (counters, counters_before) = reclaim::global().take_counters();
        Inner {
            key_hash: KeyHash::default(),
            shard_mask: shards - 1,
            shard_bits: shards.ilog2(),
            shards: (0..shards).map(|_| Shard::new()).collect(),
            idle: times
                .time_to_idle
                .map(|idle| IdleTime::new(to_millis(idle))),
            clock,
            counters,
            counters_before,
            weigher,
            jitter: times.jitter,
            time_to_live: AtomicU64::new(times.time_to_live.map_or(NEVER, to_millis)),
            budget,
        }
    }

    #[inline(always)]
    pub(super) fn locate<Q: StdHash + ?Sized>(&self, key: &Q) -> (usize, Hash) {
        Hash::split(self.key_hash.hash_one(key), self.shard_mask)
    }

    #[inline(always)]
    pub(super) fn shard(&self, index: usize) -> &Shard<K, V> {
        debug_assert!(index < self.shards.len());
        // SAFETY: callers pass what `locate` said, which is masked, or count up to the length.
        unsafe { self.shards.get_unchecked(index) }
    }

    #[inline(always)]
    pub(super) fn now(&self) -> Millis {
        self.clock.now()
    }

    pub(super) fn moment(&self) -> Moment {
        Moment {
            now: self.clock.now(),
            idle: self.idle,
        }
    }

    /// The moment for an entry that is stored, and when it expires.
    pub(super) fn moment_and_deadline(&self, time_to_live: Millis) -> (Moment, Millis) {
        if time_to_live == NEVER && self.idle.is_none() {
            return (self.moment(), NEVER);
        }
        let now = self.clock.now_for_deadline();
        let moment = Moment {
            now,
            idle: self.idle,
        };
        let mut live = time_to_live;
        if self.jitter > 0.0 && live != NEVER {
            live -= (live as f64 * self.jitter * fastrand::f64()) as u64;
        }
        (moment, now.saturating_add(live))
    }

    /// [`NEVER`] if entries stay.
    pub(super) fn time_to_live(&self) -> Millis {
        self.time_to_live.load(Ordering::Relaxed)
    }

    pub(super) fn set_time_to_live(&self, time_to_live: Option<Duration>) {
        let millis = time_to_live.map_or(NEVER, to_millis);
        self.time_to_live.store(millis, Ordering::Relaxed);
    }

    /// What an entry counts for; none if the cache could not hold it.
    #[inline]
    pub(super) fn weigh(&self, key: &K, value: &V) -> Option<Weight> {
        let weight = if self.budget.counts_bytes() {
            let heap = self.weigher.as_ref().map_or(0, |weigh| weigh(key, value));
            Weight::from_bytes(heap.saturating_add(entry_overhead::<K, V>()))
        } else {
            Weight::ONE
        };
        self.budget.can_hold(weight).then_some(weight)
    }

    /// Takes out what is expired in a shard, in steps between which others may have the lock.
    pub(super) fn expire(&self, index: usize) -> Option<Panic> {
        let mut panic = None;
        let shard = self.shard(index);
        loop {
            if shard.due() > self.now() {
                return panic;
            }
            let mut locked = shard.lock();
            let before = shard.size();
            // Read under the lock: an entry that was stored meanwhile is not judged by a time before that,
            // also where a clock went backwards.
            let is_all = locked.expire(self.moment(), SWEEP_STEP);
            let ready = locked.take_ready();
            let unsettled = self.finish(index, before, locked, None);
            panic = panic.or(self.settle(index, &unsettled, ready));
            if is_all {
                return panic;
            }
        }
    }

    /// Expires and frees what can be in all shards.
    pub(super) fn reclaim(&self) -> Option<Panic> {
        let mut panic = None;
        for index in 0..self.shards.len() {
            panic = panic.or(self.expire(index));
        }
        panic.or(self.free_all())
    }

    pub(super) fn clear(&self) -> Option<Panic> {
        let mut panic = None;
        for (index, shard) in self.shards.iter().enumerate() {
            let mut locked = shard.lock();
            let before = shard.size();
            locked.clear();
            let ready = locked.take_ready();
            let unsettled = self.finish(index, before, locked, None);
            panic = panic.or(self.settle(index, &unsettled, ready));
        }
        panic.or(self.free_all())
    }

    pub(super) fn set_max_entries(&self, max_entries: u64) -> Option<Panic> {
        self.budget.set_max_entries(max_entries);
        self.keep_budget()
    }

    pub(super) fn set_max_bytes(&self, max_bytes: u64) -> Option<Panic> {
        self.budget.set_max_bytes(max_bytes);
        self.keep_budget()
    }

    pub(super) fn count_too_heavy(&self, shard: &Shard<K, V>) {
        shard.lock().state.events.too_heavy += 1;
    }

    /// Entries in all shards and their weight.
    pub(super) fn size(&self) -> Amount {
        let mut all = Amount::NONE;
        for size in self.shards.iter().map(Shard::size) {
            all.entries += size.entries;
            all.weight += size.weight;
        }
        all
    }

    pub(super) fn stats(&self) -> CacheStats {
        let counts = reclaim::global().counts(self.counters);
        let mut events = Events::default();
        for shard in &self.shards {
            events += shard.lock().state.events;
        }
        let size = self.size();
        CacheStats {
            hits: counts.hits.wrapping_sub(self.counters_before.hits),
            misses: counts.misses.wrapping_sub(self.counters_before.misses),
            inserts: events.inserts,
            updates: events.updates,
            evictions: events.evictions,
            expirations: events.expirations,
            removals: events.removals,
            too_heavy: events.too_heavy,
            entries: size.entries,
            weight: size.weight,
        }
    }
}

impl<K: Send + Sync + 'static, V: Send + Sync + 'static> Inner<K, V> {
    /// Has the ticker look after the cache as long as it lives.
    pub(super) fn watch(inner: &Arc<Self>) {
        let weak: std::sync::Weak<dyn Ticked> = Arc::<Self>::downgrade(inner);
        clock::watch(weak);
    }
}

impl<K: Send + Sync, V: Send + Sync> Ticked for Inner<K, V> {
    fn tick(&self) -> NextTick {
        pass_on(self.reclaim());
        let mut next = NextTick::Idle;
        for shard in &self.shards {
            next = next.min(match shard.due() {
                _ if shard.has_retired() => NextTick::Soon,
                NEVER => NextTick::Idle,
                // A use must be stamped with the right time; a manual clock moves when it likes.
                _ if self.idle.is_some() || self.clock.is_manual() => NextTick::Soon,
                due => NextTick::At(due),
            });
        }
        next
    }
}

impl<K, V> Drop for Inner<K, V> {
    fn drop(&mut self) {
        reclaim::global().give_back_counters(self.counters);
    }
}

/// Bytes that an entry costs beside the heap that its key and value own: its node, its share of the
/// index (32 bytes for five entries), its expiry hint and what the policy remembers of it.
pub(super) const fn entry_overhead<K, V>() -> u64 {
    const INDEX: usize = 7;
    const HINT: usize = 4;
    const POLICY: usize = 5;
    (size_of::<Node<K, V>>() + INDEX + HINT + POLICY) as u64
}
