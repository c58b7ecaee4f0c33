//! Hazard slots: the addresses that a thread's borrows keep alive.
//!
//! A thread has as many slots as it ever held borrows at once. The first slot is in the record itself,
//! and is all that a thread with one borrow at a time needs: taking it is a comparison and a store, giving
//! it back is a store. The others lie in blocks, each as large as all before it together, in which
//! the owner looks for a free slot from where it found the last one. Writers only read the slots.

#![allow(
    unsafe_code,
    reason = "slots are reached from borrows and from other threads; they live as long as their record"
)]

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;

use crate::sync::{AtomicPtr, Ordering};

/// Slots of the first block.
const FIRST_BLOCK: usize = 8;

/// One address that is kept alive, or null.
type Slot = AtomicPtr<()>;

/// Set in the names of what was published without a pin. Nothing that is published under one lives at an odd
/// address.
const UNPINNED: usize = 1;

/// The name under which a reader without a pin publishes `address`.
///
/// Different from every address that is published under a pin, and from what [`unpinned`] makes of any other
/// allocation: also if a value without size lies at the end of its allocation, where the next may begin.
#[inline(always)]
pub(crate) fn unpinned(address: *const ()) -> *const () {
    address.wrapping_byte_add(UNPINNED)
}

/// Blocks are pushed in front of each other and live as long as the record.
struct Block {
    slots: Box<[Slot]>,
    next: *const Block,
}

/// All hazard slots of one thread.
pub(super) struct HazardSlots {
    first: Slot,
    /// The newest block.
    blocks: AtomicPtr<Block>,
    /// Where the owner goes on looking for a free slot.
    cursor: Cell<Cursor>,
}

#[derive(Clone, Copy)]
struct Cursor {
    block: *const Block,
    place: usize,
}

// SAFETY: other threads touch the atomics only. The cursor belongs to the owner of the record, from whose
// thread a pin does not go away.
unsafe impl Sync for HazardSlots {}
// SAFETY: owns its blocks; sent only with its record, before anything is published.
unsafe impl Send for HazardSlots {}

impl HazardSlots {
    pub(super) fn new() -> Self {
        HazardSlots {
            first: Slot::new(ptr::null_mut()),
            blocks: AtomicPtr::new(ptr::null_mut()),
            cursor: Cell::new(Cursor {
                block: ptr::null(),
                place: 0,
            }),
        }
    }

