//! Checks of everything that must always be true of the policy's queues.

use super::queue::Queue;
use super::{Entries, NIL, Policy};

impl Policy {
    /// Asserts that the queues are whole. Returns the slots in them.
    pub(crate) fn validate(&self, entries: &impl Entries) -> Vec<u32> {
        let mut slots = self.small.validate(entries);
        slots.extend(self.main.validate(entries));
        slots
    }
}

impl Queue {
    fn validate(&self, entries: &impl Entries) -> Vec<u32> {
        let mut before = NIL;
        let mut weight = 0;
        let mut slots = Vec::new();
        for slot in self.iter(entries) {
            assert!(slots.len() < self.len(), "the queue is a ring, or too long");
            assert_eq!(entries.links(slot).prev, before);
            assert_eq!(entries.class(slot), self.class());
            weight += entries.weight(slot);
            slots.push(slot);
            before = slot;
        }
        assert_eq!(slots.len(), self.len());
        assert_eq!(weight, self.weight());
        slots
    }
}
