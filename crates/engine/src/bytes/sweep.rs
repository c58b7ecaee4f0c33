//! Removing expired entries that nobody asks for, in bounded steps.
//!
//! A shard, and each of its segments, remembers a lower bound of its deadlines. A sweep passes by what
//! has its bound in the future; it walks the other segments from the start to the end, and makes a
//! segment's bound exact when it reaches the end. It also compacts a little where much is dead, and frees what
//! waits to be freed in pieces, and what was kept for the next use and not used.

use super::UnixMillis;
use super::log::{Location, Walk};
use super::segment::NEVER;
use super::shard::Shard;
use super::store::ByteStore;

/// Blocks of condemned values that a step frees.
const FREED_BLOCKS: usize = 64;

/// Where a sweep is. The default begins at the start.
#[derive(Debug, Default)]
pub struct Sweep {
    shard: usize,
}

/// What one step of a sweep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Entries looked at, and blocks freed.
    pub visited: usize,
    /// Entries removed.
    pub removed: usize,
    /// Whether the sweep came to the end: nothing more is due.
    pub finished: bool,
}

/// Where in a shard the sweep is.
#[derive(Debug)]
pub(super) struct SweptSegment {
    /// Segments with lower numbers are done.
    next: usize,
    walk: Option<Walk>,
    /// The earliest deadline that was met in the segment, or set there since.
    earliest_met: u64,
}

impl Default for SweptSegment {
    fn default() -> Self {
        SweptSegment {
            next: 0,
            walk: None,
            earliest_met: NEVER,
        }
    }
}

impl SweptSegment {
    pub(super) fn note_deadline(&mut self, segment: usize, deadline: u64) {
        if self.walk.is_some_and(|walk| walk.segment == segment) {
            self.earliest_met = self.earliest_met.min(deadline);
        }
    }
}

impl Shard {
    /// Returns whether the shard is done.
    fn sweep(&mut self, now: UnixMillis, max_visited: usize, swept: &mut Swept) -> bool {
        if self.earliest_deadline > now.0 {
            return true;
        }
        while swept.visited < max_visited {
            let Some(walk) = self.sweep.walk else {
                if !self.begin_segment(now) {
                    self.end_sweep();
                    return true;
                }
                continue;
            };
            let Some(record) = self.log.resume(walk) else {
                self.end_segment(walk);
                continue;
            };
            self.sweep.walk = Some(walk.after(&record));
            swept.visited += 1;
            if !record.is_live() {
                continue;
            }
            if record.deadline() <= now.0 {
                self.remove_expired(walk.location());
                swept.removed += 1;
            } else {
                self.sweep.earliest_met = self.sweep.earliest_met.min(record.deadline());
            }
        }
        false
    }

    fn remove_expired(&mut self, location: Location) {
        let record = self.log.record(location);
        self.stats.expirations += u64::from(self.database_of(&record).is_some());
        self.remove_at(location);
    }

    /// Finds the next segment in which something is due.
    fn begin_segment(&mut self, now: UnixMillis) -> bool {
        let is_due = |number: &usize| {
            let segment = self.log.get(*number);
            segment.is_some_and(|segment| segment.earliest_deadline <= now.0)
        };
        let Some(number) = (self.sweep.next..self.log.numbers()).find(is_due) else {
            return false;
        };
        self.sweep = SweptSegment {
            next: number + 1,
            walk: Some(Walk::new(number, &self.log)),
            earliest_met: NEVER,
        };
        true
    }

    fn end_segment(&mut self, walk: Walk) {
        self.sweep.walk = None;
        if self.log.is_walked(walk) {
            self.log.segment_mut(walk.segment).earliest_deadline = self.sweep.earliest_met;
        }
    }

    fn end_sweep(&mut self) {
        self.sweep = SweptSegment::default();
        let segments = (0..self.log.numbers()).filter_map(|number| self.log.get(number));
        let earliest = segments.map(|segment| segment.earliest_deadline).min();
        self.earliest_deadline = earliest.unwrap_or(NEVER);
    }
}

impl ByteStore {
    /// Whether a sweep may find something to do, now or when time has passed.
    pub fn needs_sweep(&self) -> bool {
        self.pool.has_condemned()
            || self.pool.has_surplus()
            || self
                .databases()
                .any(|database| self.len_with_deadline(database) > 0)
    }

    /// Goes on with a sweep, looking at no more than `max_visited` records in one locked shard.
    pub fn sweep(&self, sweep: &mut Sweep, now: UnixMillis, max_visited: usize) -> Swept {
        let mut swept = Swept::default();
        if self.pool.free_condemned(FREED_BLOCKS) || self.pool.give_up_surplus(now, FREED_BLOCKS) {
            swept.visited = FREED_BLOCKS;
            return swept;
        }
        while swept.visited == 0 {
            if sweep.shard >= self.shards.len() {
                *sweep = Sweep::default();
                swept.finished = true;
                return swept;
            }
            let mut shard = self.lock(sweep.shard);
            if shard.sweep(now, max_visited.max(1), &mut swept) {
                sweep.shard += 1;
            }
            shard.tidy();
        }
        swept
    }
}
