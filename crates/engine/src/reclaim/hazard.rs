//! Hazard slots: the addresses that a thread's borrows keep alive.
//!
//! A thread has as many slots as it ever held borrows at once. Free slots form a list that only the
//! owner touches, so that taking and giving back a slot costs the same with one borrow as with a
//! million. Writers only read the published addresses.

#![allow(
    unsafe_code,
    reason = "slots are reached from borrows and from other threads; they live as long as their record"
)]

use std::cell::Cell;
use std::ptr;

use crate::sync::{AtomicPtr, Ordering};

/// Slots that are allocated together: a first small block, then larger ones.
const FIRST_BLOCK: usize = 8;
const LARGER_BLOCK: usize = 64;

/// One address that is kept alive, or null.
pub(super) struct HazardSlot {
    address: AtomicPtr<()>,
    /// The next free slot; meaningful while this one is free. Touched by the owner only.
    next_free: Cell<*const HazardSlot>,
    /// Whose slot it is, so that a borrow is two words and fits in registers.
    home: *const HazardSlots,
}

/// Blocks of slots. Blocks are pushed in front and live as long as the record.
struct Block {
    slots: Box<[HazardSlot]>,
    next: *const Block,
}

/// All hazard slots of one thread.
pub(super) struct HazardSlots {
    newest: AtomicPtr<Block>,
    /// Touched by the owner only.
    first_free: Cell<*const HazardSlot>,
}

// SAFETY: other threads touch the atomics only. The cells belong to the owner of the record: `publish` is
// reached through a pin and `Hazard::drop` through a hazard, and neither leaves its thread.
unsafe impl Sync for HazardSlots {}
// SAFETY: owns its blocks; sent only with its record, before anything is published.
unsafe impl Send for HazardSlots {}

impl HazardSlots {
    pub(super) fn new() -> Self {
        HazardSlots {
            newest: AtomicPtr::new(ptr::null_mut()),
            first_free: Cell::new(ptr::null()),
        }
    }

    /// Whether no address is published. For the owner.
    pub(super) fn are_free(&self) -> bool {
        let mut are_free = true;
        self.for_each(|_| are_free = false);
        are_free
    }

    /// Publishes an address in a free slot. For the owner.
    #[inline(always)]
    pub(super) fn publish(&self, address: *const ()) -> Hazard<'_> {
        if self.first_free.get().is_null() {
            self.add_block();
        }
        // SAFETY: not null any more, and slots live as long as `self`.
        let slot = unsafe { &*self.first_free.get() };
        self.first_free.set(slot.next_free.get());
        slot.address.store(address.cast_mut(), Ordering::Release);
        Hazard { slot }
    }

    #[cold]
    #[inline(never)]
    fn add_block(&self) {
        let newest = self.newest.load(Ordering::Relaxed);
        let len = if newest.is_null() {
            FIRST_BLOCK
        } else {
            LARGER_BLOCK
        };
        let slots: Box<[HazardSlot]> = (0..len)
            .map(|_| HazardSlot {
                address: AtomicPtr::new(ptr::null_mut()),
                next_free: Cell::new(ptr::null()),
                home: self,
            })
            .collect();
        let block = Box::leak(Box::new(Block {
            slots,
            next: newest,
        }));
        for slot in block.slots.iter().rev() {
            slot.next_free.set(self.first_free.get());
            self.first_free.set(slot);
        }
        // Release: a writer that finds the block finds its slots initialised.
        self.newest.store(block, Ordering::Release);
    }

    /// Calls `found` with each published address. For any thread.
    pub(super) fn for_each(&self, mut found: impl FnMut(*const ())) {
        for slot in self.slots() {
            let address = slot.address.load(Ordering::Acquire);
            if !address.is_null() {
                found(address);
            }
        }
    }

    /// See [`super::Registry::withdraw`]. The slots stay taken: who held them has forgotten them.
    pub(super) fn withdraw(&self, is_gone: impl Fn(*const ()) -> bool) {
        for slot in self.slots() {
            let address = slot.address.load(Ordering::Acquire);
            if !address.is_null() && is_gone(address) {
                slot.address.store(ptr::null_mut(), Ordering::Release);
            }
        }
    }

    fn slots(&self) -> impl Iterator<Item = &HazardSlot> {
        let newest: *const Block = self.newest.load(Ordering::Acquire);
        // SAFETY: blocks are initialised before they are published and live as long as `self`.
        let mut block = unsafe { newest.as_ref() };
        std::iter::from_fn(move || {
            let here = block?;
            // SAFETY: as above.
            block = unsafe { here.next.as_ref() };
            Some(&here.slots)
        })
        .flatten()
    }
}

impl Drop for HazardSlots {
    fn drop(&mut self) {
        let mut block = self.newest.load(Ordering::Relaxed);
        while !block.is_null() {
            // SAFETY: made by `Box::leak` in `add_block`, and nobody else holds the slots.
            let here = unsafe { Box::from_raw(block) };
            block = here.next.cast_mut();
        }
    }
}

/// A published address. Dropping it withdraws the address; forgetting it keeps what lives there
/// alive for good, and costs the thread one slot.
pub(crate) struct Hazard<'r> {
    slot: &'r HazardSlot,
}

impl Drop for Hazard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // Release: the reads through the borrow come before the writer that finds the slot empty.
        self.slot.address.store(ptr::null_mut(), Ordering::Release);
        // SAFETY: the record that the slot belongs to stays where it is and lives for `'r`.
        let home = unsafe { &*self.slot.home };
        self.slot.next_free.set(home.first_free.get());
        home.first_free.set(self.slot);
    }
}

/// All addresses that were published when they were collected. Meaningful for what was unlinked
/// before a grace period that has passed.
pub(crate) struct Hazards {
    sorted: Vec<usize>,
}

impl Hazards {
    pub(super) fn new(mut addresses: Vec<usize>) -> Self {
        addresses.sort_unstable();
        Hazards { sorted: addresses }
    }

    /// Whether a borrow keeps what lives at `address`.
    pub(crate) fn contains(&self, address: *const ()) -> bool {
        self.sorted.binary_search(&address.addr()).is_ok()
    }
}
