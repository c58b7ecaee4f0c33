//! What was taken out of a shard and may still be read: in batches that wait for a grace period, and what borrows
//! keep beyond that.

use std::collections::VecDeque;

use super::weight::Weight;
use crate::index::OldTable;
use crate::reclaim::{Cookie, Hazards, Passed, Registry};

/// Retired entries that wait for a grace period: this part of the shard's entries, within bounds. A grace period
/// costs up to some 10 µs; entries that wait for it cost memory.
const WAITING_SHARE: u64 = 16;
const MIN_WAITING: u64 = 32;
pub(super) const MAX_WAITING: u64 = 512;

/// Batches that this is divided into. If it is all of them, the shard sees to a grace period; before that, one
/// that another shard needed has mostly freed the older ones.
const BATCHES: usize = 8;

/// While a reader stays pinned, further batches are of no use: the last one grows.
const MAX_BATCHES: usize = 2 * BATCHES;

/// Borrowed entries that are looked at again each time: they are many only where many are borrowed, and
/// this is done under the lock.
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
    batches: VecDeque<Batch>,
    /// Of the entries in batches.
    batches_weight: u64,
    open_entries: usize,
    open_weight: u64,
    open_tables: Vec<OldTable>,
    /// Their grace period has passed. The one that was looked at longest ago is the first.
    borrowed: VecDeque<RetiredEntry>,
    borrowed_weight: u64,
    /// The latest cookie of theirs.
    borrowed_cookie: Option<Cookie>,
}

/// What was retired before a moment.
struct Batch {
    entries: usize,
    weight: u64,
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

impl Batch {
    /// Takes in the batch before it.
    fn join(&mut self, before: Batch) {
        self.entries += before.entries;
        self.weight += before.weight;
        self.tables.extend(before.tables);
    }
}

impl Retired {
    #[inline]
    pub(super) fn push(&mut self, slot: u32, weight: Weight) {
        self.entries.push_back(RetiredEntry { slot, weight });
        self.open_entries += 1;
        self.open_weight += weight.get();
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
        let is_time =
            self.open_entries as u64 >= batch || self.open_weight > max_weight / BATCHES as u64;
        if is_time {
            self.look_now(registry, max_weight)
        } else {
            None
        }
    }

    #[inline(never)]
    fn look_now(&mut self, registry: &Registry, max_weight: u64) -> Option<Cookie> {
        self.close(registry);
        let oldest = self.batches.front()?.cookie;
        let must_be_freed = self.batches.len() >= BATCHES || self.is_heavy(max_weight);
        (must_be_freed || registry.has_passed(oldest)).then_some(oldest)
    }

    /// Whether so much waits that it is worth waiting for a reader.
    pub(super) fn is_heavy(&self, max_weight: u64) -> bool {
        // The next look comes when this part more is retired.
        self.batches_weight > max_weight - max_weight / BATCHES as u64
    }

    /// Ends the open batch. Returns the moment up to which all that is in batches was retired.
    pub(super) fn close(&mut self, registry: &Registry) -> Option<Cookie> {
        if self.open_entries > 0 || !self.open_tables.is_empty() {
            let mut closed = Batch {
                entries: std::mem::take(&mut self.open_entries),
                weight: std::mem::take(&mut self.open_weight),
                tables: std::mem::take(&mut self.open_tables),
                cookie: registry.cookie(),
            };
            self.batches_weight += closed.weight;
            if self.batches.len() == MAX_BATCHES {
                let last = self.batches.pop_back().expect("there are as many");
                closed.join(last);
            }
            self.batches.push_back(closed);
        }
        self.batches.back().map(|batch| batch.cookie)
    }

    /// Moves to `ready` what no reader can reach any more. The hazards were collected after the grace
    /// periods had passed.
    pub(super) fn free(
        &mut self,
        passed: Passed,
        hazards: &Hazards,
        address_of: impl Fn(u32) -> *const (),
        ready: &mut Vec<RetiredEntry>,
    ) -> Freed {
        let is_borrowed = |entry: RetiredEntry| hazards.contains(address_of(entry.slot));
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
            self.batches_weight -= batch.weight;
            tables.extend(batch.tables);
            if hazards.is_empty() {
                self.move_oldest(batch.entries, ready);
                continue;
            }
            for entry in self.entries.drain(..batch.entries) {
                if is_borrowed(entry) {
                    self.borrowed_weight += entry.weight.get();
                    self.borrowed_cookie = Some(batch.cookie);
                    self.borrowed.push_back(entry);
                } else {
                    ready.push(entry);
                }
            }
        }
        Freed {
            tables,
            borrowed_change: self.borrowed_weight.wrapping_sub(borrowed_before),
        }
    }

    /// How many times [`free`](Self::free) takes to look at all borrowed entries again.
    pub(super) fn recheck_steps(&self) -> usize {
        self.borrowed.len().div_ceil(RECHECKS)
    }

    fn move_oldest(&mut self, count: usize, ready: &mut Vec<RetiredEntry>) {
        // In pieces: an iterator would be asked for its length at each entry.
        let (front, back) = self.entries.as_slices();
        let in_front = count.min(front.len());
        ready.extend_from_slice(&front[..in_front]);
        ready.extend_from_slice(&back[..count - in_front]);
        self.entries.drain(..count);
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
        let in_batches: u64 = self.batches.iter().map(|batch| batch.weight).sum();
        assert_eq!(self.batches_weight, in_batches);
        assert_eq!(sum(&self.entries), in_batches + self.open_weight);
        assert_eq!(self.borrowed_weight, sum(&self.borrowed));
        self.entries.iter().chain(&self.borrowed).copied()
    }
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;
    use crate::reclaim;

    fn free(retired: &mut Retired, passed: Passed, borrowed: Option<&u8>) -> Vec<u32> {
        let mut ready = Vec::new();
        let address: *const () = borrowed.map_or(ptr::null(), |it| ptr::from_ref(it).cast());
        let hazards = Hazards::new(borrowed.map(|_| address.addr()).into_iter().collect());
        retired.free(passed, &hazards, |_| address, &mut ready);
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
        assert_eq!(free(&mut retired, before, None), []);
        assert_eq!(free(&mut retired, after, Some(&0)), []);
        assert_eq!(free(&mut retired, before, None), []);
        assert_eq!(free(&mut retired, after, None), [7]);
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
        let ready = free(&mut retired, registry.passed(), None);
        assert!(!ready.is_empty() && ready.is_sorted(), "{ready:?}");
        assert!(ready.len() <= MIN_WAITING as usize);
    }
}
