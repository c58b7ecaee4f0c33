//! Keeping the limit: eviction and compaction.
//!
//! *Eviction* is CLOCK over the log (FIFO with reinsertion): each entry has a mark, which hits raise
//! from 0 up to 3. Entries are considered in the order in which they were written. One with a mark has
//! it lowered and is appended again; one without goes. A hit writes to the entry alone, no list is
//! kept, and entries go from the oldest segment so that it can be freed as a whole. Entries of flushed
//! databases and expired ones that are met go in any case.
//!
//! *Compaction* saves the live records of the segment with the most dead ones, whatever their marks, to
//! another segment. It runs when much is dead; with a full store already when less is, because an entry
//! shall not go to make room for one that is gone.
//!
//! Both proceed record by record. A writer that finds the store above its limit goes on until it is not,
//! in steps after each of which the shard is unlocked.

use super::UnixMillis;
use super::block::BLOCK_BYTES;
use super::log::{Log, Walk};
use super::shard::Shard;
use super::store::{ByteStore, Database, MAX_SHARDS};

/// Compaction begins when more than this part of a shard's segments is dead (with an eighth, writes of values that
/// change their lengths took twice the time), and with a full store...
const MAX_DEAD_DIVISOR: usize = 4;
/// ... when more than this part is.
const MAX_DEAD_DIVISOR_WHEN_FULL: usize = 16;

/// Records looked at under one lock, and by a write that finds much dead.
const EVICTION_STEP: usize = 64;
const COMPACTION_STEP: usize = 16;

/// Blocks of condemned values freed at once.
const FREED_BLOCKS: usize = 64;

/// One write moves no more than so many segments' worth of records to save them. Then it evicts whatever
/// comes next, marked or not: if all entries were marked it would move the whole store before the first one goes.
const SAVED_SEGMENTS: usize = 4;

/// Which keys shall stay: what was just written shall not go before it could be read.
pub(super) type IsProtected<'a> = &'a dyn Fn(Database, &[u8]) -> bool;

/// What became of a record that was considered for eviction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Considered {
    /// It went, or was dead.
    Gone,
    /// It had a mark, and was moved. So long is it.
    Saved(usize),
    /// It stays because it is protected.
    Protected,
    /// There is none.
    Nothing,
}

impl Shard {
    /// Whether so much is dead that compaction is worthwhile.
    fn has_much_dead(&self, divisor: usize) -> bool {
        let capacity = self.log.capacity();
        // Below that the segments that are open and moved to make much of the difference.
        let unavoidable = (2 * self.log.max_segment_bytes()).min(capacity / 2);
        self.log.dead_bytes() > unavoidable + capacity / divisor
    }

    /// Compacts a little if much is dead.
    pub(super) fn tidy(&mut self) {
        for _ in 0..COMPACTION_STEP {
            if self.compacting.is_none() && !self.has_much_dead(MAX_DEAD_DIVISOR) {
                return;
            }
            self.compact_one();
        }
    }

    /// Saves one record, and returns how long it is, or 0 if it is dead; none if there is nothing to compact.
    fn compact_one(&mut self) -> Option<usize> {
        let Some(walk) = self.compacting else {
            let excluded = self.evicting.map(|walk| walk.segment);
            let victim = self.log.most_dead(excluded)?;
            self.compacting = Some(Walk::new(victim, &self.log));
            return Some(0);
        };
        let Some(record) = self.log.resume(walk) else {
            self.compacting = None;
            self.give_up_walked(walk);
            return Some(0);
        };
        self.compacting = Some(walk.after(&record));
        if !record.is_live() {
            return Some(0);
        }
        self.relocate(walk.location(), record.mark(), |log, new| {
            log.append_survivor(new, walk.segment)
        });
        Some(record.len())
    }

    /// Gives up a segment that was walked to its end, if nothing lives there. It may never have: records of a survivors'
    /// segment can die while it is not full. Were it to stay, it would be the one with the most dead again.
    fn give_up_walked(&mut self, walk: Walk) {
        if self.log.is_walked(walk) && self.log.segment(walk.segment).live_records() == 0 {
            self.log.give_up(walk.segment);
        }
    }

    /// Considers one record for eviction. A mark helps it only if it `may_save`.
    fn evict_one(
        &mut self,
        now: UnixMillis,
        is_protected: IsProtected<'_>,
        may_save: bool,
    ) -> Considered {
        let Some(walk) = self.evicting else {
            let oldest = self.log.oldest();
            self.evicting = oldest.map(|oldest| Walk::new(oldest, &self.log));
            return oldest.map_or(Considered::Nothing, |_| Considered::Gone);
        };
        let Some(record) = self.log.resume(walk) else {
            self.evicting = None;
            self.give_up_walked(walk);
            return Considered::Gone;
        };
        self.evicting = Some(walk.after(&record));
        let location = walk.location();
        if !record.is_live() {
            return Considered::Gone;
        }
        let database = self.database_of(&record);
        let Some(database) = database.filter(|_| record.deadline() > now.0) else {
            self.stats.expirations += u64::from(database.is_some());
            self.remove_at(location);
            return Considered::Gone;
        };
        if record.mark() > 0 && may_save {
            self.relocate(location, record.mark() - 1, Log::append);
            return Considered::Saved(record.len());
        }
        if self.with_key(location, |key| is_protected(Database(database), key)) {
            self.relocate(location, 0, Log::append);
            return Considered::Protected;
        }
        self.remove_at(location);
        self.stats.evictions += 1;
        Considered::Gone
    }

