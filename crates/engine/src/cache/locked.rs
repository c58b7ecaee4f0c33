//! A locked shard, and every change that can be made to it.
//!
//! Nothing in here runs code of the user's, and nothing is dropped: what leaves is *retired*, and
//! [`super::retire`] frees it without the lock.

#![allow(
    unsafe_code,
    reason = "entries are written to nodes and taken out of them under the lock"
)]

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::MutexGuard;

use super::due::DueHints;
use super::links::Nodes;
use super::node::Node;
use super::shard::{Cause, Moment, Shard, State};
use super::slab::{NO_SLOT, SlotLinks};
use super::weight::Weight;
use crate::clock::{self, Millis, NEVER};
use crate::index::{Hash, OldTable, Place};

/// A locked shard.
pub(super) struct Locked<'s, K, V> {
    shard: &'s Shard<K, V>,
    pub(super) state: MutexGuard<'s, State<K, V>>,
}

/// A node that was taken for an entry and is not yet in the index.
pub(super) struct NewSlot(u32);

/// What is known of an entry beside its key and value.
pub(super) struct Terms {
    pub(super) hash: Hash,
    pub(super) weight: Weight,
    pub(super) deadline: Millis,
}

impl<'s, K, V> Locked<'s, K, V> {
    pub(super) fn new(shard: &'s Shard<K, V>, state: MutexGuard<'s, State<K, V>>) -> Self {
        Locked { shard, state }
    }

