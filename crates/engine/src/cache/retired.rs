//! What was taken out of a shard and may still be read: in batches that wait for a grace period, and what borrows
//! keep beyond that.

use std::collections::VecDeque;

use super::weight::Weight;
use crate::index::OldTable;
use crate::reclaim::{Cookie, Passed, Registry};

/// Retired entries that wait for a grace period: this part of the shard's entries, within bounds. A grace period
/// costs up to some 10 µs; entries that wait for it cost memory.
const WAITING_SHARE: u64 = 16;
const MIN_WAITING: u64 = 32;
pub(super) const MAX_WAITING: u64 = 512;

/// Batches that this is divided into. If it is all of them, the shard sees to a grace period; before that, one
/// that another shard needed has mostly freed the older ones.
const BATCHES: usize = 8;

/// While a reader stays pinned, further batches are of no use.
const MAX_BATCHES: usize = 2 * BATCHES;

/// Borrowed entries that are looked at again each time.
const RECHECKS: usize = 64;

/// An entry that was taken out.
#[derive(Debug, Clone, Copy)]
pub(super) struct RetiredEntry {
    pub(super) slot: u32,
    pub(super) weight: Weight,
}

/// Lives under the shard's lock.
#[derive(Default)]
pub(super) struct Retired {
    /// The oldest first: those of the batches, and the open ones.
    entries: VecDeque<RetiredEntry>,
    /// Of all of them.
    weight: u64,
    batches: VecDeque<Batch>,
    open_entries: usize,
    open_tables: Vec<OldTable>,
    /// Retired since somebody looked what can be freed.
    since_look: Sum,
    /// Their grace period has passed. The one that was looked at longest ago is the first.
    borrowed: VecDeque<RetiredEntry>,
    borrowed_weight: u64,
    /// The latest cookie of theirs.
    borrowed_cookie: Option<Cookie>,
}

#[derive(Default)]
struct Sum {
    entries: u64,
    weight: u64,
}

/// What was retired before a moment.
struct Batch {
    entries: usize,
    tables: Vec<OldTable>,
    cookie: Cookie,
}

/// What came of taking out of [`Retired`] what nobody can reach any more.
pub(super) struct Freed {
    /// To be freed without the lock.
    pub(super) tables: Vec<OldTable>,
    /// By how much the weight of what borrows keep has changed, wrapping.
    pub(super) borrowed_change: u64,
}

impl Retired {
    #[inline]
    pub(super) fn push(&mut self, slot: u32, weight: Weight) {
        self.entries.push_back(RetiredEntry { slot, weight });
        self.open_entries += 1;
        self.weight += weight.get();
        self.since_look.entries += 1;
        self.since_look.weight += weight.get();
    }

    pub(super) fn push_table(&mut self, table: OldTable) {
        self.open_tables.push(table);
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
            && self.borrowed.is_empty()
            && self.batches.is_empty()
            && self.open_tables.is_empty()
    }

    /// Looks from time to time what can be freed of a shard of so many entries: what was retired up to this
    /// moment, if that is over or must be brought about. At most `max_weight` shall wait.
    #[inline]
    pub(super) fn look(
        &mut self,
        registry: &Registry,
        entries: u64,
        max_weight: u64,
    ) -> Option<Cookie> {
        let batch = (entries / WAITING_SHARE).clamp(MIN_WAITING, MAX_WAITING) / BATCHES as u64;
        let is_time = self.since_look.entries >= batch
            || self.since_look.weight > max_weight / BATCHES as u64;
        if is_time {
            self.look_now(registry, max_weight)
        } else {
            None
        }
    }

    #[inline(never)]
    fn look_now(&mut self, registry: &Registry, max_weight: u64) -> Option<Cookie> {
        self.since_look = Sum::default();
        self.close(registry);
        let oldest = self.batches.front()?.cookie;
        let must_be_freed = self.batches.len() >= BATCHES || self.is_heavy(max_weight);
        (must_be_freed || registry.has_passed(oldest)).then_some(oldest)
    }

    /// Whether so much waits that it is worth waiting for a reader.
    pub(super) fn is_heavy(&self, max_weight: u64) -> bool {
        // The next look comes when this part more is retired.
        self.weight > max_weight - max_weight / BATCHES as u64
    }

    /// Ends the open batch. Returns the moment up to which all that is in batches was retired.
    pub(super) fn close(&mut self, registry: &Registry) -> Option<Cookie> {
        let is_open = self.open_entries > 0 || !self.open_tables.is_empty();
        if is_open && self.batches.len() < MAX_BATCHES {
            self.batches.push_back(Batch {
                entries: std::mem::take(&mut self.open_entries),
                tables: std::mem::take(&mut self.open_tables),
                cookie: registry.cookie(),
            });
        }
        self.batches.back().map(|batch| batch.cookie)
    }

