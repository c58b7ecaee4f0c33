//! The policy against a model: a vector of entries, and what must hold after every operation.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::AtomicU8;

use proptest::prelude::*;

use super::queue::NIL;
use super::*;

struct Entry {
    links: Links,
    class: Class,
    mark: AtomicU8,
    weight: u64,
    key: u32,
}

/// Entries by slot; slots are not used twice.
#[derive(Default)]
struct Slots(Vec<Entry>);

impl Slots {
    fn add(&mut self, key: u32, weight: u64) -> u32 {
        self.0.push(Entry {
            links: Links {
                prev: NIL,
                next: NIL,
            },
            class: Class::Small,
            mark: AtomicU8::new(0),
            weight,
            key,
        });
        self.0.len() as u32 - 1
    }

    fn touch(&self, slot: u32) {
        touch(&self.0[slot as usize].mark);
    }
}

impl Entries for Slots {
    fn links(&self, slot: u32) -> Links {
        self.0[slot as usize].links
    }
    fn set_links(&mut self, slot: u32, links: Links) {
        self.0[slot as usize].links = links;
    }
    fn class(&self, slot: u32) -> Class {
        self.0[slot as usize].class
    }
    fn set_class(&mut self, slot: u32, class: Class) {
        self.0[slot as usize].class = class;
    }
    fn mark(&self, slot: u32) -> u8 {
        self.0[slot as usize].mark.load(Relaxed)
    }
    fn set_mark(&mut self, slot: u32, mark: u8) {
        self.0[slot as usize].mark.store(mark, Relaxed);
    }
    fn weight(&self, slot: u32) -> u64 {
        self.0[slot as usize].weight
    }
    fn hash(&self, slot: u32) -> u32 {
        self.0[slot as usize].key.wrapping_mul(0x9e37_79b1)
    }
}

impl Policy {
    fn small_share(&self) -> f64 {
        self.split.small_share()
    }

    /// Checks every invariant; `held` are the slots that must be in the queues.
    fn validate_holds(&self, slots: &Slots, held: &BTreeSet<u32>) {
        let mut seen = BTreeSet::new();
        for queue in [&self.small, &self.main] {
            let (mut prev, mut len, mut weight) = (NIL, 0, 0);
            for slot in queue.iter(slots) {
                assert!(seen.insert(slot), "slot {slot} is linked twice");
                assert_eq!(slots.links(slot).prev, prev);
                assert_eq!(slots.class(slot), queue.class());
                assert!(slots.mark(slot) <= MAX_MARK);
                prev = slot;
                len += 1;
                weight += slots.weight(slot);
            }
            assert_eq!((queue.len(), queue.weight()), (len, weight));
            assert_eq!(queue.back(), prev);
        }
        assert_eq!(&seen, held);
        assert!((0.0..=1.0).contains(&self.small_share()));
    }
}

/// A cache of one shard that reads through.
struct Cache {
    policy: Policy,
    slots: Slots,
    slot_of: HashMap<u32, u32>,
    capacity: usize,
}

impl Cache {
    fn new(capacity: usize) -> Self {
        Self {
            policy: Policy::new(),
            slots: Slots::default(),
            slot_of: HashMap::new(),
            capacity,
        }
    }

    fn read(&mut self, key: u32) -> bool {
        if let Some(&slot) = self.slot_of.get(&key) {
            self.slots.touch(slot);
            return true;
        }
        let slot = self.slots.add(key, 1);
        let has_room = self.policy.len() < self.capacity;
        self.policy.inserted(&mut self.slots, slot, has_room);
        self.slot_of.insert(key, slot);
        while self.policy.len() > self.capacity {
            let victim = self.policy.victim(&mut self.slots, Some(slot)).unwrap();
            self.slot_of.remove(&self.slots.0[victim as usize].key);
        }
        false
    }

    /// The part of the reads that hit.
    fn hit_ratio(&mut self, keys: impl IntoIterator<Item = u32>) -> f64 {
        let (mut hits, mut reads) = (0, 0);
        for key in keys {
            hits += u32::from(self.read(key));
            reads += 1;
        }
        f64::from(hits) / f64::from(reads)
    }
}

#[derive(Clone, Debug)]
enum Op {
    Insert { key: u32, weight: u64, room: bool },
    Touch(usize),
    Replace { at: usize, weight: u64 },
    Remove(usize),
    Evict { keep_last: bool },
    Clear,
}

fn ops() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => (0..40u32, 0..1000u64, any::<bool>())
            .prop_map(|(key, weight, room)| Op::Insert { key, weight, room }),
        8 => any::<usize>().prop_map(Op::Touch),
        2 => (any::<usize>(), 0..1000u64).prop_map(|(at, weight)| Op::Replace { at, weight }),
        1 => any::<usize>().prop_map(Op::Remove),
        8 => any::<bool>().prop_map(|keep_last| Op::Evict { keep_last }),
        1 => Just(Op::Clear),
    ]
}

fn pick(held: &BTreeSet<u32>, at: usize) -> Option<u32> {
    held.iter().nth(at % held.len().max(1)).copied()
}