    /// Publishes an address in a free slot. For the owner.
    #[inline(always)]
    pub(super) fn publish(&self, address: *const ()) -> Hazard<'_> {
        let slot = if self.first.load(Ordering::Relaxed).is_null() {
            &self.first
        } else {
            self.further_slot()
        };
        slot.store(address.cast_mut(), Ordering::Release);
        Hazard {
            slot,
            not_send: PhantomData,
        }
    }

    #[cold]
    #[inline(never)]
    fn further_slot(&self) -> &Slot {
        let slots: usize = self.blocks().map(|block| block.slots.len()).sum();
        for _ in 0..slots {
            let slot = self.next_slot();
            if slot.load(Ordering::Relaxed).is_null() {
                return slot;
            }
        }
        // All were looked at in vain, so as many are added: a slot costs two looks on average.
        self.add_block(slots.max(FIRST_BLOCK));
        self.next_slot()
    }

    /// Moves the cursor on. There must be a block.
    fn next_slot(&self) -> &Slot {
        let mut cursor = self.cursor.get();
        // SAFETY: null or a block of ours; blocks live as long as `self`.
        let block = match unsafe { cursor.block.as_ref() } {
            Some(block) if cursor.place < block.slots.len() => block,
            at_end => {
                cursor.place = 0;
                cursor.block = at_end.map_or(ptr::null(), |block| block.next);
                if cursor.block.is_null() {
                    cursor.block = self.blocks.load(Ordering::Relaxed);
                }
                // SAFETY: not null, and as above.
                unsafe { &*cursor.block }
            }
        };
        let slot = &block.slots[cursor.place];
        cursor.place += 1;
        self.cursor.set(cursor);
        slot
    }

    fn add_block(&self, len: usize) {
        let block = Box::leak(Box::new(Block {
            slots: (0..len).map(|_| Slot::new(ptr::null_mut())).collect(),
            next: self.blocks.load(Ordering::Relaxed),
        }));
        self.cursor.set(Cursor { block, place: 0 });
        // Release: a writer that finds the block finds its slots initialised.
        self.blocks.store(block, Ordering::Release);
    }

    /// Whether no address is published. For the owner.
    pub(super) fn are_free(&self) -> bool {
        let mut are_free = true;
        self.for_each(|_| are_free = false);
        are_free
    }

    /// Whether `address` is published. For any thread.
    pub(super) fn contain(&self, address: *const ()) -> bool {
        self.slots()
            .any(|slot| std::ptr::eq(slot.load(Ordering::Acquire), address))
    }

    /// Calls `found` with each published address. For any thread.
    pub(super) fn for_each(&self, mut found: impl FnMut(*const ())) {
        for slot in self.slots() {
            let address = slot.load(Ordering::Acquire);
            if !address.is_null() {
                found(address);
            }
        }
    }

    /// See [`super::Registry::withdraw`].
    pub(super) fn withdraw(&self, is_gone: impl Fn(*const ()) -> bool) {
        for slot in self.slots() {
            let address = slot.load(Ordering::Acquire);
            // What is published without a pin may be somebody's old address for a moment, and a living
            // borrow's before the slot is emptied.
            let is_pinned = address.addr() & UNPINNED == 0;
            if !address.is_null() && is_pinned && is_gone(address) {
                slot.store(ptr::null_mut(), Ordering::Release);
            }
        }
    }

    fn slots(&self) -> impl Iterator<Item = &Slot> {
        std::iter::once(&self.first).chain(self.blocks().flat_map(|block| &block.slots))
    }

    fn blocks(&self) -> impl Iterator<Item = &Block> {
        let newest: *const Block = self.blocks.load(Ordering::Acquire);
        // SAFETY: blocks are initialised before they are published and live as long as `self`.
        let mut block = unsafe { newest.as_ref() };
        std::iter::from_fn(move || {
            let here = block?;
            // SAFETY: as above.
            block = unsafe { here.next.as_ref() };
            Some(here)
        })
    }
}

impl Drop for HazardSlots {
    fn drop(&mut self) {
        let mut block = self.blocks.load(Ordering::Relaxed);
        while !block.is_null() {
            // SAFETY: made by `Box::leak` in `add_block`, and nobody else holds the slots.
            let here = unsafe { Box::from_raw(block) };
            block = here.next.cast_mut();
        }
    }
}

/// A published address. Dropping it withdraws the address; forgetting it keeps what lives there
/// alive, and costs the thread a slot.
pub(crate) struct Hazard<'r> {
    slot: &'r Slot,
    /// Dropped on another thread it could race with the owner's search for a free slot.
    not_send: PhantomData<Cell<*const ()>>,
}

impl Drop for Hazard<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // Release: the reads through the borrow come before the writer that finds the slot empty.
        self.slot.store(ptr::null_mut(), Ordering::Release);
    }
}

/// All addresses that were published when they were collected. Meaningful for what was unlinked
/// before a grace period that has passed.
pub(crate) struct Hazards {
    sorted: Vec<usize>,
}

impl Hazards {
    pub(crate) fn new(mut addresses: Vec<usize>) -> Self {
        addresses.sort_unstable();
        Hazards { sorted: addresses }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// Whether a borrow keeps what lives at `address`.
    pub(crate) fn contains(&self, address: *const ()) -> bool {
        self.sorted.binary_search(&address.addr()).is_ok()
    }
}