    /// Evicts or compacts until something waits to be freed or the step is full; false if nothing
    /// can be freed here. `saved_bytes` is what the write has moved so far.
    fn make_room(
        &mut self,
        now: UnixMillis,
        is_protected: IsProtected<'_>,
        saved_bytes: &mut usize,
    ) -> bool {
        let mut protected_in_a_row = 0;
        for _ in 0..EVICTION_STEP {
            if !self.removed.is_empty() || !self.log.given_up.is_empty() {
                break;
            }
            let may_save = *saved_bytes < SAVED_SEGMENTS * self.log.max_segment_bytes();
            if may_save
                && (self.compacting.is_some() || self.has_much_dead(MAX_DEAD_DIVISOR_WHEN_FULL))
                && let Some(saved) = self.compact_one()
            {
                *saved_bytes += saved;
                continue;
            }
            match self.evict_one(now, is_protected, may_save) {
                Considered::Gone => protected_in_a_row = 0,
                Considered::Saved(saved) => {
                    *saved_bytes += saved;
                    protected_in_a_row = 0;
                }
                Considered::Protected => protected_in_a_row += 1,
                Considered::Nothing => return false,
            }
            if protected_in_a_row > 0 && protected_in_a_row >= self.log.live_records() {
                return false;
            }
        }
        true
    }

    /// Sees to it that a further segment can be numbered.
    pub(super) fn make_numbers(&mut self, now: UnixMillis) {
        while self.log.is_full() && self.evict_one(now, &|_, _| false, false) != Considered::Nothing
        {
        }
    }
}

impl ByteStore {
    fn is_over_limit(&self, needed_bytes: u64) -> bool {
        self.used_bytes().saturating_add(needed_bytes) > self.limit()
    }

    /// Evicts until the limit holds, or nothing is left that may go. `first_shard` is asked first.
    pub(super) fn evict_to_limit(
        &self,
        needed_bytes: u64,
        first_shard: usize,
        now: UnixMillis,
        is_protected: IsProtected<'_>,
    ) {
        if !self.is_over_limit(needed_bytes) {
            return;
        }
        let mut is_exhausted = [false; MAX_SHARDS];
        let mut saved_bytes = 0;
        while self.is_over_limit(needed_bytes) {
            if self.pool.free_condemned(FREED_BLOCKS) {
                continue;
            }
            let Some(index) = self.heavy_shard(first_shard, &is_exhausted) else {
                return;
            };
            let mut shard = self.lock(index);
            is_exhausted[index] = !shard.make_room(now, is_protected, &mut saved_bytes);
        }
    }

    /// The first shard from `first` on that holds no less than the mean of all that are not exhausted.
    fn heavy_shard(&self, first: usize, is_exhausted: &[bool; MAX_SHARDS]) -> Option<usize> {
        let shards = self.shards.len();
        let candidates = || {
            let all = (first..first + shards).map(|index| index % shards);
            all.filter(|index| !is_exhausted[*index])
        };
        let total: u64 = candidates().map(|index| self.weight_of(index)).sum();
        let mean = total / (candidates().count() as u64).max(1);
        candidates().find(|index| self.weight_of(*index) >= mean)
    }

    /// Evicts for a block that is about to be taken.
    pub(super) fn make_room_for_block(&self) {
        // Not even expired entries are told apart: they would be the next to go anyway.
        let now = UnixMillis::default();
        self.evict_to_limit(BLOCK_BYTES as u64, 0, now, &|_, _| false);
    }
}

#[cfg(test)]
mod tests {
    use super::super::segment::{NEVER, NewPart, NewRecord};
    use super::super::test_support::*;
    use super::*;

    /// Appends a record that dies at once, and returns the segment it went to.
    fn append_dead_survivor(log: &mut Log) -> usize {
        let part = |tail| NewPart { chain: None, tail };
        let new = NewRecord {
            table: 0,
            mark: 0,
            version: 0,
            flags: 0,
            deadline: NEVER,
            hash: 0,
            key: part(b"survivor"),
            value: part(&[1; 500]),
        };
        let location = log.append_survivor(new, 0);
        log.kill(location).expect("it lives");
        location.segment()
    }

    #[test]
    fn compaction_ends_when_nothing_lives_in_the_segment_with_the_most_dead() {
        let store = store(None);
        set(&store, b"stays", b"1").unwrap();
        let (index, _) = store.hasher.hash(b"stays");
        let mut shard = store.lock(index);
        // All of its records die while it may still get more; then one has no room in it.
        let emptied = append_dead_survivor(&mut shard.log);
        while append_dead_survivor(&mut shard.log) == emptied {}
        assert_eq!(shard.log.segment(emptied).live_records(), 0);

        let steps = (0..1_000).take_while(|_| shard.compact_one().is_some());
        assert!(steps.count() < 1_000, "compaction does not end");
        assert!(shard.log.get(emptied).is_none());
        drop(shard);
        store.validate();
        assert_eq!(store.get(DB, b"stays", NOW).unwrap(), b"1"[..]);
    }
}
