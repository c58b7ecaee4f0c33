//! Freeing what was taken out, when nobody can look at it any more, without a lock.
//!
//! What is taken out is *retired*. When a batch of it is complete, a grace period begins; when that has
//! passed, what no borrow keeps is *ready*, and each call that writes drops one of the ready
//! entries: never a whole batch at once, which would make that call slow, and give the allocator all at
//! once what it likes to hand out again one by one.

#![allow(
    unsafe_code,
    reason = "entries and tables are freed after a grace period, unless a borrow keeps them"
)]

use std::any::Any;
use std::collections::VecDeque;
use std::hint;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use super::shard::Shard;
use crate::index::OldTable;
use crate::reclaim::{self, Grace};

/// Retired entries that start a grace period: this part of the shard's entries, within bounds. A
/// grace period costs up to some 10 µs; entries that wait for it cost memory.
const BATCH_SHARE: u64 = 16;
const MIN_BATCH: u64 = 32;
pub(super) const MAX_BATCH: u64 = 512;

/// Entries that are taken out of the lock at a time to be dropped.
const READY_STEP: usize = 64;

/// Looks at the pinned threads before they are left for later. A probe takes less; a thread that
/// was interrupted in one takes far more.
const POLLS: u32 = 64;

/// Grace periods of a shard that run at a time.
const MAX_GRACES: usize = 8;

/// Times that a writer lets others run when much waits for a thread that was interrupted.
const YIELDS: u32 = 16;

/// What a `Drop` of the user's panicked with.
pub(super) type Panic = Box<dyn Any + Send>;

/// An entry that was taken out.
#[derive(Debug, Clone, Copy)]
pub(super) struct RetiredEntry {
    pub(super) slot: u32,
    pub(super) weight: u64,
}

/// What was taken out of a shard and has begun no grace period.
#[derive(Default)]
pub(super) struct Retired {
    entries: Vec<RetiredEntry>,
    weight: u64,
    pub(super) tables: Vec<OldTable>,
}

/// What was taken out of a shard and waits.
#[derive(Default)]
pub(super) struct Waiting {
    /// For a grace period to pass.
    graces: VecDeque<(Grace<'static>, Retired)>,
    /// For a borrow to end.
    borrowed: Vec<RetiredEntry>,
}

impl Retired {
    pub(super) fn push(&mut self, slot: u32, weight: u64) {
        self.entries.push(RetiredEntry { slot, weight });
        self.weight += weight;
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len() + self.tables.len()
    }

    /// Whether a grace period is worth its cost.
    pub(super) fn is_batch(&self, shard_entries: u64, max_weight: u64) -> bool {
        let batch = (shard_entries / BATCH_SHARE).clamp(MIN_BATCH, MAX_BATCH);
        self.entries.len() as u64 >= batch || self.weight > max_weight
    }
}

impl Waiting {
    pub(super) fn len(&self) -> usize {
        self.graces.len() + self.borrowed.len()
    }

    fn weight_in_graces(&self) -> u64 {
        self.graces.iter().map(|(_, retired)| retired.weight).sum()
    }

