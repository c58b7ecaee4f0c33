//! What the handles of a cache share: the shards, the budget over all of them, and the time.

#![allow(
    unsafe_code,
    reason = "shards are reached without a bounds check on each hit"
)]

use std::hash::{BuildHasher, Hash as StdHash};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use foldhash::fast::RandomState;

use super::builder::Weigher;
use super::node::{IdleTime, Node};
use super::retire::{MAX_BATCH, Panic, drop_each};
use super::shard::{Locked, Moment, Shard};
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

/// The part of a budget in bytes that may lie in entries that were taken out and wait for a batch
/// to be complete.
const RETIRED_SHARE: u64 = 64;

/// Entries that an expiry sweep looks at before it lets others have the lock.
const SWEEP_STEP: usize = 256;

/// What bounds a cache. Changed live.
pub(super) struct Limits {
    max_entries: AtomicU64,
    max_bytes: AtomicU64,
    counts_bytes: bool,
}

impl Limits {
    pub(super) fn new(max_entries: Option<u64>, max_bytes: Option<u64>) -> Self {
        Limits {
            max_entries: AtomicU64::new(max_entries.unwrap_or(u64::MAX)),
            max_bytes: AtomicU64::new(max_bytes.unwrap_or(u64::MAX)),
            counts_bytes: max_bytes.is_some(),
        }
    }
}

/// How long entries live.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Times {
    pub(super) time_to_live: Option<Duration>,
    pub(super) time_to_idle: Option<Duration>,
    pub(super) jitter: f64,
}

/// Sums over all shards, in what the limits count.
#[derive(Default)]
#[repr(align(128))]
struct Totals {
    entries: AtomicU64,
    weight: AtomicU64,
    /// Weight of what was taken out and is kept by a borrow. What waits for a grace period is not in it:
    /// to evict even more while a reader is interrupted would empty the cache and free nothing.
    borrowed: AtomicU64,
}

/// What is left to do after a change, without the lock.
#[must_use]
pub(super) struct Unsettled<K, V> {
    /// Entries to be dropped.
    ready: [Option<(K, V)>; 2],
    /// A batch of retired entries is complete.
    is_batch: bool,
    /// There are retired entries where there were none.
    is_first_retired: bool,
}

/// Fields that a hit reads come first; nothing writes to them.
pub(super) struct Inner<K, V> {
    hasher: RandomState,
    /// The number of shards, a power of two, less one.
    shard_mask: u32,
    pub(super) shards: Box<[Shard<K, V>]>,
    pub(super) idle: Option<IdleTime>,
    clock: Clock,
    pub(super) counters: CounterId,
    counters_before: Counts,
    weigher: Option<Box<Weigher<K, V>>>,
    jitter: f64,
    /// Of entries that are stored from now on.
    time_to_live: AtomicU64,
    limits: Limits,
    totals: Totals,
}

impl<K, V> Inner<K, V> {
    pub(super) fn new(
        limits: Limits,
        weigher: Option<Box<Weigher<K, V>>>,
        times: Times,
        clock: Clock,
        cores: usize,
    ) -> Self {
        let max_entries = limits.max_entries.load(Ordering::Relaxed);
        let max_bytes = limits.max_bytes.load(Ordering::Relaxed);
        let useful = (max_entries / MIN_SHARD_ENTRIES).min(max_bytes / MIN_SHARD_BYTES);
        let most = (cores * SHARDS_PER_CORE)
            .next_power_of_two()
            .min(MAX_SHARDS);
        let shards = 1 << useful.clamp(1, most as u64).ilog2();
        let (counters, counters_before) = reclaim::global().take_counters();
        Inner {
            hasher: RandomState::default(),
            shard_mask: shards - 1,
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
            limits,
            totals: Totals::default(),
        }
    }

