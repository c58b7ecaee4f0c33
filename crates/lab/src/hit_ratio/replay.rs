//! Replaying a trace in one cache.

use super::{HitRatioError, Trace, trace::Reference};

/// How large a cache is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    /// Entries, or bytes where the trace has sizes.
    pub(super) capacity: u64,
    /// The same in entries of average size.
    pub(super) entries: usize,
    pub(super) is_sized: bool,
    /// Of the largest entry.
    pub(super) largest: u32,
}

impl Room {
    pub(super) fn of(trace: &Trace, capacity: u64) -> Self {
        let whole = trace.distinct_bytes.max(1) as f64;
        let part = capacity as f64 / whole;
        let sizes = trace.references.iter().map(|it| it.size);
        Room {
            capacity,
            entries: ((trace.distinct_keys as f64 * part) as usize).max(1),
            is_sized: trace.is_sized,
            largest: sizes.max().unwrap_or(1),
        }
    }
}

/// A cache of keys and their sizes.
pub(super) trait Policy {
    /// What it is called in a table.
    fn name(&self) -> &'static str;

    /// Reads: the size that the key had when it was inserted.
    fn get(&mut self, key: u32) -> Option<u32>;

    /// Inserts or replaces. The size is not above the capacity.
    fn insert(&mut self, key: u32, size: u32);

    fn remove(&mut self, key: u32);

    /// Entries or bytes held.
    fn held(&self) -> u64;

    /// Entries or bytes that may be held.
    fn capacity(&self) -> u64;
}

/// Counts the hits. A key that comes again is a hit; if its size is another, the new one replaces the old.
pub(super) fn replay(
    trace: &Trace,
    room: Room,
    policy: &mut dyn Policy,
) -> Result<u64, HitRatioError> {
    let mut hits = 0;
    for (index, &Reference { key, size }) in trace.references.iter().enumerate() {
        let held = policy.get(key);
        hits += u64::from(held.is_some());
        if held == Some(size) {
            continue;
        }
        // What no cache of this size can hold is not offered: some peers would take it in.
        if u64::from(size) <= room.capacity {
            policy.insert(key, size);
        } else if held.is_some() {
            policy.remove(key);
        }
        if policy.held() > policy.capacity() {
            return Err(HitRatioError::OverCapacity {
                policy: policy.name(),
                held: policy.held(),
                reference: index + 1,
                capacity: policy.capacity(),
            });
        }
    }
    Ok(hits)
}

#[cfg(test)]
mod tests {
    use super::super::lru::ExactLru;
    use super::*;

    struct Hoarder(u64);

    impl Policy for Hoarder {
        fn name(&self) -> &'static str {
            "hoarder"
        }
        fn get(&mut self, _: u32) -> Option<u32> {
            None
        }
        fn insert(&mut self, _: u32, _: u32) {
            self.0 += 1;
        }
        fn remove(&mut self, _: u32) {}
        fn held(&self) -> u64 {
            self.0
        }
        fn capacity(&self) -> u64 {
            3
        }
    }

    #[test]
    fn a_cache_that_holds_more_than_it_may_is_found_out() {
        let trace = Trace::from_references((0..9).map(|key| (key, 1)), false);
        let error = replay(&trace, Room::of(&trace, 3), &mut Hoarder(0)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "hoarder held 4 at reference 4, more than its capacity of 3: its hit ratio would not count"
        );
    }

    #[test]
    fn another_size_is_a_hit_and_replaces_and_too_large_a_one_removes() {
        let references = [
            (1, 10),
            (1, 20),
            (2, 80),
            (1, 20),
            (1, 101),
            (1, 10),
            (2, 80),
        ];
        let trace = Trace::from_references(references, true);
        let room = Room::of(&trace, 100);
        let mut lru = ExactLru::new(room);
        assert_eq!(replay(&trace, room, &mut lru).unwrap(), 4);
        assert_eq!(lru.held(), 90);
    }
}
