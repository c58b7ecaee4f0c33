//! Grace periods: waiting out the readers that may have found what was unlinked.

use super::record::Record;
use super::registry::Registry;

/// A grace period that began when it was made.
pub(crate) struct Grace<'r> {
    /// Threads that were pinned at the beginning and were not seen to unpin since, and their pins.
    pinned: Vec<(&'r Record, u64)>,
    /// Without the barrier nothing can be said, ever.
    has_barrier: bool,
}

impl<'r> Grace<'r> {
    /// Begins a grace period. What was unlinked before, on this thread or in a critical section
    /// that ended before, may be freed when it has passed and no hazard names it.
    ///
    /// Costs some 10 µs where `membarrier` is in use.
    pub(crate) fn begin(registry: &'r Registry) -> Self {
        let has_barrier = registry.barrier().heavy();
        let pinned = registry
            .records()
            .filter_map(|record| Some((record, record.pinned_at()?)))
            .collect();
        Grace {
            pinned,
            has_barrier,
        }
    }

    /// Whether every reader of that time is gone. Does not wait.
    pub(crate) fn has_passed(&mut self) -> bool {
        self.pinned.retain(|(record, word)| !record.has_left(*word));
        self.pinned.is_empty() && self.has_barrier
    }
}