    fn borrowed_weight(&self) -> u64 {
        self.borrowed.iter().map(|entry| entry.weight).sum()
    }
}

impl<K, V> Shard<K, V> {
    /// Begins a grace period for what was retired, and makes ready what nobody can reach any more. Waits a
    /// little for readers that were interrupted if more than `max_weight` waits for them. Returns by
    /// how much the weight of what borrows keep has changed.
    pub(super) fn free_retired(&self, max_weight: u64) -> i64 {
        let (retired, mut waiting) = {
            let mut locked = self.lock();
            let state = &mut *locked.state;
            let waiting = std::mem::take(&mut state.waiting);
            // While a thread stays pinned, further grace periods are of no use.
            let is_stuck = waiting.graces.len() >= MAX_GRACES;
            let retired = if is_stuck {
                Retired::default()
            } else {
                std::mem::take(&mut state.retired)
            };
            (retired, waiting)
        };
        let borrowed_before = waiting.borrowed_weight();
        if retired.len() > 0 {
            let grace = Grace::begin(reclaim::global());
            waiting.graces.push_back((grace, retired));
        }
        let mut ready = std::mem::take(&mut waiting.borrowed);
        let mut yields = if waiting.weight_in_graces() > max_weight {
            YIELDS
        } else {
            0
        };
        // The oldest first: who holds that up holds up those after it.
        while let Some((grace, _)) = waiting.graces.front_mut() {
            let mut has_passed = poll(grace);
            while !has_passed && yields > 0 {
                yields -= 1;
                thread::yield_now();
                has_passed = grace.has_passed();
            }
            if !has_passed {
                break;
            }
            let (_, retired) = waiting.graces.pop_front().expect("just looked at");
            ready.extend(retired.entries);
            for table in retired.tables {
                // SAFETY: the grace period began after the table was replaced, and has passed.
                unsafe { table.free() };
            }
        }
        if !ready.is_empty() {
            let hazards = reclaim::global().hazards();
            waiting.borrowed.extend(ready.extract_if(.., |entry| {
                // SAFETY: the slot came from the state and was not given back.
                let node = unsafe { self.node(entry.slot) };
                hazards.contains(std::ptr::from_ref(node).cast())
            }));
        }
        let borrowed_change = waiting.borrowed_weight() as i64 - borrowed_before as i64;

        let mut locked = self.lock();
        locked.state.ready.append(&mut ready);
        locked.state.waiting.graces.extend(waiting.graces);
        locked.state.waiting.borrowed.extend(waiting.borrowed);
        locked.publish_retired();
        borrowed_change
    }

    /// Drops all entries that are ready, some at a time. Returns the first panic.
    pub(super) fn drop_ready(&self) -> Option<Panic> {
        let mut panic = None;
        loop {
            let mut locked = self.lock();
            let entries: Vec<_> = std::iter::from_fn(|| locked.take_ready())
                .take(READY_STEP)
                .collect();
            locked.publish_retired();
            drop(locked);
            if entries.is_empty() {
                return panic;
            }
            panic = panic.or(drop_each(entries));
        }
    }
}

/// Drops entries, each also if the one before panicked. Returns the first panic.
pub(super) fn drop_each<T>(entries: impl IntoIterator<Item = T>) -> Option<Panic> {
    let mut panic = None;
    for entry in entries {
        let dropped = catch_unwind(AssertUnwindSafe(move || drop(entry)));
        panic = panic.or(dropped.err());
    }
    panic
}

fn poll(grace: &mut Grace<'_>) -> bool {
    (0..POLLS).any(|_| {
        hint::spin_loop();
        grace.has_passed()
    })
}

/// Takes everything that was retired, when the whole shard goes. Frees the tables and returns the
/// slots.
///
/// # Safety
/// Nobody can be reading the shard any more.
pub(super) unsafe fn take_all(retired: &mut Retired, waiting: &mut Waiting) -> Vec<u32> {
    let mut slots: Vec<u32> = waiting.borrowed.drain(..).map(|entry| entry.slot).collect();
    let in_graces = waiting.graces.drain(..).map(|(_, retired)| retired);
    for batch in in_graces.chain([std::mem::take(retired)]) {
        slots.extend(batch.entries.iter().map(|entry| entry.slot));
        for table in batch.tables {
            // SAFETY: by the caller's promise.
            unsafe { table.free() };
        }
    }
    slots
}

#[cfg(any(test, fuzzing))]
impl Retired {
    pub(super) fn entries(&self) -> impl Iterator<Item = RetiredEntry> {
        self.entries.iter().copied()
    }
}

#[cfg(any(test, fuzzing))]
impl Waiting {
    pub(super) fn entries(&self) -> impl Iterator<Item = RetiredEntry> {
        let in_graces = self
            .graces
            .iter()
            .flat_map(|(_, retired)| retired.entries());
        in_graces.chain(self.borrowed.iter().copied())
    }
}
