//! A shard: the entries whose hashes fall to it, and everything about them that one lock guards.
//!
//! Nothing in here runs code of the user's, and nothing is dropped: what leaves is *retired*, and
//! [`super::retire`] frees it without the lock.

#![allow(
    unsafe_code,
    reason = "nodes are reached by slots; the lock and the pin keep them alive"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use parking_lot::{Mutex, MutexGuard};

use super::due::DueHints;
use super::inner::pass_on;
use super::node::{IdleTime, Node};
use super::retire::{Retired, RetiredEntry, Waiting, take_all};
use super::slab::{NO_SLOT, Slab, SlabWriter};
use super::stats::Events;
use super::weight::Weight;
use crate::clock::{Millis, NEVER};
use crate::index::{Filling, FirstLook, Hash, Index, Place};
use crate::policy::{Class, Entries, Links, Policy};
use crate::reclaim::{self, Pin};

/// Times that a key is looked up for one write. Even among a thousand threads that all insert and remove
/// one key, a thread does not lose so often.
const MAX_LOOKUPS: usize = 10_000;

/// What readers touch comes first, apart from what writers write.
#[repr(align(128))]
pub(super) struct Shard<K, V> {
    pub(super) index: Index,
    slab: Slab<K, V>,
    guarded: Guarded<K, V>,
}

#[repr(align(128))]
struct Guarded<K, V> {
    state: Mutex<State<K, V>>,
    /// How often the index was changed. Counted when a change is complete, so that who finds the
    /// same number before and after a look at the index has seen it as it is.
    changes: AtomicU64,
    /// Written under the lock, read without.
    size: Size,
    /// Nothing is due before this.
    due: AtomicU64,
    /// Retired entries and tables that are not yet freed.
    retired: AtomicU64,
}

/// Live entries and their weight.
#[derive(Default)]
pub(super) struct Size {
    entries: AtomicU64,
    weight: AtomicU64,
}

impl Size {
    pub(super) fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    pub(super) fn weight(&self) -> u64 {
        self.weight.load(Ordering::Relaxed)
    }

    /// For who holds the lock: a load and a store will do.
    fn change(&self, entries: i64, weight: i64) {
        let sum = self.entries().wrapping_add_signed(entries);
        self.entries.store(sum, Ordering::Relaxed);
        let sum = self.weight().wrapping_add_signed(weight);
        self.weight.store(sum, Ordering::Relaxed);
    }
}

pub(super) struct State<K, V> {
    slots: SlabWriter<K, V>,
    pub(super) filling: Filling,
    policy: Policy,
    pub(super) due: DueHints,
    pub(super) events: Events,
    /// What was unlinked since the last grace period began.
    pub(super) retired: Retired,
    /// What waits for a grace period to pass or for a borrow to end.
    pub(super) waiting: Waiting,
    /// What nobody can reach any more, and is to be dropped.
    pub(super) ready: Vec<RetiredEntry>,
}

/// See [`Shard::find_at_once`].
pub(super) struct NotAtOnce;

/// See [`Locked::find_again`].
struct NotCompared;

/// Why an entry leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    /// There was no room.
    Capacity,
    /// Its time was up.
    Expired,
    /// It was removed or cleared.
    Removed,
    /// Another value took its place.
    Replaced,
}

/// An entry about to be stored.
pub(super) struct NewEntry<K, V> {
    pub(super) key: K,
    pub(super) value: V,
    pub(super) hash: Hash,
    pub(super) weight: Weight,
    pub(super) deadline: Millis,
    /// Whether nobody has to go for it.
    pub(super) has_room: bool,
}

/// What everything that deals with time needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) now: Millis,
    pub(super) idle: Option<IdleTime>,
}

impl<K, V> Shard<K, V> {
    pub(super) fn new() -> Self {
        let (slab, slots) = Slab::new();
        Shard {
            index: Index::new(),
            slab,
            guarded: Guarded {
                state: Mutex::new(State {
                    slots,
                    filling: Filling::default(),
                    policy: Policy::new(),
                    due: DueHints::new(),
                    events: Events::default(),
                    retired: Retired::default(),
                    waiting: Waiting::default(),
                    ready: Vec::new(),
                }),
                changes: AtomicU64::new(0),
                size: Size::default(),
                due: AtomicU64::new(NEVER),
                retired: AtomicU64::new(0),
            },
        }
    }

    /// The node of a slot.
    ///
    /// # Safety
    /// The slot comes from this shard's index, under a pin or the lock, or from its state.
    #[inline(always)]
    pub(super) unsafe fn node(&self, slot: u32) -> &Node<K, V> {
        // SAFETY: by the caller's promise.
        unsafe { self.slab.node(slot) }
    }

    pub(super) fn size(&self) -> &Size {
        &self.guarded.size
    }

