//! Who is evicted: two queues, a memory of the evicted, and what is learnt from those who return.
//!
//! The rule is S3-FIFO (Yang et al., SOSP 2023) and four additions, each for a weakness that showed on
//! traces (`docs/decisions/eviction-policy.md`):
//!
//! 1. S3-FIFO: a newcomer enters the *small* queue. At its head an entry that was hit twice moves to the
//!    *main* queue, any other is evicted. The main queue is a clock: at its head an entry with marks
//!    loses one and goes round again, one without is evicted. A key that returns while [`Ghosts`]
//!    remembers it enters the main queue.
//! 2. While there is room, newcomers fill the main queue up to its share. A loop larger than the cache
//!    then keeps the part that fits, where plain S3-FIFO keeps nothing.
//! 3. The small queue's share is not fixed: [`Split`] moves it towards the queue that would gain more
//!    hits by being a little larger.
//! 4. While most of those that the main queue evicts come back ([`Regret`]), as in a loop not much
//!    larger than the cache, few of the returning may enter it: else each would push out another that
//!    is as good, just before its turn.
//! 5. Every [`RENEW_EVERY`]th eviction from the small queue turns the main queue by one, so that a main
//!    queue which nobody reads any more is replaced even if no newcomer is ever hit.
//!
//! A hit only raises the mark in the entry ([`touch`]). All else runs under the shard's lock and costs
//! constant time: the number of entries passed over in one call is bounded too.

mod ghosts;
mod queue;
mod regret;
mod split;
#[cfg(test)]
mod tests;
#[cfg(any(test, fuzzing))]
mod validate;

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use ghosts::{Ghost, Ghosts};
pub(crate) use queue::Links;
#[cfg(any(test, fuzzing))]
use queue::NIL;
use queue::Queue;
use regret::Regret;
use split::Split;

/// Hits beyond this many are not counted: more makes yesterday's favourites too hard to evict.
const MAX_MARK: u8 = 3;

/// Hits that carry an entry from the small queue into the main queue. One hit is often only the echo
/// of the first use.
const PROMOTING_MARK: u8 = 2;

/// Evictions from the small queue per turn of the main queue. An entry in a loop survives if the loop
/// is shorter than this many times the main queue.
const RENEW_EVERY: u32 = 128;

/// Entries passed over before the next one goes, marked or not: bounds the time under the lock when
/// everything was hit since the last eviction.
const MAX_PASSED_OVER: u32 = 64;

/// The queue that holds an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Small,
    Main,
}

impl Class {
    /// As a byte, for storages that keep it in one.
    pub(crate) fn to_bits(self) -> u8 {
        u8::from(self == Class::Main)
    }

    pub(crate) fn from_bits(bits: u8) -> Self {
        match bits {
            0 => Class::Small,
            _ => Class::Main,
        }
    }
}

/// The fields that the policy keeps in each entry, by slot. Slots are dense enough to be `u32` and never
/// `u32::MAX`.
pub(crate) trait Entries {
    fn links(&self, slot: u32) -> Links;
    fn set_prev(&mut self, slot: u32, prev: u32);
    fn set_next(&mut self, slot: u32, next: u32);
    fn class(&self, slot: u32) -> Class;
    fn set_class(&mut self, slot: u32, class: Class);
    fn mark(&self, slot: u32) -> u8;
    fn set_mark(&mut self, slot: u32, mark: u8);
    /// Must not change while the entry is in the policy.
    fn weight(&self, slot: u32) -> u64;
    /// Any 32 well-mixed bits of the key's hash.
    fn hash(&self, slot: u32) -> u32;
}

/// Counts a hit: a load, and a store only while the mark is not saturated. Two readers may lose a count.
#[inline]
pub(crate) fn touch(mark: &AtomicU8) {
    let seen = mark.load(Relaxed);
    if seen < MAX_MARK {
        mark.store(seen + 1, Relaxed);
    }
}

/// The policy of one shard.
#[derive(Debug)]
pub(crate) struct Policy {
    small: Queue,
    main: Queue,
    ghosts: Ghosts,
    split: Split,
    regret: Regret,
    until_renewal: u32,
}

impl Policy {
    pub(crate) fn new() -> Self {
        Self {
            small: Queue::new(Class::Small),
            main: Queue::new(Class::Main),
            ghosts: Ghosts::new(),
            split: Split::new(),
            regret: Regret::new(),
            until_renewal: RENEW_EVERY,
        }
    }

    /// Entries in this shard.
    pub(crate) fn len(&self) -> usize {
        self.small.len() + self.main.len()
    }

