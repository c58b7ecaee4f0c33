//! What bounds a cache, and how much of it is taken, over all shards.

use std::sync::atomic::{AtomicU64, Ordering};

use super::weight::Weight;

/// The part of a budget in bytes that may lie in entries that were taken out and wait for a batch
/// to be complete.
const RETIRED_SHARE: u64 = 64;

/// Entries and their weight: how many there are, or, wrapping, by how much they have changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) entries: u64,
    pub(super) weight: u64,
}

impl Amount {
    pub(super) const NONE: Amount = Amount {
        entries: 0,
        weight: 0,
    };

    /// By how much it has changed.
    #[inline]
    pub(super) fn since(self, before: Amount) -> Amount {
        Amount {
            entries: self.entries.wrapping_sub(before.entries),
            weight: self.weight.wrapping_sub(before.weight),
        }
    }
}

/// A bound on entries, on bytes, or on both, and what counts against it. Changed live.
pub(super) struct Budget {
    max_entries: AtomicU64,
    max_bytes: AtomicU64,
    counts_bytes: bool,
    taken: Taken,
}

/// Sums over all shards. Written by every insert that adds an entry.
#[derive(Default)]
#[repr(align(128))]
struct Taken {
    entries: AtomicU64,
    weight: AtomicU64,
    /// Weight of what was taken out and is kept by a borrow. What waits for a grace period is not in it:
    /// to evict even more while a reader is interrupted would empty the cache and free nothing.
    borrowed: AtomicU64,
}

impl Budget {
    pub(super) fn new(max_entries: Option<u64>, max_bytes: Option<u64>) -> Self {
        Budget {
            max_entries: AtomicU64::new(max_entries.unwrap_or(u64::MAX)),
            max_bytes: AtomicU64::new(max_bytes.unwrap_or(u64::MAX)),
            counts_bytes: max_bytes.is_some(),
            taken: Taken::default(),
        }
    }

    pub(super) fn counts_bytes(&self) -> bool {
        self.counts_bytes
    }

    #[inline]
    pub(super) fn max_entries(&self) -> u64 {
        self.max_entries.load(Ordering::SeqCst)
    }

    #[inline]
    pub(super) fn max_bytes(&self) -> u64 {
        self.max_bytes.load(Ordering::SeqCst)
    }

    pub(super) fn set_max_entries(&self, max_entries: u64) {
        self.max_entries.store(max_entries, Ordering::SeqCst);
    }

    pub(super) fn set_max_bytes(&self, max_bytes: u64) {
        self.max_bytes.store(max_bytes, Ordering::SeqCst);
    }

    /// The bytes less what is kept for entries that wait to be freed.
    fn max_live_bytes(&self) -> u64 {
        let max_bytes = self.max_bytes();
        max_bytes - max_bytes / RETIRED_SHARE
    }

    /// Weight of retired entries that all shards together collect at most before they free them, and of those
    /// that are then ready.
    #[inline]
    pub(super) fn max_retired(&self) -> u64 {
        if self.counts_bytes {
            // As much again may be ready to be dropped.
            self.max_bytes.load(Ordering::Relaxed) / RETIRED_SHARE / 2
        } else {
            u64::MAX
        }
    }

    /// Whether a cache could hold an entry if it held nothing else.
    #[inline]
    pub(super) fn can_hold(&self, weight: Weight) -> bool {
        self.max_entries() > 0 && (!self.counts_bytes || weight.get() <= self.max_live_bytes())
    }

    /// Whether what is taken, with `more`, is too much.
    #[inline]
    pub(super) fn is_over(&self, more: Amount) -> bool {
        let entries = self.taken.entries.load(Ordering::SeqCst);
        if entries.wrapping_add(more.entries) > self.max_entries() {
            return true;
        }
        self.counts_bytes && self.is_over_in_bytes(more.weight)
    }

    fn is_over_in_bytes(&self, more: u64) -> bool {
        let weight = self.taken.weight.load(Ordering::SeqCst).wrapping_add(more);
        // Threads tell their changes in any order, so for a moment this may be less than nothing.
        let borrowed = self.taken.borrowed.load(Ordering::SeqCst) as i64;
        weight.saturating_add_signed(borrowed) > self.max_live_bytes()
    }

    /// Sequentially consistent, like the bounds: who stores an entry adds it and then looks whether the
    /// bounds were lowered, who lowers them looks afterwards at what was added.
    #[inline]
    pub(super) fn add(&self, change: Amount) {
        if change.entries != 0 {
            self.taken
                .entries
                .fetch_add(change.entries, Ordering::SeqCst);
        }
        if self.counts_bytes && change.weight != 0 {
            self.taken.weight.fetch_add(change.weight, Ordering::SeqCst);
        }
    }

    /// Adds to the weight of what borrows keep, wrapping.
    pub(super) fn add_borrowed(&self, change: u64) {
        self.taken.borrowed.fetch_add(change, Ordering::Relaxed);
    }

    /// Of what is taken, in what the cache is bounded in, together with `more`.
    pub(super) fn taken_with(&self, more: Amount) -> u64 {
        let taken = if self.counts_bytes {
            &self.taken.weight
        } else {
            &self.taken.entries
        };
        taken
            .load(Ordering::Relaxed)
            .wrapping_add(self.measure(more))
    }

    /// What the cache is bounded in.
    pub(super) fn measure(&self, amount: Amount) -> u64 {
        if self.counts_bytes {
            amount.weight
        } else {
            amount.entries
        }
    }
}

#[cfg(any(test, fuzzing))]
impl Budget {
    /// Asserts that what was told is all there is. All shards must be locked.
    pub(super) fn validate(&self, all: Amount) {
        assert_eq!(self.taken.entries.load(Ordering::SeqCst), all.entries);
        if self.counts_bytes {
            assert_eq!(self.taken.weight.load(Ordering::SeqCst), all.weight);
        }
    }
}