    /// Nothing is due before this.
    pub(super) fn due(&self) -> Millis {
        self.guarded.due.load(Ordering::Relaxed)
    }

    /// Whether anything is retired and not yet freed.
    pub(super) fn has_retired(&self) -> bool {
        self.guarded.retired.load(Ordering::Relaxed) > 0
    }

    pub(super) fn lock(&self) -> Locked<'_, K, V> {
        Locked {
            shard: self,
            state: self.guarded.state.lock(),
        }
    }

    /// The entry of a key if it is where it usually is, or that there is none, or that it takes
    /// [`find`](Self::find) to know. Short, so that a hit keeps what it needs in registers.
    #[inline(always)]
    pub(super) fn find_at_once(
        &self,
        pin: &Pin<'_>,
        hash: Hash,
        is_key: impl Fn(&K) -> bool,
    ) -> Result<Option<&Node<K, V>>, NotAtOnce> {
        match self.index.first_look(pin, hash) {
            FirstLook::Slot(slot) => {
                // SAFETY: found in the index under the pin.
                let node = unsafe { self.node(slot) };
                // SAFETY: as above.
                let is_match = is_key(unsafe { node.key() });
                is_match.then_some(Some(node)).ok_or(NotAtOnce)
            }
            FirstLook::Absent => Ok(None),
            FirstLook::Elsewhere => Err(NotAtOnce),
        }
    }

    /// The entry of a key, as it is at some moment of the call. `is_key` may be code of the user's.
    pub(super) fn find(
        &self,
        pin: &Pin<'_>,
        hash: Hash,
        is_key: impl Fn(&K) -> bool,
    ) -> Option<&Node<K, V>> {
        let mut found = None;
        self.index.find(pin, hash, |slot| {
            // SAFETY: found in the index under the pin.
            let node = unsafe { self.node(slot) };
            // SAFETY: as above.
            let is_match = is_key(unsafe { node.key() });
            if is_match {
                found = Some(node);
            }
            is_match
        })?;
        found
    }

    /// Calls `found` with the entries of one step of a walk, see [`Index::walk`].
    pub(super) fn walk<'s>(
        &'s self,
        pin: &Pin<'_>,
        position: u32,
        mut found: impl FnMut(&'s Node<K, V>),
    ) -> Option<u32> {
        self.index.walk(pin, position, position_in(self), |slot| {
            // SAFETY: found in the index under the pin.
            found(unsafe { self.node(slot) });
        })
    }

    /// Locks the shard and finds the entry of a key, without calling `is_key` under the lock: the
    /// key is looked up first, and if the answer is no longer true when the lock is there, again.
    ///
    /// # Panics
    /// If that happens again and again, which only an `Eq` can bring about that changes this cache
    /// at each comparison.
    pub(super) fn lock_and_find(
        &self,
        pin: &Pin<'_>,
        hash: Hash,
        is_key: impl Fn(&K) -> bool,
    ) -> (Locked<'_, K, V>, Option<(u32, Place)>) {
        for _ in 0..MAX_LOOKUPS {
            let changes = self.guarded.changes.load(Ordering::Acquire);
            // Slots are not used again under the pin, so a slot that was compared stays that entry.
            let mut compared = Vec::new();
            let found = self.index.find(pin, hash, |slot| {
                // SAFETY: found in the index under the pin.
                let node = unsafe { self.node(slot) };
                if node.position() != hash.position {
                    return false;
                }
                // SAFETY: as above.
                let is_match = is_key(unsafe { node.key() });
                if !is_match {
                    compared.push(slot);
                }
                is_match
            });
            let locked = self.lock();
            if changes == self.guarded.changes.load(Ordering::Relaxed) {
                return (locked, found);
            }
            let slot = found.map(|(slot, _)| slot);
            if let Ok(present) = locked.find_again(hash, slot, compared) {
                return (locked, present);
            }
            drop(locked);
            thread::yield_now();
        }
        panic!("`Eq` of the key changes the cache that compares it, each time");
    }
}

impl<K, V> Drop for Shard<K, V> {
    fn drop(&mut self) {
        let mut locked = self.lock();
        let state = &mut *locked.state;
        let mut slots = Vec::with_capacity(state.filling.len());
        let old_table = self
            .index
            .clear(&mut state.filling, |slot| slots.push(slot));
        state.retired.tables.push(old_table);
        // SAFETY: a cache is dropped with its last handle, and everything that reads it borrows one.
        slots.extend(unsafe { take_all(&mut state.retired, &mut state.waiting) });
        slots.extend(state.ready.drain(..).map(|entry| entry.slot));
        // Borrows that were forgotten would keep whatever comes to live at these addresses.
        reclaim::global().withdraw(|address| locked.shard.slab.contains(&state.slots, address));
        drop(locked);
        let mut panic = None;
        for slot in slots {
            // SAFETY: the slot holds an entry that nobody else drops.
            let drop_entry = || unsafe { self.node(slot).drop_entry() };
            panic = panic.or(catch_unwind(AssertUnwindSafe(drop_entry)).err());
        }
        pass_on(panic);
    }
}

