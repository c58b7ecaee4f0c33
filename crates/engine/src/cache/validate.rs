//! Checks of everything that must always be true of a cache, for tests and the fuzzer.

use std::collections::HashSet;

use super::Cache;
use super::locked::Locked;

impl<K, V> Cache<K, V> {
    /// Asserts that shards, slab, index, policy, expiry hints and totals agree, at a moment when all
    /// locks are held. Returns the weight of what was taken out and is not yet freed.
    ///
    /// # Panics
    /// If they do not.
    #[doc(hidden)]
    pub fn validate(&self) -> u64 {
        let inner = &*self.inner;
        let locked: Vec<_> = inner.shards.iter().map(|shard| shard.lock()).collect();
        inner.budget.validate(inner.size());
        locked
            .iter()
            .map(|locked| locked.validate(inner.now()))
            .sum()
    }
}

impl<K, V> Locked<'_, K, V> {
    fn validate(&self, now: u64) -> u64 {
        let state = &*self.state;
        let linked = self
            .shard()
            .index
            .validate(&state.filling, |slot| self.node(slot).position());
        let mut weight = 0;
        for slot in &linked {
            let node = self.node(*slot);
            assert!(node.is_linked());
            weight += node.weight().get();
            state.due.assert_looked_at(*slot, node.deadline(), now);
        }
        let size = self.shard().size();
        assert_eq!((size.entries, size.weight), (linked.len() as u64, weight));

        let mut in_policy = self.validate_policy();
        in_policy.sort_unstable();
        let mut in_index = linked.clone();
        in_index.sort_unstable();
        assert_eq!(in_policy, in_index);

        // What is being freed just now is in none of these.
        let taken_out: Vec<_> = state
            .retired
            .validate()
            .chain(state.ready.iter().copied())
            .collect();
        let free = self.free_slots_now();
        let mut seen = HashSet::new();
        let slots = taken_out.iter().map(|entry| entry.slot).chain(free);
        for slot in slots.chain(linked) {
            assert!(seen.insert(slot), "slot {slot} in two places");
        }
        assert!(seen.len() <= state.slots.slots_ever_used());
        for entry in &taken_out {
            assert!(!self.node(entry.slot).is_linked());
        }
        taken_out.iter().map(|entry| entry.weight.get()).sum()
    }
}
