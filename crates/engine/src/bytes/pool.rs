//! The memory of a store: what is in use in all, spare pieces, blocks, and large values that wait to be
//! freed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::UnixMillis;
use super::block::{BLOCK_BYTES, Block};
use super::chain::UnusedChain;
use super::frames::Frames;
use crate::memory::{self, Memory};

/// Pieces of memory that are kept for the next use although nothing is in them. They are not counted
/// as used; with a full store an eviction frees one piece just when the next write asks for one.
const SPARE_PIECES: usize = 2;

/// Unused blocks that are kept for a while, at the most: some values of megabytes that clients replace at
/// the same time.
const MAX_KEPT_BLOCKS: usize = (64 << 20) / BLOCK_BYTES;

/// Condemned blocks that are freed when a block is asked for and none is kept.
const FREED_FOR_ONE: usize = 64;

#[derive(Debug)]
pub(super) struct Pool {
    used_bytes: AtomicU64,
    /// What is used, and what is kept for the next use, is together no more; `u64::MAX` for no limit.
    max_bytes: AtomicU64,
    frames: Frames,
    spare: Mutex<Vec<Memory>>,
    /// Chains of many blocks to which nobody refers any more.
    condemned: Mutex<Vec<UnusedChain>>,
    /// Whether there are any, kept beside them so that no lock is needed to tell.
    has_condemned: AtomicBool,
    /// Set when the store is gone: nobody is left who would free what is condemned later.
    is_closed: AtomicBool,
}

impl Pool {
    /// Keeps `min_kept_blocks` for the next use whatever the limit is.
    pub(super) fn new(max_bytes: u64, min_kept_blocks: usize) -> Arc<Self> {
        Arc::new(Pool {
            used_bytes: AtomicU64::new(0),
            max_bytes: AtomicU64::new(max_bytes),
            frames: Frames::new(min_kept_blocks),
            spare: Mutex::default(),
            condemned: Mutex::default(),
            has_condemned: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
        })
    }

    pub(super) fn used_bytes(&self) -> u64 {
        self.used_bytes.load(Ordering::Relaxed)
    }

    pub(super) fn max_bytes(&self) -> u64 {
        self.max_bytes.load(Ordering::Relaxed)
    }

    pub(super) fn add_used(&self, bytes: u64) {
        let used = self.used_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let kept = (self.frames.kept() * BLOCK_BYTES) as u64;
        if kept > 0 && used.saturating_add(kept) > self.max_bytes() && self.frames.has_surplus() {
            self.frames.shrink_kept(self.room_for_kept());
        }
    }

    /// How many blocks may be kept beside what is used.
    fn room_for_kept(&self) -> usize {
        let room = self.max_bytes().saturating_sub(self.used_bytes());
        let blocks = usize::try_from(room / BLOCK_BYTES as u64).unwrap_or(usize::MAX);
        blocks.min(MAX_KEPT_BLOCKS)
    }

    pub(super) fn subtract_used(&self, bytes: u64) {
        self.used_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Memory of this length, counted as used.
    pub(super) fn allocate(&self, len: usize) -> Memory {
        self.add_used(memory::footprint(len));
        let mut spare = self.spare.lock();
        match spare.iter().position(|memory| memory.len() == len) {
            Some(fitting) => spare.swap_remove(fitting),
            None => {
                drop(spare);
                Memory::zeroed(len)
            }
        }
    }

    pub(super) fn give_back(&self, memory: Memory) {
        self.subtract_used(memory::footprint(memory.len()));
        let mut spare = self.spare.lock();
        spare.push(memory);
        let surplus = (spare.len() > SPARE_PIECES).then(|| spare.remove(0));
        drop(spare);
        drop(surplus);
    }

    /// Gives spare memory back to the operating system, and keeps to other bounds from now on.
    pub(super) fn trim(&self, max_bytes: u64, min_kept_blocks: usize) {
        self.max_bytes.store(max_bytes, Ordering::Relaxed);
        let spare = std::mem::take(&mut *self.spare.lock());
        drop(spare);
        self.frames.set_min_kept(min_kept_blocks);
    }

    /// Whether unused blocks are kept that will be given back if they stay unused.
    pub(super) fn has_surplus(&self) -> bool {
        self.frames.has_surplus()
    }

    /// Gives back up to so many unused blocks that were kept in vain; returns whether there were any.
    pub(super) fn give_up_surplus(&self, now: UnixMillis, max_blocks: usize) -> bool {
        self.has_surplus() && self.frames.age_kept(now, max_blocks)
    }

    pub(super) fn allocate_block(&self) -> Block {
        if self.frames.kept() == 0 {
            // What waits to be freed has pages already.
            self.free_condemned(FREED_FOR_ONE);
        }
        // Taken first: one that was kept takes no further memory.
        let block = self.frames.allocate();
        self.add_used(BLOCK_BYTES as u64);
        block
    }

    /// Gives references back; what nobody refers to any more can be used again.
    pub(super) fn release(&self, blocks: impl Iterator<Item = Block>) {
        let unused: Vec<_> = blocks.filter_map(Block::release).collect();
        self.subtract_used((unused.len() * BLOCK_BYTES) as u64);
        if !unused.is_empty() {
            self.frames.take_back(unused, self.room_for_kept());
        }
    }

    /// Keeps a chain to which nobody refers any more, to be freed in pieces.
    pub(super) fn condemn(&self, chain: UnusedChain) {
        let mut condemned = self.condemned.lock();
        if self.is_closed.load(Ordering::Relaxed) {
            drop(condemned);
            drop(chain);
        } else {
            condemned.push(chain);
            self.has_condemned.store(true, Ordering::Relaxed);
        }
    }

    pub(super) fn has_condemned(&self) -> bool {
        self.has_condemned.load(Ordering::Relaxed)
    }

    /// Frees up to so many condemned blocks; returns whether there were any.
    pub(super) fn free_condemned(&self, max_blocks: usize) -> bool {
        if !self.has_condemned() {
            return false;
        }
        let mut condemned = self.condemned.lock();
        let Some(mut chain) = condemned.pop() else {
            return false;
        };
        let is_last = condemned.is_empty();
        self.has_condemned.store(!is_last, Ordering::Relaxed);
        drop(condemned);
        self.release(chain.take_last(max_blocks));
        if !chain.is_empty() {
            self.condemn(chain);
        }
        true
    }

    /// Frees what is condemned, now and from now on at once.
    pub(super) fn close(&self) {
        let mut condemned = self.condemned.lock();
        self.is_closed.store(true, Ordering::Relaxed);
        let chains = std::mem::take(&mut *condemned);
        drop(condemned);
        drop(chains);
        self.trim(self.max_bytes(), 0);
    }
}
