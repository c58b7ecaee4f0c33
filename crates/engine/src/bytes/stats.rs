//! Counts of what happened in a store.

use std::ops::AddAssign;

/// Totals since the store was made or [`ByteStore::reset_stats`](super::ByteStore::reset_stats) was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Lookups that found a live entry.
    pub hits: u64,
    /// Lookups that did not.
    pub misses: u64,
    /// Values written, whether or not the key was there.
    pub inserts: u64,
    /// Entries removed to stay within the limit.
    pub evictions: u64,
    /// Entries removed because their deadline had passed.
    pub expirations: u64,
}

impl AddAssign for Stats {
    fn add_assign(&mut self, other: Self) {
        self.hits += other.hits;
        self.misses += other.misses;
        self.inserts += other.inserts;
        self.evictions += other.evictions;
        self.expirations += other.expirations;
    }
}
