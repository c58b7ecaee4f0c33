//! A shard: the entries whose hashes fall to it, and how they are found.

#![allow(
    unsafe_code,
    reason = "nodes are reached by slots; the lock and the pin keep them alive"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::budget::Amount;
use super::due::DueHints;
use super::locked::Locked;
use super::node::{IdleTime, Node};
use super::retire::{Panic, pass_on, take_all};
use super::retired::{Retired, RetiredEntry};
use super::slab::{Slab, SlabWriter};
use super::stats::Events;
use crate::clock::{Millis, NEVER};
use crate::index::{Filling, FirstLook, Hash, Index};
use crate::policy::Policy;
use crate::reclaim::{self, Pin};

/// What readers touch comes first, apart from what writers write.
#[repr(align(128))]
pub(super) struct Shard<K, V> {
    pub(super) index: Index,
    pub(super) slab: Slab<K, V>,
    pub(super) guarded: Guarded<K, V>,
}

#[repr(align(128))]
pub(super) struct Guarded<K, V> {
    pub(super) state: Mutex<State<K, V>>,
    /// How often the index was changed. Counted when a change is complete, so that who finds the
    /// same number before and after a look at the index has seen it as it is.
    pub(super) changes: AtomicU64,
    /// Written under the lock, read without.
    pub(super) entries: AtomicU64,
    pub(super) weight: AtomicU64,
    /// Nothing is due before this.
    pub(super) due: AtomicU64,
    /// Whether there are retired entries or tables that are not yet freed.
    pub(super) has_retired: AtomicBool,
}

pub(super) struct State<K, V> {
    pub(super) slots: SlabWriter<K, V>,
    pub(super) filling: Filling,
    pub(super) policy: Policy,
    pub(super) due: DueHints,
    pub(super) events: Events,
    /// What was unlinked and may still be read.
    pub(super) retired: Retired,
    /// What nobody can reach any more, and is to be dropped.
    pub(super) ready: Vec<RetiredEntry>,
}

/// See [`Shard::find_at_once`].
pub(super) struct NotAtOnce;

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
                    ready: Vec::new(),
                }),
                changes: AtomicU64::new(0),
                entries: AtomicU64::new(0),
                weight: AtomicU64::new(0),
                due: AtomicU64::new(NEVER),
                has_retired: AtomicBool::new(false),
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

    /// Where in the order of hashes the entry of a slot stands.
    #[inline]
    fn position(&self, slot: u32) -> u32 {
        // SAFETY: called for slots that were found in the index under a pin.
        unsafe { self.node(slot) }.position()
    }

    /// Live entries and their weight.
    #[inline]
    pub(super) fn size(&self) -> Amount {
        Amount {
            entries: self.guarded.entries.load(Ordering::Relaxed),
            weight: self.guarded.weight.load(Ordering::Relaxed),
        }
    }

    /// Nothing is due before this.
    pub(super) fn due(&self) -> Millis {
        // Who stores it looks afterwards whether the ticker sleeps; the ticker, falling asleep, looks here.
        self.guarded.due.load(Ordering::SeqCst)
    }

    /// Whether anything is retired and not yet freed.
    pub(super) fn has_retired(&self) -> bool {
        // In this order for the ticker, as in `due`.
        self.guarded.has_retired.load(Ordering::SeqCst)
    }

    #[inline]
    pub(super) fn lock(&self) -> Locked<'_, K, V> {
        Locked::new(self, self.guarded.state.lock())
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
            FirstLook::Slot(slot, _) => {
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
        self.index.walk(
            pin,
            position,
            |slot| self.position(slot),
            |slot| {
                // SAFETY: found in the index under the pin.
                found(unsafe { self.node(slot) });
            },
        )
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
        state.retired.push_table(old_table);
        // SAFETY: a cache is dropped with its last handle, and everything that reads it borrows one.
        slots.extend(unsafe { take_all(&mut state.retired) });
        slots.extend(state.ready.drain(..).map(|entry| entry.slot));
        // Borrows that were forgotten would keep whatever comes to live at these addresses.
        reclaim::global().withdraw(|address| self.slab.contains(&state.slots, address));
        drop(locked);
        let mut panic: Option<Panic> = None;
        for slot in slots {
            // SAFETY: the slot holds an entry that nobody else drops.
            let drop_entry = || unsafe { self.node(slot).drop_entry() };
            panic = panic.or(catch_unwind(AssertUnwindSafe(drop_entry)).err());
        }
        pass_on(panic);
    }
}
