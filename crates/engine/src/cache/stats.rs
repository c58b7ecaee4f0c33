//! What a cache counts.

use std::ops::{AddAssign, Sub};

use super::shard::Cause;

/// What happened in a cache since it was made, and what is in it. A snapshot, taken without stopping
/// anybody: numbers that change while it is taken may be of slightly different moments.
///
/// The difference of two snapshots tells what happened in between, with the later one's size:
///
/// ```
/// use hotcopy_engine::cache::Cache;
///
/// let cache: Cache<u32, u32> = Cache::builder().max_entries(10).build();
/// cache.insert(1, 1);
/// let before = cache.stats();
/// cache.get(&1);
/// cache.get(&2);
/// let between = cache.stats() - before;
/// assert_eq!((between.hits, between.misses, between.inserts), (1, 1, 0));
/// assert_eq!(between.hit_ratio(), Some(0.5));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheStats {
    /// Reads that found a live entry.
    pub hits: u64,
    /// Reads that found none, or one that had expired.
    pub misses: u64,
    /// Entries stored under keys that had none.
    pub inserts: u64,
    /// Entries stored in place of live ones.
    pub updates: u64,
    /// Entries evicted to make room.
    pub evictions: u64,
    /// Entries whose time was up, counted when they are reclaimed or replaced.
    pub expirations: u64,
    /// Entries removed by name or by `clear`.
    pub removals: u64,
    /// Entries that were not stored since they were heavier than the whole cache.
    pub too_heavy: u64,
    /// Entries in the cache now, with those that have expired and were not yet reclaimed.
    pub entries: u64,
    /// Their weight: bytes where the cache is bounded in bytes, else their number.
    pub weight: u64,
}

impl CacheStats {
    /// Hits per read; none if nothing was read.
    pub fn hit_ratio(&self) -> Option<f64> {
        let reads = self.hits + self.misses;
        (reads > 0).then(|| self.hits as f64 / reads as f64)
    }
}

impl Sub for CacheStats {
    type Output = CacheStats;

    /// What happened since `earlier`. Counts that went back, which those of one cache never do, are zero.
    fn sub(self, earlier: CacheStats) -> CacheStats {
        CacheStats {
            hits: self.hits.saturating_sub(earlier.hits),
            misses: self.misses.saturating_sub(earlier.misses),
            inserts: self.inserts.saturating_sub(earlier.inserts),
            updates: self.updates.saturating_sub(earlier.updates),
            evictions: self.evictions.saturating_sub(earlier.evictions),
            expirations: self.expirations.saturating_sub(earlier.expirations),
            removals: self.removals.saturating_sub(earlier.removals),
            too_heavy: self.too_heavy.saturating_sub(earlier.too_heavy),
            entries: self.entries,
            weight: self.weight,
        }
    }
}

/// What one shard counts under its lock.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Events {
    pub(super) inserts: u64,
    pub(super) updates: u64,
    pub(super) evictions: u64,
    pub(super) expirations: u64,
    pub(super) removals: u64,
    pub(super) too_heavy: u64,
}

impl Events {
    pub(super) fn count(&mut self, cause: Cause) {
        match cause {
            Cause::Capacity => self.evictions += 1,
            Cause::Expired => self.expirations += 1,
            Cause::Removed => self.removals += 1,
            Cause::Replaced => self.updates += 1,
        }
    }
}

impl AddAssign for Events {
    fn add_assign(&mut self, other: Events) {
        self.inserts += other.inserts;
        self.updates += other.updates;
        self.evictions += other.evictions;
        self.expirations += other.expirations;
        self.removals += other.removals;
        self.too_heavy += other.too_heavy;
    }
}
