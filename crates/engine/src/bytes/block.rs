//! Blocks: the uniform pieces of which large values are made.
//!
//! A block counts who refers to it, so that a value changed in one place shares all its other blocks
//! with the value before. The count is part of the block, and so a block is two aligned words of
//! memory less than its 16 KiB.

#![allow(
    unsafe_code,
    reason = "a block is a counted reference into a frame that its pool owns"
)]

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// Memory of a block.
pub(super) const BLOCK_BYTES: usize = 16 * 1024;

/// Bytes of a value in a block.
pub(super) const PAYLOAD_BYTES: usize = BLOCK_BYTES - size_of::<Header>();

/// ```text
///  0          4        8                                16384
///  +----------+--------+----------------------------------+
///  | refer-   | frame  | payload: 16,376 bytes of a value |
///  | ences    |        |                                  |
///  +----------+--------+----------------------------------+
/// ```
#[repr(C)]
struct Header {
    references: AtomicU32,
    /// The pool's number of the frame that the block lies in.
    frame: u32,
}

const _: () = assert!(size_of::<Header>() == 8);

/// A reference to a block. It must be given back to the pool ([`super::pool::Pool::release`]); one
/// that is dropped leaks the block.
#[derive(Debug)]
pub(super) struct Block(NonNull<u8>);

// SAFETY: the count is atomic; the payload is written only by who has the one reference there is.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

/// A block to which nobody refers any more.
#[derive(Debug)]
pub(super) struct UnusedBlock {
    pub(super) start: NonNull<u8>,
    pub(super) frame: u32,
}

// SAFETY: nobody else refers to the block that it names.
unsafe impl Send for UnusedBlock {}

impl Block {
    /// Begins to use a block.
    ///
    /// # Safety
    /// `start` names [`BLOCK_BYTES`] initialised bytes, aligned to eight, that nobody else uses until
    /// [`release`](Self::release) returns them.
    pub(super) unsafe fn new(start: NonNull<u8>, frame: u32) -> Self {
        let references = AtomicU32::new(1);
        // SAFETY: by the caller's promise there is room for the header, and it is aligned.
        unsafe { start.cast().write(Header { references, frame }) };
        Block(start)
    }

    fn header(&self) -> &Header {
        // SAFETY: written by `new`; alive as long as there is a reference. Only its count changes.
        unsafe { self.0.cast().as_ref() }
    }

    fn payload_start(&self) -> *mut u8 {
        // SAFETY: the payload is part of the same block.
        unsafe { self.0.as_ptr().add(size_of::<Header>()) }
    }

    /// One more reference.
    pub(super) fn share(&self) -> Self {
        let before = self.header().references.fetch_add(1, Ordering::Relaxed);
        assert!(before < u32::MAX / 2, "a block is referred to too often");
        Block(self.0)
    }

    pub(super) fn payload(&self) -> &[u8] {
        // SAFETY: initialised, and nobody writes while there is a shared borrow: `payload_mut` needs
        // the only reference, exclusively.
        unsafe { std::slice::from_raw_parts(self.payload_start(), PAYLOAD_BYTES) }
    }

    /// The payload for writing, if nobody else refers to the block.
    pub(super) fn payload_mut(&mut self) -> Option<&mut [u8]> {
        let references = &self.header().references;
        // Acquire: what others read before they gave their references back precedes what is written.
        (references.load(Ordering::Acquire) == 1).then(|| {
            // SAFETY: this is the only reference and it is borrowed exclusively; initialised.
            unsafe { std::slice::from_raw_parts_mut(self.payload_start(), PAYLOAD_BYTES) }
        })
    }

    /// Gives the reference back. Returns the block if it was the last one.
    pub(super) fn release(self) -> Option<UnusedBlock> {
        let frame = self.header().frame;
        if self.header().references.fetch_sub(1, Ordering::Release) != 1 {
            return None;
        }
        // A load and not a fence: the thread sanitizer understands it.
        self.header().references.load(Ordering::Acquire);
        let start = self.0;
        Some(UnusedBlock { start, frame })
    }
}
