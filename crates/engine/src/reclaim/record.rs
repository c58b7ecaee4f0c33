//! What the engine keeps for each thread: its pin, its hazard slots, its counters.

use std::cell::Cell;
use std::marker::PhantomData;

use super::barrier::Barrier;
use super::counters::CounterTable;
use super::hazard::{Hazard, HazardSlots};
use crate::sync::{AtomicBool, AtomicU64, Ordering};

/// One thread's record. Records are never freed while their registry lives; a thread that ends
/// leaves its record to the next one. Whole pairs of cache lines, because neighbours are prefetched.
#[repr(C, align(128))]
pub(crate) struct Record {
    /// ```text
    /// 63          8 7      0
    /// | turns      | depth |
    /// ```
    /// How many pins there are, one in the other: the thread is pinned while that is not zero. `turns`
    /// tells long pins apart that follow each other closely.
    pin: AtomicU64,
    barrier: Barrier,
    /// Whether a thread owns it.
    owned: AtomicBool,
    pub(super) hazards: HazardSlots,
    pub(super) counters: CounterTable,
}

const DEPTH: u64 = 0xff;

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

    /// Runs `body` pinned: what it finds linked is not freed before it returns. Pins nest. A scope
    /// and not a guard, so that pins end in the reverse order.
    ///
    /// Must be called on the thread that owns the record.
    #[inline(always)]
    pub(super) fn pinned<'r, R>(&'r self, body: impl FnOnce(&Pin<'r>) -> R) -> R {
        let pin = Pin {
            record: self,
            not_send: PhantomData,
        };
        let word = self.pin.load(Ordering::Relaxed);
        debug_assert!(word & DEPTH < DEPTH, "pins that deep in each other");
        self.pin.store(word.wrapping_add(1), Ordering::Release);
        self.barrier.light();
        body(&pin)
    }

    /// The pin word, if the thread is pinned.
    pub(super) fn pinned_at(&self) -> Option<u64> {
        let word = self.pin.load(Ordering::Acquire);
        (word & DEPTH > 0).then_some(word)
    }

    /// Whether the thread was unpinned since it was pinned at `word`. A thread that pins itself again
    /// and again may be met pinned every time: ask more than once.
    pub(super) fn has_left(&self, word: u64) -> bool {
        let present = self.pin.load(Ordering::Acquire);
        present & DEPTH == 0 || present & !DEPTH != word & !DEPTH
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
        let pin = &self.record.pin;
        let word = pin.load(Ordering::Relaxed);
        // Release: whoever acquires it sees the hazards that were published under the pin.
        pin.store(word.wrapping_sub(1), Ordering::Release);
    }
}
