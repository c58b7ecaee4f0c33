//! Frames: the memory that blocks are cut from.
//!
//! A frame is address space for some blocks, mapped and given back as a whole. The pages behind it are taken
//! and given back block by block, so it does not matter how those that are in use are spread over
//! frames. Some unused blocks are kept with their pages, see [`Kept`]. Other new blocks come from the frame with the lowest number that has one, so that frames empty.

#![allow(unsafe_code, reason = "blocks are parts of a frame's memory")]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::UnixMillis;
use super::block::{BLOCK_BYTES, Block, UnusedBlock};
use super::kept::Kept;
use crate::memory::Memory;

/// As many as a word has bits. Small enough that a frame empties now and then, and large enough that a
/// large store has far fewer frames than a process may have mappings (65,530 on Linux).
const FRAME_BLOCKS: usize = u32::BITS as usize;
const FRAME_BYTES: usize = FRAME_BLOCKS * BLOCK_BYTES;

#[derive(Debug)]
pub(super) struct Frames {
    state: Mutex<State>,
    /// Unused blocks that keep their pages as long as there is room for them.
    min_kept: AtomicUsize,
    /// Blocks that are kept, beside the state so that no lock is needed to tell.
    kept: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    frames: Vec<Option<Frame>>,
    /// Numbers of frames that were given back.
    vacant: Vec<u32>,
    with_room: BTreeSet<u32>,
    kept: Kept,
}

#[derive(Debug)]
struct Frame {
    memory: Memory,
    /// One bit for each block that nobody has, and that is not kept either: it has no pages.
    free: u32,
}

/// Blocks of one frame.
#[derive(Debug, Clone, Copy)]
struct Group {
    frame: u32,
    blocks: u32,
}

impl Frames {
    pub(super) fn new(min_kept: usize) -> Self {
        Frames {
            state: Mutex::default(),
            min_kept: AtomicUsize::new(min_kept),
            kept: AtomicUsize::new(0),
        }
    }

    /// Changes how many unused blocks are kept for ever, and gives back those that are kept now.
    pub(super) fn set_min_kept(&self, min_kept: usize) {
        self.min_kept.store(min_kept, Ordering::Relaxed);
        self.shrink_kept(0);
    }

    pub(super) fn kept(&self) -> usize {
        self.kept.load(Ordering::Relaxed)
    }

    /// Whether more is kept than for ever.
    pub(super) fn has_surplus(&self) -> bool {
        self.kept() > self.min_kept.load(Ordering::Relaxed)
    }

    /// Gives back all kept blocks beyond so many.
    pub(super) fn shrink_kept(&self, max: usize) {
        let mut state = self.state.lock();
        let surplus = state.kept.shrink_to(max);
        self.kept.store(state.kept.len(), Ordering::Relaxed);
        drop(state);
        self.give_up(&surplus);
    }

    /// Gives back up to `max_blocks` that were kept in vain; returns whether there were any.
    pub(super) fn age_kept(&self, now: UnixMillis, max_blocks: usize) -> bool {
        let min_kept = self.min_kept.load(Ordering::Relaxed);
        let mut state = self.state.lock();
        let surplus = state.kept.age(now, min_kept, max_blocks);
        self.kept.store(state.kept.len(), Ordering::Relaxed);
        drop(state);
        self.give_up(&surplus);
        !surplus.is_empty()
    }

    pub(super) fn allocate(&self) -> Block {
        let mut state = self.state.lock();
        let kept = state.kept.take();
        if kept.is_some() {
            self.kept.store(state.kept.len(), Ordering::Relaxed);
        }
        let UnusedBlock { start, frame } = match kept.or_else(|| state.take_free()) {
            Some(block) => block,
            None => {
                drop(state);
                let memory = Memory::zeroed(FRAME_BYTES);
                state = self.state.lock();
                state.add(memory);
                state.take_free().expect("a new frame has free blocks")
            }
        };
        drop(state);
        // SAFETY: zeroed or written before, aligned like its frame to more than eight; it is neither
        // free nor kept any more, so nobody else gets it until it is taken back.
        unsafe { Block::new(start, frame) }
    }

    /// Takes back blocks to which nobody refers any more, and keeps them if there is room for so many kept ones.
    pub(super) fn take_back(&self, mut blocks: Vec<UnusedBlock>, room: usize) {
        let max_kept = room.max(self.min_kept.load(Ordering::Relaxed));
        let mut state = self.state.lock();
        state.kept.keep(&mut blocks, max_kept);
        self.kept.store(state.kept.len(), Ordering::Relaxed);
        drop(state);
        self.give_up(&blocks);
    }