proptest! {
    #[test]
    fn every_entry_is_in_one_queue_and_the_weights_add_up(
        ops in prop::collection::vec(ops(), 1..400),
    ) {
        let (mut policy, mut slots) = (Policy::new(), Slots::default());
        let mut held = BTreeSet::new();
        for op in ops {
            match op {
                Op::Insert { key, weight, room } => {
                    let slot = slots.add(key, weight);
                    policy.inserted(&mut slots, slot, room);
                    held.insert(slot);
                }
                Op::Touch(at) => {
                    if let Some(slot) = pick(&held, at) {
                        slots.touch(slot);
                    }
                }
                Op::Replace { at, weight } => {
                    if let Some(old) = pick(&held, at) {
                        let new = slots.add(slots.0[old as usize].key, weight);
                        policy.replaced(&mut slots, old, new);
                        held.remove(&old);
                        held.insert(new);
                    }
                }
                Op::Remove(at) => {
                    if let Some(slot) = pick(&held, at) {
                        policy.removed(&mut slots, slot);
                        held.remove(&slot);
                    }
                }
                Op::Evict { keep_last } => {
                    let keep = held.last().copied().filter(|_| keep_last);
                    let victim = policy.victim(&mut slots, keep);
                    prop_assert_eq!(victim.is_none(), held.len() == usize::from(keep.is_some()));
                    if let Some(victim) = victim {
                        prop_assert_ne!(Some(victim), keep);
                        prop_assert!(held.remove(&victim));
                    }
                }
                Op::Clear => {
                    policy.clear();
                    held.clear();
                }
            }
            policy.validate_holds(&slots, &held);
        }
    }
}

#[test]
fn an_empty_policy_has_no_victim() {
    let victim = Policy::new().victim(&mut Slots::default(), None);
    assert_eq!(victim, None);
}

#[test]
fn the_entry_just_inserted_is_never_the_victim() {
    let (mut policy, mut slots) = (Policy::new(), Slots::default());
    let only = slots.add(1, 1);
    policy.inserted(&mut slots, only, true);
    assert_eq!(policy.victim(&mut slots, Some(only)), None);
    assert_eq!(policy.victim(&mut slots, None), Some(only));
}

#[test]
fn a_mark_saturates() {
    let mark = AtomicU8::new(0);
    for _ in 0..1000 {
        touch(&mark);
    }
    assert_eq!(mark.load(Relaxed), MAX_MARK);
}

#[test]
fn an_eviction_passes_over_a_bounded_number_of_entries_when_all_were_hit() {
    let mut cache = Cache::new(10_000);
    for round in 0..4 {
        cache.hit_ratio(0..10_000);
        assert_eq!(cache.policy.len(), 10_000, "round {round}");
    }
    let slot = cache.slots.add(20_000, 1);
    cache.policy.inserted(&mut cache.slots, slot, false);
    let marks = |cache: &Cache| {
        let slots = cache.slot_of.values();
        slots
            .map(|&slot| u32::from(cache.slots.mark(slot)))
            .sum::<u32>()
    };
    let before = marks(&cache);
    cache.policy.victim(&mut cache.slots, Some(slot)).unwrap();
    let most = (MAX_PASSED_OVER + 1) * u32::from(MAX_MARK);
    assert!(before - marks(&cache) <= most);
}

#[test]
fn a_scan_does_not_push_out_what_is_read_again_and_again() {
    let mut cache = Cache::new(1000);
    for _ in 0..10 {
        cache.hit_ratio(0..800);
    }
    cache.hit_ratio(10_000..30_000);
    let ratio = cache.hit_ratio(0..800);
    assert!(ratio > 0.9, "{ratio}");
}

#[test]
fn loops_larger_than_the_cache_keep_most_of_what_fits() {
    for (len, capacity) in [(1000, 100), (1000, 400), (1000, 600), (1000, 900)] {
        let mut cache = Cache::new(capacity);
        let ratio = cache.hit_ratio((0..100 * len).map(|i| i % len));
        let best = capacity as f64 / f64::from(len);
        assert!(ratio > 0.85 * best, "{capacity} of {len}: {ratio}");
    }
}

#[test]
fn a_main_queue_that_nobody_reads_any_more_gives_way() {
    let mut cache = Cache::new(100);
    for _ in 0..10 {
        cache.hit_ratio(0..90);
    }
    let looping = (0..400_000).map(|i| 1000 + i % 1000);
    cache.hit_ratio(looping.clone());
    let ratio = cache.hit_ratio(looping);
    assert!(ratio > 0.05, "{ratio}");
}

#[test]
fn the_small_queue_grows_when_newcomers_are_soon_read_again() {
    let mut cache = Cache::new(1000);
    let start = cache.policy.small_share();
    // Each key is read twice, 100 others in between, then never again.
    for i in 0..50_000 {
        cache.read(i);
        cache.read(i.saturating_sub(100));
    }
    assert!(cache.policy.small_share() > start);
}

#[test]
fn ghosts_take_about_four_bytes_an_entry() {
    let mut cache = Cache::new(10_000);
    cache.hit_ratio(0..50_000);
    let bytes = cache.policy.ghosts.heap_bytes() as f64 / 10_000.0;
    assert!((3.9..4.5).contains(&bytes), "{bytes}");
}
