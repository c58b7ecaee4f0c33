//! The index against a simple model, and its buckets by exhaustion.

use std::collections::HashMap;

use super::bucket::{Bucket, SLOTS};
use super::*;
use crate::reclaim::pinned;

fn hash_with(tag: u8) -> Hash {
    Hash { position: 0, tag }
}

#[test]
fn a_tag_is_found_exactly_where_it_is() {
    for tag in [1, 2, 3, 0x7f, 0x80, 0x81, 0xfe, 0xff_u8] {
        for neighbour in 0..=255_u8 {
            for place in 0..SLOTS {
                let bucket = Bucket::new();
                for other in (0..SLOTS).filter(|other| *other != place) {
                    bucket.fill(other, neighbour, 7);
                }
                bucket.fill(place, tag, 9);
                let found: Vec<_> = bucket.meta().places_with(hash_with(tag)).collect();
                let expected = if neighbour == tag {
                    (0..SLOTS).collect()
                } else {
                    vec![place]
                };
                assert_eq!(found, expected, "tag {tag}, neighbours {neighbour}");
            }
        }
    }
}

#[test]
fn a_bucket_counts_those_that_passed_without_touching_its_tags() {
    let bucket = Bucket::new();
    bucket.fill(SLOTS - 1, 0xff, 1);
    let passed = |tag| bucket.meta().may_have_passed(hash_with(tag));
    bucket.count_passed(0xff);
    bucket.count_passed(0x07);
    bucket.count_passed(0x08);
    assert!(passed(0xff) && passed(0x08) && !passed(0x01));
    bucket.uncount_passed(0xff);
    bucket.uncount_passed(0x08);
    assert!(
        passed(0xff) && !passed(0x08),
        "two of the class of 0xff, one is left"
    );
    assert_eq!(
        bucket.meta().filled().collect::<Vec<_>>(),
        [(SLOTS - 1, 0xff)]
    );
    (0..300).for_each(|_| bucket.count_passed(3));
    (0..300).for_each(|_| bucket.uncount_passed(3));
    assert!(passed(3), "a full count stays");
}

/// An index whose slots' positions are known, beside a map of what is in it.
struct Modelled {
    index: Index,
    filling: Filling,
    hashes: HashMap<u32, Hash>,
    next_slot: u32,
    old: Vec<OldTable>,
}

impl Modelled {
    fn new() -> Self {
        Modelled {
            index: Index::new(),
            filling: Filling::default(),
            hashes: HashMap::new(),
            next_slot: 0,
            old: Vec::new(),
        }
    }

    fn insert(&mut self, hash: u64) -> u32 {
        let (_, hash) = Hash::split(hash, 0);
        let slot = self.next_slot;
        self.next_slot += 1;
        let hashes = &self.hashes;
        let old = self
            .index
            .insert(&mut self.filling, hash, slot, |slot| hashes[&slot].position);
        self.hashes.insert(slot, hash);
        self.old.extend(old);
        slot
    }

    fn remove(&mut self, slot: u32) {
        let hashes = &self.hashes;
        let old = self
            .index
            .remove(&mut self.filling, hashes[&slot], slot, |slot| {
                hashes[&slot].position
            });
        self.hashes.remove(&slot);
        self.old.extend(old);
    }

    fn replace(&mut self, old: u32) {
        let hash = self.hashes.remove(&old).expect("present");
        let slot = self.next_slot;
        self.next_slot += 1;
        let (_, at) = self
            .index
            .find_locked(&self.filling, hash, |candidate| candidate == old)
            .expect("present");
        self.index.replace(&mut self.filling, at, slot);
        self.hashes.insert(slot, hash);
    }

    /// Panics unless exactly the slots of the model are found, by lookups and by a walk.
    fn check(&self) {
        assert_eq!(self.filling.len(), self.hashes.len());
        pinned(|pin| {
            for (slot, hash) in &self.hashes {
                let found = self.index.find(pin, *hash, |candidate| candidate == *slot);
                assert_eq!(found.map(|(slot, _)| slot), Some(*slot));
            }
        });
        let mut walked = self.walk_from(0);
        walked.sort_unstable();
        let mut expected: Vec<_> = self.hashes.keys().copied().collect();
        expected.sort_unstable();
        assert_eq!(walked, expected);
    }

    fn walk_from(&self, start: u32) -> Vec<u32> {
        let mut walked = Vec::new();
        let mut position = Some(start);
        while let Some(from) = position {
            position = self.step(from, &mut walked);
        }
        walked
    }

    fn step(&self, from: u32, walked: &mut Vec<u32>) -> Option<u32> {
        pinned(|pin| {
            self.index.walk(
                pin,
                from,
                |slot| self.hashes[&slot].position,
                |slot| walked.push(slot),
            )
        })
    }
}

impl Drop for Modelled {
    fn drop(&mut self) {
        for table in self.old.drain(..) {
            // SAFETY: nobody else ever knew of this index.
            #[allow(unsafe_code, reason = "a test without readers frees tables at once")]
            unsafe {
                table.free();
            }
        }
    }
}

#[test]
fn a_random_run_agrees_with_the_model() {
    let mut random = fastrand::Rng::with_seed(11);
    for hash_bits in [64, 12, 3, 0] {
        let mut modelled = Modelled::new();
        for step in 0..4_000 {
            let grows = step % 1_000 < 600;
            let slots: Vec<u32> = modelled.hashes.keys().copied().collect();
            match random.u32(..10) {
                0..2 if !slots.is_empty() => modelled.replace(slots[random.usize(..slots.len())]),
                2..8 if !grows && !slots.is_empty() => {
                    modelled.remove(slots[random.usize(..slots.len())]);
                }
                _ => {
                    let hash = random.u64(..).checked_shl(64 - hash_bits).unwrap_or(0);
                    modelled.insert(hash);
                }
            }
            if step % 97 == 0 {
                modelled.check();
            }
        }
        modelled.check();
    }
}

#[test]
fn a_walk_meets_every_entry_that_stays_while_the_index_grows_and_shrinks() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut modelled = Modelled::new();
    let staying: Vec<u32> = (0..500).map(|_| modelled.insert(random.u64(..))).collect();
    let mut walked = Vec::new();
    let mut position = Some(0);
    let mut extra = Vec::new();
    while let Some(from) = position {
        position = modelled.step(from, &mut walked);
        if extra.len() < 3_000 {
            extra.extend((0..100).map(|_| modelled.insert(random.u64(..))));
        } else {
            extra.drain(..).for_each(|slot| modelled.remove(slot));
        }
    }
    for slot in staying {
        assert!(walked.contains(&slot));
    }
}

#[test]
fn a_cleared_index_is_empty_and_tells_what_it_held() {
    let mut modelled = Modelled::new();
    (0..100).for_each(|n| {
        modelled.insert(n << 56);
    });
    let mut removed = Vec::new();
    let old = modelled
        .index
        .clear(&mut modelled.filling, |slot| removed.push(slot));
    modelled.old.push(old);
    modelled.hashes.clear();
    removed.sort_unstable();
    assert_eq!(removed, (0..100).collect::<Vec<_>>());
    modelled.check();
}
