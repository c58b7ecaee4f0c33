//! The memory of a store: what is in use in all, frames of blocks, and large values that wait to be
//! freed.
//!
//! Blocks lie in *frames* of a few of them, which are asked for and given back whole. A frame counts
//! as used while it exists: so the sum is what the process really holds, however the free blocks are
//! spread. New blocks come from the frame with the lowest number that has one, so that others empty.

#![allow(unsafe_code, reason = "blocks are parts of a frame's memory")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::block::{BLOCK_BYTES, Block, UnusedBlock};
use super::chain::UnusedChain;
use crate::memory::{self, Memory};

/// Most blocks in a frame: a frame's free blocks are the bits of a word.
pub(super) const MAX_FRAME_BLOCKS: usize = 16;

/// Pieces of memory that are kept for the next use although nothing is in them. They are not counted
/// as used; with a full store an eviction frees one piece just when the next write asks for one.
const SPARE_PIECES: usize = 2;

#[derive(Debug)]
pub(super) struct Pool {
    used_bytes: AtomicU64,
    frame_blocks: usize,
    frames: Mutex<Frames>,
    spare: Mutex<Vec<Memory>>,
    /// Chains of many blocks to which nobody refers any more.
    condemned: Mutex<Vec<UnusedChain>>,
    /// Whether there are any, kept beside them so that no lock is needed to tell.
    has_condemned: AtomicBool,
    /// Set when the store is gone: nobody is left who would free what is condemned later.
    is_closed: AtomicBool,
}

#[derive(Debug, Default)]
struct Frames {
    frames: Vec<Option<Frame>>,
    /// Numbers of frames that were given back.
    vacant: Vec<u32>,
    with_room: BTreeSet<u32>,
}

#[derive(Debug)]
struct Frame {
    memory: Memory,
    /// One bit for each block.
    free: u32,
}

impl Pool {
    /// `frame_blocks` is held between 1 and [`MAX_FRAME_BLOCKS`].
    pub(super) fn new(frame_blocks: usize) -> Arc<Self> {
        Arc::new(Pool {
            used_bytes: AtomicU64::new(0),
            frame_blocks: frame_blocks.clamp(1, MAX_FRAME_BLOCKS),
            frames: Mutex::default(),
            spare: Mutex::default(),
            condemned: Mutex::default(),
            has_condemned: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
        })
    }

    pub(super) fn used_bytes(&self) -> u64 {
        self.used_bytes.load(Ordering::Relaxed)
    }

    pub(super) fn add_used(&self, bytes: u64) {
        self.used_bytes.fetch_add(bytes, Ordering::Relaxed);
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

    /// Gives spare memory back to the operating system.
    pub(super) fn trim(&self) {
        let spare = std::mem::take(&mut *self.spare.lock());
        drop(spare);
    }

    /// What taking a block would add to what is used.
    pub(super) fn bytes_for_block(&self) -> u64 {
        if self.frames.lock().with_room.is_empty() {
            memory::footprint(self.frame_blocks * BLOCK_BYTES)
        } else {
            0
        }
    }

    pub(super) fn allocate_block(&self) -> Block {
        let mut frames = self.frames.lock();
        let number = match frames.with_room.first() {
            Some(number) => *number,
            None => {
                drop(frames);
                let memory = self.allocate(self.frame_blocks * BLOCK_BYTES);
                frames = self.frames.lock();
                frames.add(memory, self.frame_blocks)
            }
        };
        let frame = frames.frames[number as usize].as_mut();
        let frame = frame.expect("a frame with room exists");
        let index = frame.free.trailing_zeros();
        frame.free &= !(1 << index);
        // SAFETY: inside the frame, since only blocks that it has are marked as free.
        let start = unsafe { frame.memory.start().add(index as usize * BLOCK_BYTES) };
        if frame.free == 0 {
            frames.with_room.remove(&number);
        }
        // SAFETY: zeroed or written before, aligned like its frame to more than eight; it is no longer
        // marked as free, so nobody else gets it until `release` has it back.
        unsafe { Block::new(start, number) }
    }

    /// Gives references back; what nobody refers to any more can be used again.
    pub(super) fn release(&self, blocks: impl Iterator<Item = Block>) {
        let mut blocks = blocks.filter_map(Block::release).peekable();
        if blocks.peek().is_none() {
            return;
        }
        let mut empty = Vec::new();
        let mut frames = self.frames.lock();
        for block in blocks {
            empty.extend(frames.take_back(&block, self.frame_blocks));
        }
        drop(frames);
        for memory in empty {
            self.give_back(memory);
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
        self.trim();
    }
}

impl Frames {
    fn add(&mut self, memory: Memory, blocks: usize) -> u32 {
        let free = (1 << blocks) - 1;
        let frame = Some(Frame { memory, free });
        let number = match self.vacant.pop() {
            Some(number) => {
                self.frames[number as usize] = frame;
                number
            }
            None => {
                self.frames.push(frame);
                u32::try_from(self.frames.len() - 1).expect("fewer than 2^32 frames fit in memory")
            }
        };
        self.with_room.insert(number);
        number
    }

    /// Returns the frame's memory if nothing is left in it.
    fn take_back(&mut self, block: &UnusedBlock, blocks: usize) -> Option<Memory> {
        let slot = &mut self.frames[block.frame as usize];
        let frame = slot.as_mut().expect("a frame with a block exists");
        let offset = block.start.addr().get() - frame.memory.start().addr().get();
        frame.free |= 1 << (offset / BLOCK_BYTES);
        if frame.free != (1 << blocks) - 1 {
            self.with_room.insert(block.frame);
            return None;
        }
        let frame = slot.take();
        self.with_room.remove(&block.frame);
        self.vacant.push(block.frame);
        frame.map(|frame| frame.memory)
    }
}
