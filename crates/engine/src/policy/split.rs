//! How much of the cache the small queue gets.
//!
//! A key that returns soon after its eviction would still be there if its queue had been a little longer.
//! Such returns are counted for both queues over the same small extra length, so their rates say which
//! queue gains more from the next entry of room; the share moves that way until they are equal. Returns
//! after longer absence say nothing about the margin, and are not used: the rule of ARC, which uses them
//! all, pulls towards the small queue because most evictions are from there.

use super::{Class, ghosts::Ghost};

/// The small queue's share of the weight at the start.
const START: f64 = 0.05;

/// The small queue never vanishes, or no newcomer would live to be hit; and never rules.
const LOWEST: f64 = 0.01;
const HIGHEST: f64 = 0.5;

/// Entries by which one return moves the split. Between 1 and 5 the traces show no difference.
const STEP_ENTRIES: f64 = 4.0;

#[derive(Debug)]
pub(super) struct Split {
    small_share: f64,
}

impl Split {
    pub(super) fn new() -> Self {
        Self { small_share: START }
    }

    /// The part of the whole weight, from 0 to 1, that the small queue should hold.
    pub(super) fn small_share(&self) -> f64 {
        self.small_share
    }

    /// Learns from the return of a key to a shard of `len` entries.
    pub(super) fn returned(&mut self, ghost: Ghost, len: usize) {
        if !ghost.young {
            return;
        }
        let step = STEP_ENTRIES / len.max(1) as f64;
        let step = match ghost.class {
            Class::Small => step,
            Class::Main => -step,
        };
        self.small_share = (self.small_share + step).clamp(LOWEST, HIGHEST);
    }
}
