//! Pieces of zeroed memory that are asked for and given back whole.
//!
//! Large ones are mapped from the operating system, so that what the store gives back leaves the
//! process, and neither the allocator's bookkeeping nor its fragmentation comes on top. Under test all
//! come from the allocator, where a sanitizer watches them.

#![allow(
    unsafe_code,
    reason = "the memory is shared by parts that are written and read independently of each other"
)]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

use memmap2::MmapMut;

/// From this length on memory is mapped: a multiple of the page size of any common machine.
const MAPPED_FROM_BYTES: usize = 64 * 1024;

/// Enough for the header of a record and of a block.
const ALIGNMENT: usize = 16;

/// What the allocator adds to a piece that is not mapped: its header and rounding.
const ALLOCATOR_BYTES: usize = 16;

/// A piece of memory, zeroed at first.
#[derive(Debug)]
pub(super) struct Memory {
    start: NonNull<u8>,
    len: usize,
    map: Option<MmapMut>,
}

// SAFETY: it owns its memory and hands out no references; who reads or writes through `start` answers
// for doing so without a race.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// So many zeroed bytes, at least one. Like any allocation it ends the process if there are none.
    pub(super) fn zeroed(len: usize) -> Self {
        let is_mapped = len >= MAPPED_FROM_BYTES && !cfg!(any(test, miri));
        if is_mapped && let Ok(mut map) = MmapMut::map_anon(len) {
            let start = NonNull::new(map.as_mut_ptr()).expect("a map is not at address 0");
            let map = Some(map);
            return Memory { start, len, map };
        }
        let layout = Memory::layout(len);
        // SAFETY: `layout` is not empty.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) });
        let start = start.unwrap_or_else(|| handle_alloc_error(layout));
        let map = None;
        Memory { start, len, map }
    }

    fn layout(len: usize) -> Layout {
        Layout::from_size_align(len.max(1), ALIGNMENT).expect("far below the address space")
    }

    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Bytes that a piece of this length takes.
    pub(super) fn footprint(len: usize) -> u64 {
        let added = if len < MAPPED_FROM_BYTES {
            ALLOCATOR_BYTES
        } else {
            0
        };
        (len + added) as u64
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.map.is_none() {
            // SAFETY: allocated by `zeroed` with this layout, and nobody else frees it.
            unsafe { dealloc(self.start.as_ptr(), Memory::layout(self.len)) };
        }
    }
}
