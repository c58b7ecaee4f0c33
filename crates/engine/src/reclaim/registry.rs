//! The list of all records.

#![allow(
    unsafe_code,
    reason = "a list that is appended to without a lock, and freed with its registry"
)]

use std::ptr;

use super::barrier::Barrier;
use super::grace::GracePeriods;
use super::hazard::Hazards;
use super::record::Record;
use crate::sync::{AtomicPtr, Ordering};

/// An append-only list of records. The process has one ([`super::thread::global`]); models make their own.
pub(crate) struct Registry {
    newest: AtomicPtr<Node>,
    barrier: Barrier,
    graces: GracePeriods,
}

struct Node {
    record: Record,
    next: *const Node,
}

impl Registry {
    pub(crate) fn new(barrier: Barrier) -> Self {
        Registry {
            newest: AtomicPtr::new(ptr::null_mut()),
            barrier,
            graces: GracePeriods::new(),
        }
    }

    pub(super) fn barrier(&self) -> Barrier {
        self.barrier
    }

    pub(super) fn graces(&self) -> &GracePeriods {
        &self.graces
    }

    /// A record for the calling thread: one that was left, or a new one.
    pub(super) fn register(&self) -> &Record {
        if let Some(left) = self.records().find(|record| record.try_own()) {
            return left;
        }
        let node = Box::into_raw(Box::new(Node {
            record: Record::new(self.barrier),
            next: ptr::null(),
        }));
        let mut newest = self.newest.load(Ordering::Acquire);
        loop {
            // SAFETY: not published yet, so this thread alone holds it.
            unsafe { (*node).next = newest };
            match self
                .newest
                .compare_exchange(newest, node, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => break,
                Err(other) => newest = other,
            }
        }
        // SAFETY: published, and nodes live as long as `self`.
        unsafe { &(*node).record }
    }

    /// All records, also those that no thread owns.
    pub(super) fn records(&self) -> impl Iterator<Item = &Record> {
        let newest: *const Node = self.newest.load(Ordering::Acquire);
        // SAFETY: nodes are complete before they are published and live as long as `self`.
        let mut node = unsafe { newest.as_ref() };
        std::iter::from_fn(move || {
            let here = node?;
            // SAFETY: as above.
            node = unsafe { here.next.as_ref() };
            Some(&here.record)
        })
    }

    /// The writer's side of the barrier, for readers that pin nothing. False if the kernel refused: then
    /// what was unlinked before may not be freed, ever.
    ///
    /// Costs some 10 µs where `membarrier` is in use.
    #[must_use]
    pub(crate) fn heavy_barrier(&self) -> bool {
        self.barrier.heavy()
    }

    /// Whether a borrow keeps what lives at `address`. Cheaper than [`Registry::hazards`] for a single one.
    pub(crate) fn is_borrowed(&self, address: *const ()) -> bool {
        self.records().any(|record| record.hazards.contain(address))
    }

    /// The addresses that borrows keep alive now.
    pub(crate) fn hazards(&self) -> Hazards {
        let mut addresses = Vec::new();
        for record in self.records() {
            record
                .hazards
                .for_each(|address| addresses.push(address.addr()));
        }
        Hazards::new(addresses)
    }
}

impl Registry {
    /// Withdraws addresses that were published under a pin and whose borrows were forgotten. No living
    /// borrow may have an address that `is_gone` accepts.
    pub(crate) fn withdraw(&self, is_gone: impl Fn(*const ()) -> bool) {
        for record in self.records() {
            record.hazards.withdraw(&is_gone);
        }
    }
}

// SAFETY: the list is only appended to, and of a record other threads touch nothing but its atomics
// (the hazard slots' cells belong to the owning thread).
unsafe impl Sync for Registry {}
// SAFETY: owns its nodes.
unsafe impl Send for Registry {}

impl Drop for Registry {
    fn drop(&mut self) {
        let mut node = self.newest.load(Ordering::Relaxed);
        while !node.is_null() {
            // SAFETY: made by `Box::into_raw` in `register`; nobody borrows from `self` any more.
            let here = unsafe { Box::from_raw(node) };
            node = here.next.cast_mut();
        }
    }
}
