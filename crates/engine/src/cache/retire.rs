//! Freeing what was taken out, when nobody can look at it any more, without a lock.
//!
//! What is taken out is [`Retired`](super::retired::Retired). When its grace period has passed, what no borrow keeps
//! is *ready*, and each call that writes drops one of the ready entries: never a whole batch at once,
//! which would make that call slow, and give the allocator all at once what it likes to hand out
//! again one by one.

#![allow(
    unsafe_code,
    reason = "entries and tables are freed after a grace period, unless a borrow keeps them"
)]

use std::any::Any;
use std::hint;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use super::retired::{MAX_WAITING, Retired};
use super::shard::Shard;
use crate::reclaim::{self, Cookie};

/// A write drops one ready entry, so that the allocator gets one and gives one. When there are more than these,
/// it drops [`READY_STEP`] more.
pub(super) const MANY_READY: usize = MAX_WAITING as usize;

/// Entries that are taken out of the lock at a time to be dropped.
const READY_STEP: usize = 64;

/// Looks at the pinned threads before they are left for later. A probe takes less; a thread that
/// was interrupted in one takes far more.
const POLLS: u32 = 64;

/// Times that a writer lets others run when much waits for a thread that was interrupted.
const YIELDS: u32 = 16;

/// What a `Drop` of the user's panicked with.
pub(super) type Panic = Box<dyn Any + Send>;

/// Has the grace periods before the cookie pass, if no reader is in the way for long. Whether they have.
pub(super) fn see_to_grace(cookie: Cookie, is_urgent: bool) -> bool {
    let registry = reclaim::global();
    let has_passed = (0..POLLS).any(|_| {
        hint::spin_loop();
        registry.advance(cookie)
    });
    let yields = if is_urgent { YIELDS } else { 0 };
    has_passed
        || (0..yields).any(|_| {
            thread::yield_now();
            registry.advance(cookie)
        })
}

impl<K, V> Shard<K, V> {
    /// Makes ready what nobody can reach any more. Returns by how much the weight of what borrows keep
    /// has changed, wrapping.
    pub(super) fn free_retired(&self) -> u64 {
        let registry = reclaim::global();
        let passed = registry.passed();
        let hazards = registry.hazards();
        let address_of = |slot| {
            // SAFETY: the slot came from the state and was not given back.
            std::ptr::from_ref(unsafe { self.node(slot) }).cast()
        };
        let mut locked = self.lock();
        let state = &mut *locked.state;
        let freed = state
            .retired
            .free(passed, &hazards, address_of, &mut state.ready);
        locked.publish_retired();
        drop(locked);
        for table in freed.tables {
            // SAFETY: the grace period began after the table was replaced, and has passed.
            unsafe { table.free() };
        }
        freed.borrowed_change
    }

    /// Weight of the entries that are ready.
    pub(super) fn ready_weight(&self) -> u64 {
        let locked = self.lock();
        let ready = locked.state.ready.iter();
        ready.map(|entry| entry.weight.get()).sum()
    }

    /// Drops all entries that are ready. Returns the first panic.
    pub(super) fn drop_ready(&self) -> Option<Panic> {
        let mut panic = None;
        while let Some(dropped) = self.drop_some_ready() {
            panic = panic.or(dropped.err());
        }
        panic
    }

    /// Drops some entries that are ready. None if there were none.
    pub(super) fn drop_some_ready(&self) -> Option<Result<(), Panic>> {
        let mut locked = self.lock();
        let entries: Vec<_> = std::iter::from_fn(|| locked.take_ready())
            .take(READY_STEP)
            .collect();
        locked.publish_retired();
        drop(locked);
        (!entries.is_empty()).then(|| drop_each(entries).map_or(Ok(()), Err))
    }
}

/// Lets a panic of the user's code go on to the caller, now that the cache is in order. Not while the
/// thread is panicking already, which would end the process.
#[inline]
pub(super) fn pass_on(panic: Option<Panic>) {
    if let Some(panic) = panic
        && !thread::panicking()
    {
        resume_unwind(panic);
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

/// Takes everything that was retired, when the whole shard goes. Frees the tables and returns the
/// slots.
///
/// # Safety
/// Nobody can be reading the shard any more.
pub(super) unsafe fn take_all(retired: &mut Retired) -> impl Iterator<Item = u32> {
    let (entries, tables) = retired.take_all();
    for table in tables {
        // SAFETY: by the caller's promise.
        unsafe { table.free() };
    }
    entries.into_iter().map(|entry| entry.slot)
}
