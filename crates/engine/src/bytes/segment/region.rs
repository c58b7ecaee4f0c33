//! The memory of a segment: written once from the start to the end, read meanwhile.

#![allow(
    unsafe_code,
    reason = "one part of the memory is read while another is written"
)]

use std::sync::Arc;

use super::super::pool::Pool;
use crate::memory::Memory;

/// Memory that goes back to its pool when nobody refers to it any more.
#[derive(Debug)]
pub(super) struct Region {
    /// Taken by `drop` only.
    memory: Option<Memory>,
    pool: Arc<Pool>,
}

impl Region {
    pub(super) fn new(pool: &Arc<Pool>, capacity: usize) -> Arc<Self> {
        pool.add_used(REGION_BYTES);
        Arc::new(Region {
            memory: Some(pool.allocate(capacity)),
            pool: Arc::clone(pool),
        })
    }

    pub(super) fn capacity(&self) -> usize {
        self.memory.as_ref().map_or(0, Memory::len)
    }

    /// Where `len` bytes at `at` are, which are inside.
    fn range(&self, at: usize, len: usize) -> *mut u8 {
        let memory = self.memory.as_ref().expect("there until dropped");
        let is_inside = at <= memory.len() && len <= memory.len() - at;
        assert!(is_inside, "{len} bytes at {at} lie outside of a segment");
        // SAFETY: inside, or just behind the end of, the memory.
        unsafe { memory.start().as_ptr().add(at) }
    }

    /// # Safety
    /// Nobody writes to these bytes while they are borrowed.
    pub(super) unsafe fn bytes(&self, at: usize, len: usize) -> &[u8] {
        // SAFETY: inside and initialised; not written by the caller's promise.
        unsafe { std::slice::from_raw_parts(self.range(at, len), len) }
    }

    /// # Safety
    /// Nobody writes there meanwhile, and any bytes make a valid `T`.
    pub(super) unsafe fn read<T: Copy>(&self, at: usize) -> T {
        // SAFETY: inside and initialised; not written by the caller's promise.
        unsafe { self.range(at, size_of::<T>()).cast::<T>().read_unaligned() }
    }

    /// # Safety
    /// Nobody reads or writes there meanwhile, nor borrows from it, and `T` has no padding.
    pub(super) unsafe fn write<T: Copy>(&self, at: usize, value: T) {
        let to = self.range(at, size_of::<T>()).cast::<T>();
        // SAFETY: inside; not used otherwise by the caller's promise.
        unsafe { to.write_unaligned(value) };
    }

    /// # Safety
    /// Nobody reads or writes there meanwhile, nor borrows from it.
    pub(super) unsafe fn write_bytes(&self, at: usize, bytes: &[u8]) {
        let to = self.range(at, bytes.len());
        // SAFETY: inside; `bytes` cannot overlap what nobody borrows from.
        unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }
}

/// What a region takes beside its memory: itself and its place in the log.
pub(in super::super) const REGION_BYTES: u64 = 160;

impl Drop for Region {
    fn drop(&mut self) {
        self.pool.subtract_used(REGION_BYTES);
        if let Some(memory) = self.memory.take() {
            self.pool.give_back(memory);
        }
    }
}
