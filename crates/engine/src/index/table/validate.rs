//! Checks of everything that must always be true of a table.

use std::collections::HashSet;

use super::super::bucket::PASSED_MAX;
use super::Index;

impl Index {
    /// Asserts that every entry is where lookups and counts say. Returns all slots. For the writer.
    pub(crate) fn validate(&self, position_of: impl Fn(u32) -> u32) -> Vec<u32> {
        let table = self.table_of_writer();
        let mut passed = vec![0_u64; table.len()];
        let mut slots = Vec::new();
        for (index, bucket) in table.buckets().enumerate() {
            for (place, _) in bucket.meta().filled() {
                let slot = bucket.slot(place);
                slots.push(slot);
                let on_the_way = table
                    .probe(position_of(slot))
                    .take_while(|(passing, _)| *passing != index);
                on_the_way.for_each(|(passing, _)| passed[passing] += 1);
            }
        }
        for (bucket, passed) in table.buckets().zip(passed) {
            let counted = bucket.meta().passed();
            assert!(counted == passed || counted == PASSED_MAX);
        }
        assert_eq!(slots.len(), self.len());
        let distinct: HashSet<_> = slots.iter().collect();
        assert_eq!(distinct.len(), slots.len(), "a slot is there twice");
        slots
    }
}