    /// Moves to `ready` what no reader can reach any more. `is_borrowed` tells it from hazards that were
    /// collected after the grace periods had passed.
    pub(super) fn free(
        &mut self,
        passed: Passed,
        is_borrowed: impl Fn(RetiredEntry) -> bool,
        ready: &mut Vec<RetiredEntry>,
    ) -> Freed {
        let borrowed_before = self.borrowed_weight;
        // Another thread may have looked later and been faster: then these hazards may have been collected
        // when a reader had found an entry and not yet said so.
        let knows_all = self.borrowed_cookie.is_none_or(|it| passed.includes(it));
        let rechecks = if knows_all { RECHECKS } else { 0 };
        for _ in 0..self.borrowed.len().min(rechecks) {
            let entry = self.borrowed.pop_front().expect("no more than there are");
            if is_borrowed(entry) {
                self.borrowed.push_back(entry);
            } else {
                self.borrowed_weight -= entry.weight.get();
                ready.push(entry);
            }
        }
        let mut tables = Vec::new();
        while let Some(batch) = self
            .batches
            .pop_front_if(|batch| passed.includes(batch.cookie))
        {
            for entry in self.entries.drain(..batch.entries) {
                self.weight -= entry.weight.get();
                if is_borrowed(entry) {
                    self.borrowed_weight += entry.weight.get();
                    self.borrowed_cookie = Some(batch.cookie);
                    self.borrowed.push_back(entry);
                } else {
                    ready.push(entry);
                }
            }
            tables.extend(batch.tables);
        }
        Freed {
            tables,
            borrowed_change: self.borrowed_weight.wrapping_sub(borrowed_before),
        }
    }

    /// Takes out everything, whoever may look at it.
    pub(super) fn take_all(&mut self) -> (Vec<RetiredEntry>, Vec<OldTable>) {
        let all = std::mem::take(self);
        let entries = all.entries.into_iter().chain(all.borrowed).collect();
        let in_batches = all.batches.into_iter().flat_map(|batch| batch.tables);
        (entries, in_batches.chain(all.open_tables).collect())
    }
}

#[cfg(any(test, fuzzing))]
impl Retired {
    /// Everything in here, after asserting that the sums are right.
    pub(super) fn validate(&self) -> impl Iterator<Item = RetiredEntry> {
        let sum = |entries: &VecDeque<RetiredEntry>| -> u64 {
            entries.iter().map(|entry| entry.weight.get()).sum()
        };
        let in_batches: usize = self.batches.iter().map(|batch| batch.entries).sum();
        assert_eq!(self.entries.len(), in_batches + self.open_entries);
        assert_eq!(self.weight, sum(&self.entries));
        assert_eq!(self.borrowed_weight, sum(&self.borrowed));
        self.entries.iter().chain(&self.borrowed).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reclaim;

    fn free(retired: &mut Retired, passed: Passed, is_borrowed: bool) -> Vec<u32> {
        let mut ready = Vec::new();
        retired.free(passed, |_| is_borrowed, &mut ready);
        retired.validate().for_each(drop);
        ready.into_iter().map(|entry| entry.slot).collect()
    }

    #[test]
    fn hazards_from_before_a_grace_period_do_not_free_what_was_found_borrowed_after_it() {
        let registry = reclaim::global();
        let mut retired = Retired::default();
        retired.push(7, Weight::ONE);
        let cookie = retired.close(registry).expect("it is not empty");
        let before = registry.passed();
        while !registry.advance(cookie) {
            std::thread::yield_now();
        }
        let after = registry.passed();
        assert_eq!(free(&mut retired, before, false), []);
        assert_eq!(free(&mut retired, after, true), []);
        assert_eq!(free(&mut retired, before, false), []);
        assert_eq!(free(&mut retired, after, false), [7]);
        assert!(retired.is_empty());
    }

    #[test]
    fn the_oldest_are_freed_when_a_grace_period_has_passed_since_whoever_brought_it_about() {
        let registry = reclaim::global();
        let mut retired = Retired::default();
        let mut looks = (0..).map(|slot| {
            retired.push(slot, Weight::ONE);
            retired.look(registry, 0, u64::MAX)
        });
        // Nothing is done about the first few.
        assert!(looks.by_ref().take(3).all(|look| look.is_none()));
        // In the end the shard sees to a grace period itself.
        let cookie = looks.by_ref().take(MIN_WAITING as usize).flatten().next();
        let cookie = cookie.expect("enough wait");
        while !registry.advance(cookie) {
            std::thread::yield_now();
        }
        drop(looks);
        let ready = free(&mut retired, registry.passed(), false);
        assert!(!ready.is_empty() && ready.is_sorted(), "{ready:?}");
        assert!(ready.len() <= MIN_WAITING as usize);
    }
}
