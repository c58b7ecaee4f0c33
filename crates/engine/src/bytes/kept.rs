//! Unused blocks that keep their pages for a while.
//!
//! Taking pages is dear: a value of five megabytes that was received into new ones took three times the
//! processor time of one that was received into pages at hand. So what is freed is kept. How much of it is
//! needed shows in how few blocks were left over a while: those were kept in vain, and half of them go.

use std::collections::VecDeque;

use super::UnixMillis;
use super::block::UnusedBlock;

/// How long a while is.
const INTERVAL_MS: u64 = 1_000;

#[derive(Debug, Default)]
pub(super) struct Kept {
    /// The one freed last at the back.
    blocks: VecDeque<UnusedBlock>,
    /// The fewest that there were in this interval.
    fewest: usize,
    began: UnixMillis,
    /// Blocks that shall go.
    surplus: usize,
}

impl Kept {
    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Takes one to be used again.
    pub(super) fn take(&mut self) -> Option<UnusedBlock> {
        let block = self.blocks.pop_back();
        self.fewest = self.fewest.min(self.blocks.len());
        block
    }

    /// Keeps blocks until there are `max`. The others stay in `unused`.
    pub(super) fn keep(&mut self, unused: &mut Vec<UnusedBlock>, max: usize) {
        let room = max.saturating_sub(self.blocks.len()).min(unused.len());
        self.blocks.extend(unused.drain(..room));
    }

    /// Takes out what is to go, up to `max` blocks, but leaves `min`.
    pub(super) fn age(&mut self, now: UnixMillis, min: usize, max: usize) -> Vec<UnusedBlock> {
        // Also if the clock went back.
        if now.0.abs_diff(self.began.0) >= INTERVAL_MS {
            self.surplus = self.fewest.saturating_sub(min).div_ceil(2);
            self.fewest = self.blocks.len();
            self.began = now;
        }
        let above_min = self.blocks.len().saturating_sub(min);
        let count = self.surplus.min(max).min(above_min);
        self.surplus -= count;
        self.blocks.drain(..count).collect()
    }

    /// Takes out all beyond `max`.
    pub(super) fn shrink_to(&mut self, max: usize) -> Vec<UnusedBlock> {
        let count = self.blocks.len().saturating_sub(max);
        self.fewest = self.fewest.min(max);
        self.blocks.drain(..count).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::ptr::NonNull;

    use super::*;

    fn blocks(count: usize) -> Vec<UnusedBlock> {
        let block = |_| UnusedBlock {
            start: NonNull::dangling(),
            frame: 0,
        };
        (0..count).map(block).collect()
    }

    #[test]
    fn of_what_was_not_needed_for_a_while_half_goes() {
        let mut kept = Kept::default();
        kept.keep(&mut blocks(100), 1_000);
        let second = |number: u64| UnixMillis(number * INTERVAL_MS);
        assert!(kept.age(second(1), 0, 1_000).is_empty(), "they just came");
        // 40 of them are in use now and then.
        let mut age = |number| {
            let mut in_use: Vec<_> = (0..40).filter_map(|_| kept.take()).collect();
            kept.keep(&mut in_use, 1_000);
            kept.age(second(number), 0, 1_000).len()
        };
        assert_eq!([age(2), age(3), age(4)], [30, 15, 8]);
        let gone: usize = (5..20).map(age).sum();
        assert_eq!(gone, 7);
        assert_eq!(kept.len(), 40);
    }

    #[test]
    fn what_goes_goes_in_steps_and_leaves_as_many_as_are_always_kept() {
        let mut kept = Kept::default();
        kept.keep(&mut blocks(100), 1_000);
        kept.age(UnixMillis(1_000), 10, 8);
        let steps: Vec<_> = (0..7)
            .map(|_| kept.age(UnixMillis(2_000), 10, 8).len())
            .collect();
        assert_eq!(steps, [8, 8, 8, 8, 8, 5, 0]);
        for second in 3..20 {
            kept.age(UnixMillis(second * 1_000), 10, 1_000);
        }
        assert_eq!(kept.len(), 10);
    }
}
