//! Chains: the blocks of a large value, in order.
//!
//! A chain is a counted list of references to blocks, and never changes: who changes a value makes a
//! new chain that shares the blocks that stay. It is one small allocation with the list behind the
//! header, so that a value costs no more than a pointer in its record and eight bytes for a block.

#![allow(
    unsafe_code,
    reason = "a counted allocation of a header with a list behind it"
)]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::block::{BLOCK_BYTES, Block};
use super::pool::Pool;
use crate::memory;

/// Blocks from which on a chain is not freed where its last reference is dropped, but in pieces.
const MANY_BLOCKS: usize = 64;

/// ```text
///  0            4        8          16                 16 + 8 * len
///  +------------+--------+----------+--------------------+
///  | references | len    | pool     | blocks, 8 bytes    |
///  |            |        |          | each               |
///  +------------+--------+----------+--------------------+
/// ```
#[repr(C)]
struct Header {
    references: AtomicU32,
    len: u32,
    pool: Arc<Pool>,
}

const _: () = assert!(size_of::<Header>() == 16 && align_of::<Header>() == 8);
const _: () = assert!(size_of::<Block>() == 8);

/// A counted reference to a chain.
#[derive(Debug)]
pub(super) struct Chain(NonNull<Header>);

// SAFETY: counted atomically; what it refers to does not change while it is referred to.
unsafe impl Send for Chain {}
// SAFETY: as above.
unsafe impl Sync for Chain {}

fn layout(len: usize) -> Layout {
    let list = Layout::array::<Block>(len).expect("as long as a list that exists");
    let (whole, offset) = Layout::new::<Header>()
        .extend(list)
        .expect("far below the address space");
    debug_assert_eq!(offset, size_of::<Header>());
    whole
}

/// Bytes that a chain of so many blocks takes beside them.
pub(super) fn footprint(len: usize) -> u64 {
    memory::footprint(layout(len).size())
}

impl Chain {
    /// A chain of these blocks, of which there is at least one.
    pub(super) fn new(pool: &Arc<Pool>, blocks: Vec<Block>) -> Self {
        let len = blocks.len();
        assert!(len > 0, "a chain has blocks");
        pool.add_used(footprint(len));
        let layout = layout(len);
        // SAFETY: `layout` is not empty.
        let start = NonNull::new(unsafe { alloc(layout) });
        let start: NonNull<Header> = start.unwrap_or_else(|| handle_alloc_error(layout)).cast();
        let header = Header {
            references: AtomicU32::new(1),
            len: u32::try_from(len).expect("blocks of fewer than 2^46 bytes"),
            pool: Arc::clone(pool),
        };
        // SAFETY: there is room for the header and `len` blocks behind it, see `layout`.
        unsafe {
            start.write(header);
            let list = start.add(1).cast::<Block>();
            for (index, block) in blocks.into_iter().enumerate() {
                list.add(index).write(block);
            }
        }
        Chain(start)
    }

    /// A number that stands for this reference in a record.
    pub(super) fn into_raw(self) -> u64 {
        std::mem::ManuallyDrop::new(self)
            .0
            .expose_provenance()
            .get() as u64
    }

    /// # Safety
    /// `raw` came from [`into_raw`](Self::into_raw), and is not used again.
    pub(super) unsafe fn from_raw(raw: u64) -> Self {
        let address = std::num::NonZero::new(raw as usize).expect("no reference is at address 0");
        Chain(NonNull::with_exposed_provenance(address))
    }

    /// One more reference to the chain that `raw` stands for.
    ///
    /// # Safety
    /// `raw` came from [`into_raw`](Self::into_raw) and was not given to [`from_raw`](Self::from_raw)
    /// since.
    pub(super) unsafe fn share_raw(raw: u64) -> Self {
        // SAFETY: by the caller's promise it stands for a live reference, which is kept by not
        // dropping it here.
        let chain = std::mem::ManuallyDrop::new(unsafe { Chain::from_raw(raw) });
        Chain::clone(&chain)
    }

    fn header(&self) -> &Header {
        // SAFETY: written by `new`, freed after the last reference.
        unsafe { self.0.as_ref() }
    }

    /// Memory of its blocks, whoever else refers to them.
    pub(super) fn block_bytes(&self) -> u64 {
        (self.blocks().len() * BLOCK_BYTES) as u64
    }

    pub(super) fn is_of(&self, pool: &Arc<Pool>) -> bool {
        Arc::ptr_eq(&self.header().pool, pool)
    }

    pub(super) fn blocks(&self) -> &[Block] {
        let len = self.header().len as usize;
        // SAFETY: `len` blocks were written behind the header, and stay while there are references.
        unsafe { std::slice::from_raw_parts(self.0.add(1).cast().as_ptr(), len) }
    }
}

impl Clone for Chain {
    fn clone(&self) -> Self {
        let before = self.header().references.fetch_add(1, Ordering::Relaxed);
        assert!(before < u32::MAX / 2, "a value is referred to too often");
        Chain(self.0)
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        if self.header().references.fetch_sub(1, Ordering::Release) != 1 {
            return;
        }
        // A load and not a fence: the thread sanitizer understands it.
        self.header().references.load(Ordering::Acquire);
        let unused = UnusedChain {
            start: self.0,
            left: self.header().len,
        };
        if unused.left as usize > MANY_BLOCKS {
            let pool = Arc::clone(&self.header().pool);
            pool.condemn(unused);
        }
    }
}

/// A chain to which nobody refers any more. Dropping it frees it.
#[derive(Debug)]
pub(super) struct UnusedChain {
    start: NonNull<Header>,
    /// Blocks that are still in the list.
    left: u32,
}

// SAFETY: owns what it points to.
unsafe impl Send for UnusedChain {}

impl UnusedChain {
    pub(super) fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Takes up to so many blocks from the end.
    pub(super) fn take_last(&mut self, max_blocks: usize) -> impl Iterator<Item = Block> + use<> {
        let end = self.left as usize;
        let start = end.saturating_sub(max_blocks);
        self.left = start as u32;
        // SAFETY: behind the header lies the list.
        let list = unsafe { self.start.add(1).cast::<Block>() };
        // SAFETY: each of these was written by `Chain::new`, and is read once: `left` has shrunk.
        (start..end).map(move |index| unsafe { list.add(index).read() })
    }
}

impl Drop for UnusedChain {
    fn drop(&mut self) {
        let blocks = self.take_last(usize::MAX);
        // SAFETY: written by `Chain::new` and read once, here; the memory is freed after that.
        let header = unsafe { self.start.read() };
        header.pool.release(blocks);
        let len = header.len as usize;
        header.pool.subtract_used(footprint(len));
        // SAFETY: allocated by `Chain::new` with this layout; nobody refers to it.
        unsafe { dealloc(self.start.cast().as_ptr(), layout(len)) };
    }
}
