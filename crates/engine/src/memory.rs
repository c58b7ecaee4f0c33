//! Memory in large pieces, for the segments and blocks of the byte store and the tables of indexes.
//!
//! Pieces of 16 KiB and more are mapped from the operating system, so that what is given back leaves
//! the process, and the allocator's fragmentation does not enter. Smaller ones come from the
//! allocator; under test all do, because there a sanitizer watches them.

#![allow(
    unsafe_code,
    reason = "asks the operating system for memory, and hands it out as raw pointers"
)]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// From this length on memory is mapped: a multiple of the page size of any common machine.
const MAPPED_FROM_BYTES: usize = 16 * 1024;

/// Smallest page, for the accounting.
const PAGE_BYTES: usize = 4096;

/// What the allocator adds to a piece that is not mapped: its header and rounding.
const ALLOCATOR_BYTES: usize = 16;

/// Pieces begin at multiples of it: of a header's or a bucket's size.
const ALIGNMENT: usize = 64;

fn layout(len: usize) -> Layout {
    Layout::from_size_align(len.max(1), ALIGNMENT).expect("far below the address space")
}

fn is_mapped(len: usize) -> bool {
    cfg!(all(unix, not(any(test, miri, loom)))) && len >= MAPPED_FROM_BYTES
}

/// So many zeroed bytes. Like any allocation it ends the process if there are none.
pub(crate) fn allocate_zeroed(len: usize) -> NonNull<u8> {
    let start = if is_mapped(len) {
        map(len)
    } else {
        // SAFETY: the layout is not empty.
        NonNull::new(unsafe { alloc_zeroed(layout(len)) })
    };
    start.unwrap_or_else(|| handle_alloc_error(layout(len)))
}

/// # Safety
/// `start` came from [`allocate_zeroed`] with this length, and is not used any more.
pub(crate) unsafe fn free(start: NonNull<u8>, len: usize) {
    if is_mapped(len) {
        // SAFETY: by the caller's promise.
        unsafe { unmap(start, len) };
    } else {
        // SAFETY: by the caller's promise it came from the allocator with this layout.
        unsafe { dealloc(start.as_ptr(), layout(len)) };
    }
}

/// Bytes that a piece of this length takes.
pub(crate) fn footprint(len: usize) -> u64 {
    let bytes = if len >= MAPPED_FROM_BYTES {
        len.next_multiple_of(PAGE_BYTES)
    } else {
        len + ALLOCATOR_BYTES
    };
    bytes as u64
}

#[cfg(unix)]
fn map(len: usize) -> Option<NonNull<u8>> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new anonymous map touches no memory that is in use.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    NonNull::new(start.cast())
}

#[cfg(not(unix))]
fn map(_: usize) -> Option<NonNull<u8>> {
    None
}

/// # Safety
/// `start` came from [`map`] with this length, and is not used any more.
unsafe fn unmap(start: NonNull<u8>, len: usize) {
    #[cfg(unix)]
    // SAFETY: by the caller's promise. It can fail only where the kernel has no room to note a hole in
    // a map; then the piece stays mapped and unused.
    unsafe {
        libc::munmap(start.as_ptr().cast(), len);
    }
    #[cfg(not(unix))]
    let _ = (start, len);
}

/// # Safety
/// The part is inside of what [`map`] returned, and nobody uses it meanwhile.
unsafe fn discard(start: NonNull<u8>, len: usize) {
    #[cfg(target_os = "linux")]
    const ADVICE: libc::c_int = libc::MADV_DONTNEED;
    #[cfg(all(unix, not(target_os = "linux")))]
    const ADVICE: libc::c_int = libc::MADV_FREE;
    #[cfg(unix)]
    // SAFETY: by the caller's promise. Where it fails (a start that is no multiple of a page) the pages stay.
    unsafe {
        libc::madvise(start.as_ptr().cast(), len, ADVICE);
    }
    #[cfg(not(unix))]
    let _ = (start, len);
}

/// A piece of memory that is given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Memory {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: it owns its memory and hands out no references; who reads or writes through `start` answers
// for doing so without a race.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// So many zeroed bytes.
    pub(crate) fn zeroed(len: usize) -> Self {
        let start = allocate_zeroed(len);
        Memory { start, len }
    }

    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Gives the pages of a part back to the operating system. What is there afterwards is initialised, and
    /// may be zeros or what was there before.
    ///
    /// # Safety
    /// The part is inside of a `Memory` of length `whole`, and nobody uses it meanwhile.
    pub(crate) unsafe fn discard(whole: usize, start: NonNull<u8>, len: usize) {
        if is_mapped(whole) {
            // SAFETY: by the caller's promise.
            unsafe { discard(start, len) };
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated by `zeroed` with this length, and nobody else frees it.
        unsafe { free(self.start, self.len) };
    }
}