    #[inline]
    pub(super) fn node(&self, slot: u32) -> &'s Node<K, V> {
        // SAFETY: slots that callers have come from the index or the state, under the lock.
        unsafe { self.shard.node(slot) }
    }

    #[inline]
    pub(super) fn links(&self, slot: u32) -> &'s SlotLinks {
        // SAFETY: as above.
        unsafe { self.shard.slab.links(slot) }
    }

    /// Takes a node for a new entry, with the entry that nobody can reach any more and that it has held until
    /// now, if any: to be dropped without the lock. None if there are four billion in use.
    #[inline]
    pub(super) fn new_slot(&mut self) -> Option<(NewSlot, Option<(K, V)>)> {
        // One whose old entry is still in it has just been in use, and no list to go through.
        if let Some((slot, entry)) = self.pop_ready() {
            return Some((NewSlot(slot), Some(entry)));
        }
        let slot = self.shard.slab.allocate(&mut self.state.slots)?;
        Some((NewSlot(slot), None))
    }

    /// Stores an entry in place of the one at `at`, or as a new one. `has_room`: nobody has to go for
    /// it. Returns its slot.
    #[inline]
    pub(super) fn store(
        &mut self,
        NewSlot(slot): NewSlot,
        (key, value, terms): (K, V, Terms),
        old: Option<(u32, Place)>,
        moment: Moment,
        has_room: impl FnOnce() -> bool,
    ) -> u32 {
        let node = self.node(slot);
        // SAFETY: the node holds no entry and nobody knows of it.
        unsafe { node.write(key, value, terms.hash, terms.weight) };
        node.set_deadline(terms.deadline, moment.idle, moment.now);
        let due = node.due(moment.idle, moment.now);
        self.state.due.set(slot, due, moment.now);
        match old {
            Some((old, at)) => self.link_in_place(slot, old, at, moment),
            None => self.link(slot, terms.hash, has_room()),
        }
        self.add_size(1, terms.weight);
        self.count_change();
        self.publish_due();
        slot
    }

    fn link(&mut self, slot: u32, hash: Hash, has_room: bool) {
        let (shard, state) = (self.shard, &mut *self.state);
        let position_of = |slot| node_of(shard, slot).position();
        let old_table = shard
            .index
            .insert(&mut state.filling, hash, slot, position_of);
        state.policy.inserted(&mut Nodes(shard), slot, has_room);
        state.events.inserts += 1;
        self.retire_table(old_table);
    }

    fn link_in_place(&mut self, slot: u32, old: u32, at: Place, moment: Moment) {
        let (shard, state) = (self.shard, &mut *self.state);
        shard.index.replace(&mut state.filling, at, slot);
        state.policy.replaced(&mut Nodes(shard), old, slot);
        let is_expired = self.node(old).is_expired(moment.idle.as_ref(), moment.now);
        if is_expired {
            self.state.events.inserts += 1;
            self.retire(old, Cause::Expired, slot);
        } else {
            self.retire(old, Cause::Replaced, slot);
        }
    }

    /// [`Index::find_locked`](crate::index::Index::find_locked).
    pub(super) fn find(
        &self,
        hash: Hash,
        is_match: impl FnMut(u32) -> bool,
    ) -> Option<(u32, Place)> {
        self.shard
            .index
            .find_locked(&self.state.filling, hash, is_match)
    }

    /// Takes an entry out that is in the index, at this place if it is known.
    #[inline]
    pub(super) fn remove(&mut self, slot: u32, at: Option<Place>, cause: Cause) {
        let (shard, state) = (self.shard, &mut *self.state);
        state.policy.removed(&mut Nodes(shard), slot);
        self.unlink(slot, at, cause);
    }

    /// Evicts what the policy says, but not `protected`. False if there is nothing to evict.
    pub(super) fn evict_one(&mut self, protected: Option<u32>) -> bool {
        let (shard, state) = (self.shard, &mut *self.state);
        let Some(victim) = state.policy.victim(&mut Nodes(shard), protected) else {
            return false;
        };
        self.unlink(victim, None, Cause::Capacity);
        true
    }

    /// Takes out what is expired, looking at some `max_looks` entries. Returns whether that was all.
    pub(super) fn expire(&mut self, moment: Moment, max_looks: usize) -> bool {
        let mut due = std::mem::replace(&mut self.state.due, DueHints::new());
        let is_all = due.sweep(moment.now, max_looks, |slot| {
            let node = self.node(slot);
            if !node.is_linked() {
                return NEVER;
            }
            if node.is_expired(moment.idle.as_ref(), moment.now) {
                self.remove(slot, None, Cause::Expired);
                return NEVER;
            }
            node.due(moment.idle, moment.now)
        });
        self.state.due = due;
        self.publish_due();
        is_all
    }

    /// Changes when an entry expires.
    pub(super) fn set_deadline(&mut self, slot: u32, deadline: Millis, moment: Moment) {
        let node = self.node(slot);
        node.set_deadline(deadline, moment.idle, moment.now);
        let due = node.due(moment.idle, moment.now);
        self.state.due.set(slot, due, moment.now);
        self.publish_due();
    }

    /// Takes everything out.
    pub(super) fn clear(&mut self) {
        let shard = self.shard;
        let filling = &mut self.state.filling;
        let mut slots = Vec::with_capacity(filling.len());
        let old_table = shard.index.clear(filling, |slot| slots.push(slot));
        self.count_change();
        self.retire_table(Some(old_table));
        self.state.policy.clear();
        for slot in slots {
            self.retire(slot, Cause::Removed, NO_SLOT);
        }
    }

    /// Takes an entry out of its node that nobody can reach any more, to be dropped without the lock,
    /// and makes its slot free.
    #[inline]
    pub(super) fn take_ready(&mut self) -> Option<(K, V)> {
        let (slot, entry) = self.pop_ready()?;
        self.shard.slab.free(&mut self.state.slots, slot);
        Some(entry)
    }

    #[inline]
    fn pop_ready(&mut self) -> Option<(u32, (K, V))> {
        let slot = self.state.ready.pop()?.slot;
        // SAFETY: a ready node holds an entry, which nobody can reach, and is given up right here.
        let entry = unsafe { self.node(slot).take_entry() };
        Some((slot, entry))
    }

    /// Tells what readers without the lock want to know about what is retired.
    #[inline]
    pub(super) fn publish_retired(&self) {
        let state = &*self.state;
        let has_retired = !state.retired.is_empty() || !state.ready.is_empty();
        if has_retired != self.shard.has_retired() {
            let shared = &self.shard.guarded.has_retired;
            shared.store(has_retired, Ordering::SeqCst);
        }
    }

    /// Takes an entry out that the policy does not know any more.
    #[inline]
    fn unlink(&mut self, slot: u32, at: Option<Place>, cause: Cause) {
        let (shard, filling) = (self.shard, &mut self.state.filling);
        let hash = node_of(shard, slot).hash();
        let position_of = |slot| node_of(shard, slot).position();
        let old_table = match at {
            Some(at) => shard.index.remove_at(filling, hash, at, position_of),
            None => shard.index.remove(filling, hash, slot, position_of),
        };
        self.retire_table(old_table);
        self.count_change();
        self.retire(slot, cause, NO_SLOT);
    }

    #[inline]
    fn count_change(&self) {
        let changes = &self.shard.guarded.changes;
        let count = changes.load(Ordering::Relaxed).wrapping_add(1);
        changes.store(count, Ordering::Release);
    }

    /// Adds an entry, or with -1 takes one away.
    #[inline]
    fn add_size(&self, entries: i64, weight: Weight) {
        // A load and a store will do for who holds the lock.
        let add = |sum: &AtomicU64, more: i64| {
            let sum_now = sum.load(Ordering::Relaxed).wrapping_add_signed(more);
            sum.store(sum_now, Ordering::Relaxed);
        };
        add(&self.shard.guarded.entries, entries);
        add(&self.shard.guarded.weight, entries * weight.get() as i64);
    }

    #[inline]
    fn retire(&mut self, slot: u32, cause: Cause, successor: u32) {
        let node = self.node(slot);
        let weight = node.unlink();
        self.links(slot)
            .previous
            .store(successor, Ordering::Relaxed);
        self.add_size(-1, weight);
        self.state.retired.push(slot, weight);
        self.state.events.count(cause);
    }

    #[inline]
    fn retire_table(&mut self, old_table: Option<OldTable>) {
        if let Some(table) = old_table {
            self.state.retired.push_table(table);
        }
    }

    #[inline]
    fn publish_due(&self) {
        let due = self.state.due.earliest();
        let guarded = &self.shard.guarded;
        let before = guarded.due.load(Ordering::Relaxed);
        if before != due {
            guarded.due.store(due, Ordering::SeqCst);
        }
        // The ticker may have fallen asleep since it was asked for the time, and looks only now.
        if due < before {
            clock::wake();
        }
    }
}

/// The node of a slot that is in the index, for who holds the lock.
#[inline]
fn node_of<K, V>(shard: &Shard<K, V>, slot: u32) -> &Node<K, V> {
    // SAFETY: the index asks for slots that are in it, under the lock.
    unsafe { shard.node(slot) }
}

#[cfg(any(test, fuzzing))]
impl<K, V> Locked<'_, K, V> {
    pub(super) fn shard(&self) -> &Shard<K, V> {
        self.shard
    }

    pub(super) fn validate_policy(&self) -> Vec<u32> {
        self.state.policy.validate(&Nodes(self.shard))
    }

    pub(super) fn free_slots_now(&self) -> Vec<u32> {
        self.state.slots.free_slots(&self.shard.slab)
    }
}
