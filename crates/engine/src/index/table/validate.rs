//! Checks of everything that must always be true of a table.

use std::collections::HashSet;

use super::{Filling, Index};

impl Index {
    /// Asserts that every entry is where lookups and counts say. Returns all slots.
    pub(crate) fn validate(&self, filling: &Filling, position_of: impl Fn(u32) -> u32) -> Vec<u32> {
        let table = self.table_of_writer();
        let mut passed = vec![[0_u64; 8]; table.len()];
        let mut slots = Vec::new();
        for (index, bucket) in table.buckets().enumerate() {
            for (place, tag) in bucket.meta().filled() {
                let slot = bucket.slot(place);
                slots.push(slot);
                let on_the_way = table
                    .probe(position_of(slot))
                    .take_while(|(passing, _)| *passing != index);
                on_the_way.for_each(|(passing, _)| passed[passing][usize::from(tag & 7)] += 1);
            }
        }
        for (bucket, passed) in table.buckets().zip(passed) {
            for (class, passed) in (0..).zip(passed) {
                let counted = bucket.meta().passed(class);
                assert!(counted.is_none_or(|counted| counted == passed));
            }
        }
        assert_eq!(slots.len(), filling.len());
        let distinct: HashSet<_> = slots.iter().collect();
        assert_eq!(distinct.len(), slots.len(), "a slot is there twice");
        slots
    }
}
