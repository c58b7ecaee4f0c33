//! Removing expired entries that nobody asks for, in bounded steps.
//!
//! A shard remembers a lower bound of its deadlines. A sweep passes a shard by while that bound lies
//! in the future; otherwise it walks the shard from the end to the start (see [`super::scan`] for why
//! that misses nothing) and makes the bound exact again when it reaches the start.

use super::UnixMillis;
use super::shard::NO_DEADLINE;
use super::store::{ByteStore, Database};

/// Where a sweep is. The default begins at the start.
#[derive(Debug, Default)]
pub struct Sweep {
    database: usize,
    /// The shard that is looked at next.
    shard: usize,
    /// Entries of it that are not visited yet; none: its walk has not begun.
    left: Option<usize>,
}

/// What one step of a sweep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Entries looked at.
    pub visited: usize,
    /// Entries removed.
    pub removed: usize,
    /// Whether the sweep came to the end: nothing more is due.
    pub finished: bool,
}

impl ByteStore {
    /// Goes on with a sweep, looking at no more than `max_visited` entries in one locked shard.
    pub fn sweep(&self, sweep: &mut Sweep, now: UnixMillis, max_visited: usize) -> Swept {
        let mut swept = Swept::default();
        while swept.visited == 0 {
            let Some(database) = self.database(sweep.database) else {
                *sweep = Sweep::default();
                swept.finished = true;
                return swept;
            };
            if sweep.shard >= self.shards_per_database || self.len_with_deadline(database) == 0 {
                *sweep = Sweep {
                    database: sweep.database + 1,
                    ..Sweep::default()
                };
                continue;
            }
            if self.sweep_shard(database, sweep, now, max_visited.max(1), &mut swept) {
                sweep.shard += 1;
                sweep.left = None;
            }
        }
        swept
    }

    /// Returns whether the shard is done.
    fn sweep_shard(
        &self,
        database: Database,
        sweep: &mut Sweep,
        now: UnixMillis,
        max_visited: usize,
        swept: &mut Swept,
    ) -> bool {
        let mut shard = self.lock(database, sweep.shard);
        let left = match sweep.left {
            Some(left) => left.min(shard.map.len()),
            None if shard.earliest_deadline > now => return true,
            None => {
                shard.earliest_met = NO_DEADLINE;
                shard.map.len()
            }
        };
        let stop = left.saturating_sub(max_visited);
        for index in (stop..left).rev() {
            swept.visited += 1;
            let entry = &shard.map[index];
            if entry.is_expired(now) {
                shard.remove_at(index);
                shard.stats.expirations += 1;
                swept.removed += 1;
            } else if let Some(deadline) = entry.deadline() {
                shard.earliest_met = shard.earliest_met.min(deadline);
            }
        }
        if stop > 0 {
            sweep.left = Some(stop);
            return false;
        }
        shard.earliest_deadline = shard.earliest_met;
        true
    }
}
