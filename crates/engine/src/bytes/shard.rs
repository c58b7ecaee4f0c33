//! One shard: the entries whose keys' hashes fall to it, in one numbered database.
//!
//! A shard knows nothing of locks or limits. What it removes goes to `removed`, which the store
//! empties after it has released the lock.

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use indexmap::map::raw_entry_v1::{RawEntryApiV1, RawEntryMut};

use super::entry::{Entry, weight};
use super::stats::Stats;
use super::{UnixMillis, Value};

pub(super) type Map = IndexMap<Box<[u8]>, Entry, RandomState>;

#[derive(Debug)]
pub(super) struct Shard {
    pub(super) map: Map,
    /// Sum of the entries' weights.
    pub(super) bytes: u64,
    /// Entries that have a deadline.
    pub(super) with_deadline: usize,
    /// No entry of this shard has an earlier deadline. A lower bound, so that a sweep can pass the
    /// shard by; made exact again when a sweep has walked the whole shard.
    pub(super) earliest_deadline: UnixMillis,
    /// The lower bound of what the sweep that is under way has met, see [`super::sweep`].
    pub(super) earliest_met: UnixMillis,
    pub(super) stats: Stats,
    pub(super) removed: Vec<Entry>,
}

/// Entries for which a shard keeps room although it holds fewer.
const MIN_ROOM: usize = 64;

/// `earliest_deadline` of a shard in which nothing expires.
pub(super) const NO_DEADLINE: UnixMillis = UnixMillis(u64::MAX);

impl Shard {
    pub(super) fn new(hasher: RandomState) -> Self {
        Shard {
            map: Map::with_hasher(hasher),
            bytes: 0,
            with_deadline: 0,
            earliest_deadline: NO_DEADLINE,
            earliest_met: NO_DEADLINE,
            stats: Stats::default(),
            removed: Vec::new(),
        }
    }

    /// Where the live entry of `key` is. An expired one is removed.
    pub(super) fn find(&mut self, hash: u64, key: &[u8], now: UnixMillis) -> Option<usize> {
        let index = self
            .map
            .raw_entry_v1()
            .index_from_hash(hash, |stored| **stored == *key)?;
        if self.map[index].is_expired(now) {
            self.remove_at(index);
            self.stats.expirations += 1;
            return None;
        }
        Some(index)
    }

    /// Like [`find`](Self::find), counted as a hit or a miss and marked as a use.
    pub(super) fn look_up(&mut self, hash: u64, key: &[u8], now: UnixMillis) -> Option<&Entry> {
        let found = self.find(hash, key, now);
        self.count_read(found, now);
        found.map(|index| &self.map[index])
    }

    /// Counts a read of what [`find`](Self::find) found.
    pub(super) fn count_read(&mut self, found: Option<usize>, now: UnixMillis) {
        match found {
            Some(index) => {
                self.stats.hits += 1;
                self.map[index].last_used = now;
            }
            None => self.stats.misses += 1,
        }
    }

    /// Writes the entry and returns the value that it replaced. The caller has made sure that a
    /// deadline is in the future and that no expired entry is in the way.
    pub(super) fn store(
        &mut self,
        hash: u64,
        key: &[u8],
        value: Value,
        deadline: Option<UnixMillis>,
        now: UnixMillis,
    ) -> Option<Value> {
        self.stats.inserts += 1;
        self.bytes += weight(key, &value);
        let entry = Entry::new(value, deadline, now);
        let slot = self
            .map
            .raw_entry_mut_v1()
            .from_hash(hash, |stored| **stored == *key);
        let replaced = match slot {
            RawEntryMut::Occupied(mut occupied) => Some(occupied.insert(entry)),
            RawEntryMut::Vacant(vacant) => {
                vacant.insert_hashed_nocheck(hash, key.into(), entry);
                None
            }
        };
        if let Some(old) = &replaced {
            self.bytes -= old.weight(key);
        }
        let had_deadline = replaced
            .as_ref()
            .is_some_and(|old| old.deadline().is_some());
        self.note_deadline(had_deadline, deadline);
        replaced.map(|old| old.value)
    }

    pub(super) fn set_deadline(&mut self, index: usize, deadline: Option<UnixMillis>) {
        let entry = &mut self.map[index];
        let had_deadline = entry.deadline().is_some();
        entry.set_deadline(deadline);
        self.note_deadline(had_deadline, deadline);
    }

    fn note_deadline(&mut self, had_deadline: bool, deadline: Option<UnixMillis>) {
        self.with_deadline -= usize::from(had_deadline);
        if let Some(at) = deadline {
            self.with_deadline += 1;
            self.earliest_deadline = self.earliest_deadline.min(at);
            self.earliest_met = self.earliest_met.min(at);
        }
    }

    /// Removes an entry, which stays alive until the shard is unlocked.
    pub(super) fn remove_at(&mut self, index: usize) {
        let entry = self.take_at(index);
        self.removed.push(entry);
    }

    /// Removes an entry and hands it over. The caller drops it when the shard is unlocked.
    pub(super) fn take_at(&mut self, index: usize) -> Entry {
        // The last entry takes the place of the removed one. Walks go from the end to the start, so
        // they have already met it.
        let (key, entry) = self
            .map
            .swap_remove_index(index)
            .expect("the index was found under the same lock");
        self.bytes -= entry.weight(&key);
        self.with_deadline -= usize::from(entry.deadline().is_some());
        self.give_back_room();
        entry
    }

    /// Halves the room when three quarters of it are unused. An entry is moved for at least one that
    /// was removed since the last time, and the map is not made so small that the next insertions
    /// would make it grow again.
    fn give_back_room(&mut self) {
        let (entries, room) = (self.map.len(), self.map.capacity());
        if room > MIN_ROOM && entries < room / 4 {
            self.map.shrink_to((entries * 2).max(MIN_ROOM / 2));
        }
    }

    /// Takes everything out; the statistics stay.
    pub(super) fn take_all(&mut self) -> Map {
        self.bytes = 0;
        self.with_deadline = 0;
        self.earliest_deadline = NO_DEADLINE;
        self.earliest_met = NO_DEADLINE;
        let empty = Map::with_hasher(self.map.hasher().clone());
        std::mem::replace(&mut self.map, empty)
    }

    /// Panics unless the kept sums agree with the entries. Walks everything.
    #[cfg(test)]
    pub(super) fn validate(&self) {
        let bytes: u64 = self.map.iter().map(|(key, entry)| entry.weight(key)).sum();
        assert_eq!(self.bytes, bytes);
        let deadlines: Vec<_> = self.map.values().filter_map(Entry::deadline).collect();
        assert_eq!(self.with_deadline, deadlines.len());
        let earliest = deadlines.into_iter().min().unwrap_or(NO_DEADLINE);
        assert!(self.earliest_deadline <= earliest);
        assert!(self.removed.is_empty(), "removed entries outlive the lock");
    }
}
