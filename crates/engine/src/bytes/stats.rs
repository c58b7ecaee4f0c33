//! Counts of what happened in a store, and of what is in it.

use std::ops::AddAssign;
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// How much is in each database, kept beside the shards so that no lock is needed to tell.
#[derive(Debug)]
pub(super) struct Sizes(Box<[Size]>);

#[derive(Debug, Default)]
struct Size {
    entries: AtomicUsize,
    with_deadline: AtomicUsize,
}

impl Sizes {
    pub(super) fn new(databases: usize) -> Self {
        Sizes((0..databases).map(|_| Size::default()).collect())
    }

    pub(super) fn databases(&self) -> usize {
        self.0.len()
    }

    pub(super) fn entries(&self, database: usize) -> usize {
        self.0[database].entries.load(Ordering::Relaxed)
    }

    pub(super) fn with_deadline(&self, database: usize) -> usize {
        self.0[database].with_deadline.load(Ordering::Relaxed)
    }

    pub(super) fn add_entry(&self, database: usize) {
        self.0[database].entries.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn remove_entries(&self, database: usize, count: usize) {
        self.0[database].entries.fetch_sub(count, Ordering::Relaxed);
    }

    pub(super) fn add_deadline(&self, database: usize) {
        let with_deadline = &self.0[database].with_deadline;
        with_deadline.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn remove_deadlines(&self, database: usize, count: usize) {
        let with_deadline = &self.0[database].with_deadline;
        with_deadline.fetch_sub(count, Ordering::Relaxed);
    }
}
