//! What the engine keeps for each thread: its pin, its hazard slots, its counters.

use std::cell::Cell;
use std::marker::PhantomData;

use super::barrier::Barrier;
use super::counters::CounterTable;
use super::hazard::{Hazard, HazardSlots};
use crate::sync::{AtomicBool, AtomicU64, Ordering};

/// One thread's record. Records are never freed while their registry lives; a thread that ends
/// leaves its record to the next one. Two cache lines, because neighbours are prefetched in pairs.
#[repr(align(128))]
pub(crate) struct Record {
    /// Odd while the thread is pinned; every pin and unpin adds one. So a writer that saw an odd
    /// value knows from any other value that the thread has unpinned since.
    pin: AtomicU64,
    pub(super) hazards: HazardSlots,
    pub(super) counters: CounterTable,
    barrier: Barrier,
    /// Whether a thread owns it.
    owned: AtomicBool,
}

impl Record {
    pub(super) fn new(barrier: Barrier) -> Self {
        Record {
            pin: AtomicU64::new(0),
            hazards: HazardSlots::new(),
            counters: CounterTable::new(),
            barrier,
            owned: AtomicBool::new(true),
        }
    }

    /// Runs `body` pinned: what it finds linked is not freed before it returns. Pins nest; one that
    /// is nested costs nothing. A scope and not a guard, so that pins end in the reverse order.
    ///
    /// Must be called on the thread that owns the record.
    #[inline(always)]
    pub(super) fn pinned<'r, R>(&'r self, body: impl FnOnce(&Pin<'r>) -> R) -> R {
        let before = self.pin.load(Ordering::Relaxed);
        let is_nested = before & 1;
        // Release, so that whoever acquires this value sees all that earlier pins left behind. A
        // nested pin stores what is there already: that is cheaper than to ask.
        self.pin.store(before | 1, Ordering::Release);
        self.barrier.light();
        let pin = Pin {
            record: self,
            after: before.wrapping_add(2 - 2 * is_nested),
            not_send: PhantomData,
        };
        body(&pin)
    }

    /// The pin's present value, if the thread is pinned.
    pub(super) fn pinned_at(&self) -> Option<u64> {
        let word = self.pin.load(Ordering::Acquire);
        (word & 1 == 1).then_some(word)
    }

    /// Whether the thread has unpinned since it was pinned at `word`.
    pub(super) fn has_left(&self, word: u64) -> bool {
        self.pin.load(Ordering::Acquire) != word
    }

    /// Takes a record that no thread owns.
    pub(super) fn try_own(&self) -> bool {
        !self.owned.load(Ordering::Relaxed) && !self.owned.swap(true, Ordering::Acquire)
    }

    /// Leaves the record to another thread, unless a borrow of this thread lives on.
    pub(super) fn disown(&self) -> bool {
        let is_idle = self.hazards.are_free();
        if is_idle {
            self.owned.store(false, Ordering::Release);
        }
        is_idle
    }
}

/// Proof that the thread is pinned, see [`Record::pinned`].
pub(crate) struct Pin<'r> {
    record: &'r Record,
    /// The pin word when this pin has ended.
    after: u64,
    not_send: PhantomData<Cell<*const ()>>,
}

impl<'r> Pin<'r> {
    /// Publishes `address`: what lives there is not freed while the hazard lives, also after the
    /// pin has ended. The address must have been read under this pin.
    #[inline(always)]
    pub(crate) fn protect(&self, address: *const ()) -> Hazard<'r> {
        self.record.hazards.publish(address)
    }

    /// The counters of this thread.
    #[inline(always)]
    pub(crate) fn counters(&self) -> &CounterTable {
        &self.record.counters
    }
}

impl Drop for Pin<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.record.pin.store(self.after, Ordering::Release);
    }
}