/// A locked shard.
pub(super) struct Locked<'s, K, V> {
    shard: &'s Shard<K, V>,
    pub(super) state: MutexGuard<'s, State<K, V>>,
}

impl<'s, K, V> Locked<'s, K, V> {
    pub(super) fn node(&self, slot: u32) -> &'s Node<K, V> {
        // SAFETY: slots that callers have come from the index or the state, under the lock.
        unsafe { self.shard.node(slot) }
    }

    /// Finds the entry of a key after the index has changed, if what was compared before tells: `found`,
    /// which has this key, and `compared`, which have this hash and other keys.
    fn find_again(
        &self,
        hash: Hash,
        found: Option<u32>,
        mut compared: Vec<u32>,
    ) -> Result<Option<(u32, Place)>, NotCompared> {
        // What took the place of an entry has the same key.
        let found = found.map(|slot| self.successor(slot));
        for slot in &mut compared {
            *slot = self.successor(*slot);
        }
        // Many keys may share a hash, and the search below holds the lock.
        compared.sort_unstable();
        let filling = &self.state.filling;
        let present = self.shard.index.find_locked(filling, hash, |candidate| {
            Some(candidate) == found
                || self.node(candidate).position() == hash.position
                    && compared.binary_search(&candidate).is_err()
        });
        if present.is_none_or(|(slot, _)| Some(slot) == found) {
            Ok(present)
        } else {
            Err(NotCompared)
        }
    }

    /// The latest entry in place of this one, which was found under a pin that still holds.
    fn successor(&self, mut slot: u32) -> u32 {
        while !self.node(slot).is_linked() {
            match self.node(slot).previous.load(Ordering::Relaxed) {
                NO_SLOT => break,
                successor => slot = successor,
            }
        }
        slot
    }

    /// Stores an entry in place of `old`, or as a new one. Returns its slot, or the entry if there
    /// is no slot for it.
    pub(super) fn store(
        &mut self,
        entry: NewEntry<K, V>,
        old: Option<(u32, Place)>,
        moment: Moment,
    ) -> Result<u32, NewEntry<K, V>> {
        let (shard, state) = (self.shard, &mut *self.state);
        let Some(slot) = shard.slab.allocate(&mut state.slots) else {
            return Err(entry);
        };
        // SAFETY: just allocated.
        let node = unsafe { shard.node(slot) };
        // SAFETY: the node holds no entry and nobody knows of it.
        unsafe { node.write(entry.key, entry.value, entry.hash, entry.weight) };
        node.set_deadline(entry.deadline, moment.idle, moment.now);
        state
            .due
            .set(slot, node.due(moment.idle, moment.now), moment.now);
        let nodes = &mut Nodes(shard);
        if let Some((old, at)) = old {
            shard.index.replace(&mut state.filling, at, slot);
            state.policy.replaced(nodes, old, slot);
            self.add_size(slot);
            if self.node(old).is_expired(moment.idle.as_ref(), moment.now) {
                self.state.events.inserts += 1;
                self.retire(old, Cause::Expired, slot);
            } else {
                self.retire(old, Cause::Replaced, slot);
            }
        } else {
            let filling = &mut state.filling;
            let old_table = shard
                .index
                .insert(filling, entry.hash, slot, position_in(shard));
            state.retired.tables.extend(old_table);
            state.policy.inserted(nodes, slot, entry.has_room);
            state.events.inserts += 1;
            self.add_size(slot);
        }
        self.count_change();
        self.publish_due();
        Ok(slot)
    }

    /// Takes an entry out that is in the index.
    pub(super) fn remove(&mut self, slot: u32, cause: Cause) {
        let (shard, state) = (self.shard, &mut *self.state);
        state.policy.removed(&mut Nodes(shard), slot);
        self.unlink(slot, cause);
    }

    /// Evicts what the policy says, but not `protected`. False if there is nothing to evict.
    pub(super) fn evict_one(&mut self, protected: Option<u32>) -> bool {
        let (shard, state) = (self.shard, &mut *self.state);
        let Some(victim) = state.policy.victim(&mut Nodes(shard), protected) else {
            return false;
        };
        self.unlink(victim, Cause::Capacity);
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
                self.remove(slot, Cause::Expired);
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
        self.state.retired.tables.push(old_table);
        self.state.policy.clear();
        for slot in slots {
            self.retire(slot, Cause::Removed, NO_SLOT);
        }
    }

    /// Takes an entry out of its node that nobody can reach any more, to be dropped without the lock,
    /// and makes its slot free.
    pub(super) fn take_ready(&mut self) -> Option<(K, V)> {
        let slot = self.state.ready.pop()?.slot;
        // SAFETY: a ready node holds an entry, which nobody can reach, and is given up right here.
        let entry = unsafe { self.node(slot).take_entry() };
        self.shard.slab.free(&mut self.state.slots, slot);
        Some(entry)
    }

    /// Tells what readers without the lock want to know about what is retired.
    pub(super) fn publish_retired(&self) {
        let state = &*self.state;
        let retired = state.retired.len() + state.waiting.len() + state.ready.len();
        self.shard
            .guarded
            .retired
            .store(retired as u64, Ordering::Relaxed);
    }

    fn unlink(&mut self, slot: u32, cause: Cause) {
        let shard = self.shard;
        let hash = self.node(slot).hash();
        let filling = &mut self.state.filling;
        let old_table = shard.index.remove(filling, hash, slot, position_in(shard));
        self.state.retired.tables.extend(old_table);
        self.count_change();
        self.retire(slot, cause, NO_SLOT);
    }

    fn count_change(&self) {
        let changes = &self.shard.guarded.changes;
        let count = changes.load(Ordering::Relaxed).wrapping_add(1);
        changes.store(count, Ordering::Release);
    }

    fn add_size(&self, slot: u32) {
        let weight = self.node(slot).weight().get();
        self.shard.guarded.size.change(1, weight as i64);
    }

    fn retire(&mut self, slot: u32, cause: Cause, successor: u32) {
        let node = self.node(slot);
        let weight = node.unlink().get();
        node.previous.store(successor, Ordering::Relaxed);
        self.shard.guarded.size.change(-1, -(weight as i64));
        self.state.retired.push(slot, weight);
        self.state.events.count(cause);
    }

    fn publish_due(&self) {
        let due = self.state.due.earliest();
        let guarded = &self.shard.guarded;
        if guarded.due.load(Ordering::Relaxed) != due {
            guarded.due.store(due, Ordering::SeqCst);
        }
    }
}

