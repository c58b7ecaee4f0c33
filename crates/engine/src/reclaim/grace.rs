//! Grace periods: waiting out the readers that may have found what was unlinked.

use super::record::Record;
use super::registry::Registry;

/// A grace period that began when it was made.
pub(crate) struct Grace<'r> {
    /// Threads that were pinned at the beginning and were not seen unpinned since.
    pinned: Vec<&'r Record>,
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
            .filter(|record| record.is_pinned())
            .collect();
        Grace {
            pinned,
            has_barrier,
        }
    }

    /// Whether every reader of that time is gone. Does not wait.
    pub(crate) fn has_passed(&mut self) -> bool {
        self.pinned.retain(|record| record.is_pinned());
        self.pinned.is_empty() && self.has_barrier
    }
}
