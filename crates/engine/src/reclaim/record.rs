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
    /// How many pins there are at once: the thread is pinned while that is not zero. As wide as can
    /// be, since `Eq` of a user's may read a cache again, as deep as the stack allows.
    pin: AtomicU64,
    barrier: Barrier,
    /// Whether a thread owns it.
    owned: AtomicBool,
    pub(super) hazards: HazardSlots,
    pub(super) counters: CounterTable,
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

    /// Pins the thread: what it finds linked is not freed while the pin lives. Pins may overlap.
    ///
    /// Must be called on the thread that owns the record.
    #[inline(always)]
    pub(super) fn pin(&self) -> Pin<'_> {
        let pins = self.pin.load(Ordering::Relaxed);
        self.pin.store(pins.wrapping_add(1), Ordering::Release);
        self.barrier.light();
        Pin {
            record: self,
            not_send: PhantomData,
        }
    }

    /// Runs `body` pinned.
    pub(super) fn pinned<'r, R>(&'r self, body: impl FnOnce(&Pin<'r>) -> R) -> R {
        body(&self.pin())
    }

    /// Whether the thread is pinned. One that pins itself again and again may be met pinned every
    /// time: ask more than once.
    pub(super) fn is_pinned(&self) -> bool {
        self.pin.load(Ordering::Acquire) > 0
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

/// Keeps the thread pinned, see [`Record::pin`].
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
        let depth = pin.load(Ordering::Relaxed);
        // Release: whoever acquires it sees the hazards that were published under the pin.
        pin.store(depth.wrapping_sub(1), Ordering::Release);
    }
}