#[cfg(any(test, fuzzing))]
impl<K, V> Locked<'_, K, V> {
    pub(super) fn index(&self) -> &Index {
        &self.shard.index
    }

    pub(super) fn size(&self) -> &Size {
        self.shard.size()
    }

    pub(super) fn validate_policy(&self) -> Vec<u32> {
        self.state.policy.validate(&Nodes(self.shard))
    }

    pub(super) fn free_slots_now(&self) -> Vec<u32> {
        self.state.slots.free_slots(&self.shard.slab)
    }

    pub(super) fn slots_ever_used(&self) -> usize {
        self.state.slots.slots_ever_used()
    }
}

/// Where in the order of hashes the entry of a slot stands that is in the index.
fn position_in<K, V>(shard: &Shard<K, V>) -> impl Fn(u32) -> u32 {
    // SAFETY: the index calls it for slots that are in it, under the lock.
    |slot| unsafe { shard.node(slot) }.position()
}

/// The policy's view of the nodes. Made under the lock only.
struct Nodes<'s, K, V>(&'s Shard<K, V>);

impl<K, V> Nodes<'_, K, V> {
    fn node(&self, slot: u32) -> &Node<K, V> {
        // SAFETY: the policy knows slots of live entries only, and the lock is held.
        unsafe { self.0.node(slot) }
    }
}

impl<K, V> Entries for Nodes<'_, K, V> {
    fn links(&self, slot: u32) -> Links {
        let node = self.node(slot);
        Links {
            prev: node.previous.load(Ordering::Relaxed),
            next: node.next.load(Ordering::Relaxed),
        }
    }

    fn set_links(&mut self, slot: u32, links: Links) {
        let node = self.node(slot);
        node.previous.store(links.prev, Ordering::Relaxed);
        node.next.store(links.next, Ordering::Relaxed);
    }

    fn class(&self, slot: u32) -> Class {
        Class::from_bits(self.node(slot).class.load(Ordering::Relaxed))
    }

    fn set_class(&mut self, slot: u32, class: Class) {
        self.node(slot)
            .class
            .store(class.to_bits(), Ordering::Relaxed);
    }

    fn mark(&self, slot: u32) -> u8 {
        self.node(slot).mark.load(Ordering::Relaxed)
    }

    fn set_mark(&mut self, slot: u32, mark: u8) {
        self.node(slot).mark.store(mark, Ordering::Relaxed);
    }

    fn weight(&self, slot: u32) -> u64 {
        self.node(slot).weight().get()
    }

    fn hash(&self, slot: u32) -> u32 {
        self.node(slot).position()
    }
}