    /// Gives the pages of blocks back, and frames of which that is the last.
    fn give_up(&self, blocks: &[UnusedBlock]) {
        if blocks.is_empty() {
            return;
        }
        let mut empty = Vec::new();
        let mut state = self.state.lock();
        let mut groups = state.groups(blocks);
        // A frame of which these are the last needs only be unmapped.
        groups.retain(|group| {
            let is_last = state.frame(group.frame).free | group.blocks == u32::MAX;
            if is_last {
                empty.extend(state.free(*group));
            }
            !is_last
        });
        let starts: Vec<_> = groups
            .iter()
            .map(|group| state.frame(group.frame).memory.start())
            .collect();
        drop(state);
        drop(empty);
        // Until they are marked as free their frames stay, and nobody is given them.
        for (group, start) in groups.iter().zip(starts) {
            for (first, count) in runs(group.blocks) {
                // SAFETY: inside the frame, which is as long as its memory; nobody refers to these blocks.
                unsafe {
                    let at = start.add(first * BLOCK_BYTES);
                    Memory::discard(FRAME_BYTES, at, count * BLOCK_BYTES);
                }
            }
        }
        let mut state = self.state.lock();
        let empty: Vec<_> = groups
            .into_iter()
            .filter_map(|group| state.free(group))
            .collect();
        drop(state);
        drop(empty);
    }
}

impl State {
    fn frame(&mut self, number: u32) -> &mut Frame {
        let frame = self.frames[number as usize].as_mut();
        frame.expect("a frame of which a block is in use exists")
    }

    fn take_free(&mut self) -> Option<UnusedBlock> {
        let number = *self.with_room.first()?;
        let frame = self.frame(number);
        let index = frame.free.trailing_zeros();
        frame.free &= !(1 << index);
        // SAFETY: inside the frame, which has a block for each bit.
        let start = unsafe { frame.memory.start().add(index as usize * BLOCK_BYTES) };
        if frame.free == 0 {
            self.with_room.remove(&number);
        }
        Some(UnusedBlock {
            start,
            frame: number,
        })
    }

    fn add(&mut self, memory: Memory) {
        let free = u32::MAX;
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
    }

    /// These blocks, as far as neighbours in the list are of one frame.
    fn groups(&mut self, blocks: &[UnusedBlock]) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for block in blocks {
            let start = self.frame(block.frame).memory.start();
            let offset = block.start.addr().get() - start.addr().get();
            let bit = 1 << (offset / BLOCK_BYTES);
            match groups.last_mut() {
                Some(group) if group.frame == block.frame => group.blocks |= bit,
                _ => groups.push(Group {
                    frame: block.frame,
                    blocks: bit,
                }),
            }
        }
        groups
    }

    /// Marks blocks as free; returns the frame's memory if nothing is left in it.
    fn free(&mut self, group: Group) -> Option<Memory> {
        let frame = self.frame(group.frame);
        frame.free |= group.blocks;
        if frame.free != u32::MAX {
            self.with_room.insert(group.frame);
            return None;
        }
        let frame = self.frames[group.frame as usize].take();
        self.with_room.remove(&group.frame);
        self.vacant.push(group.frame);
        frame.map(|frame| frame.memory)
    }
}

/// Where the runs of ones in a word begin, and how long they are.
fn runs(mut word: u32) -> impl Iterator<Item = (usize, usize)> {
    std::iter::from_fn(move || {
        if word == 0 {
            return None;
        }
        let first = word.trailing_zeros();
        let count = (word >> first).trailing_ones();
        // As 64 bits: all of 32 may be one run.
        word &= !((((1_u64 << count) - 1) << first) as u32);
        Some((first as usize, count as usize))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_ones_are_found_from_end_to_end() {
        let found = |word| runs(word).collect::<Vec<_>>();
        assert_eq!(found(0), []);
        assert_eq!(found(u32::MAX), [(0, 32)]);
        assert_eq!(found(0b1011_0110), [(1, 2), (4, 2), (7, 1)]);
        assert_eq!(found(1 << 31), [(31, 1)]);
    }

    #[test]
    fn frames_are_given_back_when_their_last_block_is_whatever_the_order() {
        for kept in [0, 3] {
            let frames = Frames::new(kept);
            let mut random = fastrand::Rng::with_seed(7);
            let mut blocks: Vec<_> = (0..1_000).map(|_| frames.allocate()).collect();
            let mapped = frames.state.lock().frames.iter().flatten().count();
            assert_eq!(mapped, 1_000_usize.div_ceil(FRAME_BLOCKS));
            random.shuffle(&mut blocks);
            for piece in blocks.chunks(17) {
                let mut unused = piece.iter().map(Block::share).filter_map(Block::release);
                assert!(unused.next().is_none(), "there is another reference");
            }
            while !blocks.is_empty() {
                let last = blocks.split_off(blocks.len().saturating_sub(17));
                let unused = last.into_iter().filter_map(Block::release);
                frames.take_back(unused.collect(), 0);
            }
            assert_eq!(frames.kept(), kept);
            frames.set_min_kept(0);
            let state = frames.state.lock();
            assert_eq!(state.frames.iter().flatten().count(), 0);
            assert!(state.with_room.is_empty());
        }
    }
}