    /// The sum of the entries' weights.
    pub(crate) fn weight(&self) -> u64 {
        self.small.weight() + self.main.weight()
    }

    /// Forgets everything, as after the cache was cleared.
    pub(crate) fn clear(&mut self) {
        *self = Self::new();
    }

    /// Takes up a newcomer. `has_room`: it fits without anybody having to go.
    pub(crate) fn inserted(&mut self, entries: &mut impl Entries, slot: u32, has_room: bool) {
        let may_enter_main = match self.ghosts.take(entries.hash(slot)) {
            Some(ghost) => self.returned(ghost),
            None => false,
        };
        entries.set_mark(slot, 0);
        if may_enter_main || (has_room && self.small_is_over_its_share()) {
            self.main.push_back(entries, slot);
        } else {
            self.small.push_back(entries, slot);
        }
    }

    /// Gives `new` the place of `old`, which held the same key. Counts as a hit.
    #[inline]
    pub(crate) fn replaced(&mut self, entries: &mut impl Entries, old: u32, new: u32) {
        entries.set_mark(new, (entries.mark(old) + 1).min(MAX_MARK));
        self.queue_of(entries, old).replace(entries, old, new);
    }

    /// Lets go of an entry that was removed or expired. It leaves no ghost: its return proves nothing
    /// about the capacity.
    pub(crate) fn removed(&mut self, entries: &mut impl Entries, slot: u32) {
        self.queue_of(entries, slot).unlink(entries, slot);
    }

    /// Chooses who is evicted and lets go of it. Never `keep`, the entry just inserted; `None` if there
    /// is no other.
    pub(crate) fn victim(&mut self, entries: &mut impl Entries, keep: Option<u32>) -> Option<u32> {
        for passed_over in 0.. {
            let patient = passed_over < MAX_PASSED_OVER;
            let small = self.small.front_but(entries, keep);
            let main = self.main.front_but(entries, keep);
            match (small, main) {
                (Some(slot), main) if main.is_none() || self.small_is_over_its_share() => {
                    if patient && entries.mark(slot) >= PROMOTING_MARK {
                        self.promote(entries, slot);
                    } else if let Some(stale) = main.filter(|_| self.renewal_is_due()) {
                        if entries.mark(stale) == 0 {
                            self.promote(entries, slot);
                            return Some(self.evict(entries, stale));
                        }
                        self.pass_over(entries, stale);
                        return Some(self.evict(entries, slot));
                    } else {
                        return Some(self.evict(entries, slot));
                    }
                }
                (_, Some(slot)) => {
                    if !patient || entries.mark(slot) == 0 {
                        return Some(self.evict(entries, slot));
                    }
                    self.pass_over(entries, slot);
                }
                (_, None) => break,
            }
        }
        None
    }

    /// Learns from a key that comes back. Returns whether it may enter the main queue.
    fn returned(&mut self, ghost: Ghost) -> bool {
        let len = self.len();
        self.split.returned(ghost, len);
        if ghost.class == Class::Main {
            self.regret.returned(len);
        }
        self.regret.lets_pass()
    }

    fn small_is_over_its_share(&self) -> bool {
        // Signed, because that is one instruction to convert, and many otherwise.
        let (small, all) = (self.small.weight() as i64, self.weight() as i64);
        small as f64 > self.split.small_share() * all as f64
    }

    fn renewal_is_due(&mut self) -> bool {
        self.until_renewal -= 1;
        let due = self.until_renewal == 0;
        if due {
            self.until_renewal = RENEW_EVERY;
        }
        due
    }

    fn promote(&mut self, entries: &mut impl Entries, slot: u32) {
        self.small.unlink(entries, slot);
        entries.set_mark(slot, 0);
        self.main.push_back(entries, slot);
    }

    fn pass_over(&mut self, entries: &mut impl Entries, slot: u32) {
        self.main.unlink(entries, slot);
        entries.set_mark(slot, entries.mark(slot) - 1);
        self.main.push_back(entries, slot);
    }

    fn evict(&mut self, entries: &mut impl Entries, slot: u32) -> u32 {
        let class = entries.class(slot);
        let len = self.len();
        self.ghosts.record(entries.hash(slot), class, len);
        if class == Class::Main {
            self.regret.evicted(len);
        }
        self.queue_of(entries, slot).unlink(entries, slot);
        slot
    }

    #[inline]
    fn queue_of(&mut self, entries: &impl Entries, slot: u32) -> &mut Queue {
        match entries.class(slot) {
            Class::Small => &mut self.small,
            Class::Main => &mut self.main,
        }
    }
}