    #[inline(always)]
    pub(super) fn locate<Q: StdHash + ?Sized>(&self, key: &Q) -> (usize, Hash) {
        Hash::split(self.hasher.hash_one(key), self.shard_mask)
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
    pub(super) fn weigh(&self, key: &K, value: &V) -> Option<Weight> {
        let weight = if self.limits.counts_bytes {
            let heap = self.weigher.as_ref().map_or(0, |weigh| weigh(key, value));
            Weight::from_bytes(heap.saturating_add(entry_overhead::<K, V>()))
        } else {
            Weight::ONE
        };
        self.can_hold(weight).then_some(weight)
    }

    /// The budget less what is kept for entries that wait to be freed.
    fn max_live_bytes(&self) -> u64 {
        let max_bytes = self.limits.max_bytes.load(Ordering::SeqCst);
        max_bytes - max_bytes / RETIRED_SHARE
    }

    /// Whether one more entry fits without anybody having to go.
    pub(super) fn has_room(&self, weight: Weight) -> bool {
        !self.is_over(1, weight.get() as i64)
    }

    /// Whether the cache could hold an entry if it held nothing else.
    pub(super) fn can_hold(&self, weight: Weight) -> bool {
        self.limits.max_entries.load(Ordering::SeqCst) > 0
            && (!self.limits.counts_bytes || weight.get() <= self.max_live_bytes())
    }

    /// Whether the entries there are, with `entries` and `weight` more, are too many.
    fn is_over(&self, entries: i64, weight: i64) -> bool {
        let totals = &self.totals;
        let entries = totals
            .entries
            .load(Ordering::SeqCst)
            .wrapping_add_signed(entries);
        if entries > self.limits.max_entries.load(Ordering::SeqCst) {
            return true;
        }
        if !self.limits.counts_bytes {
            return false;
        }
        let weight = totals
            .weight
            .load(Ordering::SeqCst)
            .wrapping_add_signed(weight);
        // Threads tell their changes in any order, so for a moment this may be less than nothing.
        let borrowed = totals.borrowed.load(Ordering::SeqCst) as i64;
        weight.saturating_add_signed(borrowed) > self.max_live_bytes()
    }

    /// Ends a change of a shard: evicts until the budget holds, tells the totals, unlocks. The entry
    /// in the slot `protected` of this shard stays. What is returned goes to [`settle`](Self::settle).
    pub(super) fn finish(
        &self,
        index: usize,
        before: (u64, u64),
        mut locked: Locked<'_, K, V>,
        protected: Option<u32>,
    ) -> Unsettled<K, V> {
        let shard = self.shard(index);
        let mut change;
        loop {
            change = (
                shard.size().entries().wrapping_sub(before.0) as i64,
                shard.size().weight().wrapping_sub(before.1) as i64,
            );
            let goes_on = self.is_over(change.0, change.1)
                && self.has_fair_share(shard, change)
                && locked.evict_one(protected);
            if !goes_on {
                break;
            }
        }
        self.add_to_totals(change);
        let is_batch = locked
            .state
            .retired
            .is_batch(shard.size().entries(), self.max_retired());
        let had_retired = shard.has_retired();
        // As many as a write takes out, so that the allocator gets one and gives one; two if they
        // have become many.
        let is_behind = locked.state.ready.len() > MAX_BATCH as usize;
        let first = locked.take_ready();
        let second = is_behind.then(|| locked.take_ready()).flatten();
        let ready = [first, second];
        locked.publish_retired();
        Unsettled {
            ready,
            is_batch,
            is_first_retired: !had_retired && shard.has_retired(),
        }
    }

    /// Does what a change left to be done without the lock. Not under a pin, which would hold up
    /// the grace period: it frees memory, and drops what users put in.
    pub(super) fn settle(&self, index: usize, unsettled: Unsettled<K, V>) -> Option<Panic> {
        if unsettled.is_batch {
            self.free_retired(self.shard(index));
        } else if unsettled.is_first_retired {
            // Somebody must free it also if this shard is not written to again.
            clock::wake();
        }
        unsettled.ready[0]
            .is_some()
            .then(|| drop_each(unsettled.ready))
            .flatten()
    }

    /// Evicts from other shards if the budget does not hold.
    #[inline]
    pub(super) fn keep_budget(&self, index: usize, protected: Option<u32>) -> Option<Panic> {
        if self.is_over(0, 0) {
            self.evict_elsewhere(index, protected)
        } else {
            None
        }
    }

    #[cold]
    fn evict_elsewhere(&self, index: usize, protected: Option<u32>) -> Option<Panic> {
        let mut panic = None;
        let shards = self.shards.len();
        let mut failed = 0;
        let mut next = index;
        // If after a round no shard with its fair share has given, every other gives: an entry that is
        // heavier than all others together, and protected, leaves them all below the mean.
        while self.is_over(0, 0) && failed < 2 * shards {
            next = (next + 1) % shards;
            let shard = self.shard(next);
            let protected = protected.filter(|_| next == index);
            if failed < shards && !self.has_fair_share(shard, (0, 0)) {
                failed += 1;
                continue;
            }
            let mut locked = shard.lock();
            let before = (shard.size().entries(), shard.size().weight());
            if locked.evict_one(protected) {
                failed = 0;
            } else {
                failed += 1;
            }
            let unsettled = self.finish(next, before, locked, protected);
            panic = panic.or(self.settle(next, unsettled));
        }
        panic
    }

    /// Whether a shard holds as much as the mean of all, so that it is its turn to give.
    fn has_fair_share(&self, shard: &Shard<K, V>, change: (i64, i64)) -> bool {
        let shards = self.shards.len() as u64;
        if shards == 1 {
            return true;
        }
        let (held, total, change) = if self.limits.counts_bytes {
            (shard.size().weight(), &self.totals.weight, change.1)
        } else {
            (shard.size().entries(), &self.totals.entries, change.0)
        };
        let total = total.load(Ordering::Relaxed).wrapping_add_signed(change);
        held * shards >= total
    }

    /// Sequentially consistent, like the bounds: who stores an entry adds it and then looks whether the
    /// bounds were lowered, who lowers them looks afterwards at what was added.
    fn add_to_totals(&self, (entries, weight): (i64, i64)) {
        if entries != 0 {
            self.totals
                .entries
                .fetch_add(entries as u64, Ordering::SeqCst);
        }
        if weight != 0 && self.limits.counts_bytes {
            self.totals
                .weight
                .fetch_add(weight as u64, Ordering::SeqCst);
        }
    }

    /// Weight of retired entries that a shard collects at most before it frees them.
    fn max_retired(&self) -> u64 {
        if !self.limits.counts_bytes {
            return u64::MAX;
        }
        let max_bytes = self.limits.max_bytes.load(Ordering::Relaxed);
        max_bytes / RETIRED_SHARE / self.shards.len() as u64
    }

    /// Makes ready what can be freed in a shard.
    fn free_retired(&self, shard: &Shard<K, V>) {
        let change = shard.free_retired(self.max_retired());
        if change != 0 {
            self.totals
                .borrowed
                .fetch_add(change as u64, Ordering::Relaxed);
        }
        // Another thread may have seen nothing retired meanwhile, and let the ticker sleep.
        if shard.has_retired() {
            clock::wake();
        }
    }

    /// Frees all that can be freed in a shard.
    fn free_all(&self, shard: &Shard<K, V>) -> Option<Panic> {
        self.free_retired(shard);
        shard.drop_ready()
    }

    /// Takes out what is expired in a shard, in steps between which others may have the lock.
    pub(super) fn expire(&self, index: usize) -> Option<Panic> {
        let mut panic = None;
        let shard = self.shard(index);
        loop {
            let moment = self.moment();
            if shard.due() > moment.now {
                return panic;
            }
            let mut locked = shard.lock();
            let before = (shard.size().entries(), shard.size().weight());
            let is_all = locked.expire(moment, SWEEP_STEP);
            let unsettled = self.finish(index, before, locked, None);
            panic = panic.or(self.settle(index, unsettled));
            if is_all {
                return panic;
            }
        }
    }

    /// Expires and frees what can be in all shards.
    pub(super) fn reclaim(&self) -> Option<Panic> {
        let mut panic = None;
        for (index, shard) in self.shards.iter().enumerate() {
            panic = panic.or(self.expire(index));
            if shard.has_retired() {
                panic = panic.or(self.free_all(shard));
            }
        }
        panic
    }

    pub(super) fn clear(&self) -> Option<Panic> {
        let mut panic = None;
        for (index, shard) in self.shards.iter().enumerate() {
            let mut locked = shard.lock();
            let before = (shard.size().entries(), shard.size().weight());
            locked.clear();
            let unsettled = self.finish(index, before, locked, None);
            panic = panic.or(self.settle(index, unsettled));
            panic = panic.or(self.free_all(shard));
        }
        panic
    }

    pub(super) fn set_max_entries(&self, max_entries: u64) -> Option<Panic> {
        self.limits.max_entries.store(max_entries, Ordering::SeqCst);
        self.keep_budget(0, None)
    }

    /// Whether the cache counts bytes.
    pub(super) fn counts_bytes(&self) -> bool {
        self.limits.counts_bytes
    }

    pub(super) fn set_max_bytes(&self, max_bytes: u64) -> Option<Panic> {
        self.limits.max_bytes.store(max_bytes, Ordering::SeqCst);
        self.keep_budget(0, None)
    }

    pub(super) fn count_too_heavy(&self, shard: &Shard<K, V>) {
        shard.lock().state.events.too_heavy += 1;
    }

    pub(super) fn entries(&self) -> u64 {
        self.shards.iter().map(|shard| shard.size().entries()).sum()
    }

    pub(super) fn weight(&self) -> u64 {
        self.shards.iter().map(|shard| shard.size().weight()).sum()
    }

    pub(super) fn stats(&self) -> CacheStats {
        let counts = reclaim::global().counts(self.counters);
        let mut events = Events::default();
        for shard in &self.shards {
            events += shard.lock().state.events;
        }
        CacheStats {
            hits: counts.hits.wrapping_sub(self.counters_before.hits),
            misses: counts.misses.wrapping_sub(self.counters_before.misses),
            inserts: events.inserts,
            updates: events.updates,
            evictions: events.evictions,
            expirations: events.expirations,
            removals: events.removals,
            too_heavy: events.too_heavy,
            entries: self.entries(),
            weight: self.weight(),
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

/// Lets a panic of the user's code go on to the caller, now that the cache is in order. Not while the
/// thread is panicking already, which would end the process.
pub(super) fn pass_on(panic: Option<Panic>) {
    if let Some(panic) = panic
        && !thread::panicking()
    {
        resume_unwind(panic);
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

#[cfg(any(test, fuzzing))]
impl<K, V> Inner<K, V> {
    /// Asserts that the totals are right. All shards must be locked.
    pub(super) fn validate_totals(&self) {
        assert_eq!(self.totals.entries.load(Ordering::SeqCst), self.entries());
        if self.limits.counts_bytes {
            assert_eq!(self.totals.weight.load(Ordering::SeqCst), self.weight());
        }
    }
}
