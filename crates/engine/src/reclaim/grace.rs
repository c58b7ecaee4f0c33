//! Grace periods: waiting out the readers that may have found what was unlinked.
//!
//! They run one after another and belong to nobody: who has unlinked something takes a [`Cookie`], and asks later
//! whether a grace period has begun and passed since. So all shards of all caches share them, and a
//! barrier that costs microseconds is paid once for what many of them have taken out.

#![allow(
    unsafe_code,
    reason = "notes records by their addresses, which the registry that owns both keeps alive"
)]

use std::ptr::NonNull;

use super::record::Record;
use super::registry::Registry;
use crate::sync::{AtomicU64, Mutex, Ordering, fence};

/// The grace periods of a registry.
pub(super) struct GracePeriods {
    /// Beginnings and ends so far: odd while one runs.
    sequence: AtomicU64,
    running: Mutex<Running>,
}

/// The grace period that runs, if one does.
#[derive(Default)]
struct Running {
    /// Threads that were pinned at its beginning and were not seen unpinned since.
    pinned: Vec<RecordAddress>,
    /// Without the barrier nothing can be said.
    has_barrier: bool,
}

/// A record of the same registry.
struct RecordAddress(NonNull<Record>);

// SAFETY: what it is used for, any thread may do to any record.
unsafe impl Send for RecordAddress {}

/// A moment: what was unlinked before may be freed once a grace period has passed that began after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cookie(u64);

/// The grace periods that had passed at a moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passed(u64);

impl Passed {
    /// Whether the readers of this cookie's moment are gone.
    pub(crate) fn includes(self, cookie: Cookie) -> bool {
        self.0 >= cookie.0
    }
}

impl GracePeriods {
    pub(super) fn new() -> Self {
        GracePeriods {
            sequence: AtomicU64::new(0),
            running: Mutex::new(Running::default()),
        }
    }
}

impl Registry {
    /// The cookie for what was unlinked until now, on this thread or in a critical section that ended before.
    pub(crate) fn cookie(&self) -> Cookie {
        // Who begins a grace period counts it and then executes the barrier. So either its beginning is seen
        // here, or this fence precedes that barrier, and with it everything that was unlinked.
        fence(Ordering::SeqCst);
        let sequence = self.graces().sequence.load(Ordering::Relaxed);
        // The end of the next one to begin; one that runs already may have begun too early.
        Cookie((sequence + 3) & !1)
    }

    /// The grace periods that have passed. Hazards that are collected from now on include all that was
    /// published under a pin that these have waited for.
    pub(crate) fn passed(&self) -> Passed {
        Passed(self.graces().sequence.load(Ordering::Acquire))
    }

    /// Whether the readers of this cookie's moment are gone.
    pub(crate) fn has_passed(&self, cookie: Cookie) -> bool {
        self.passed().includes(cookie)
    }

    /// Begins and ends grace periods as far as it goes without waiting for a reader. Returns whether
    /// those before the cookie are gone.
    ///
    /// Costs some 10 µs where `membarrier` is in use, if a grace period must begin.
    pub(crate) fn advance(&self, cookie: Cookie) -> bool {
        let graces = self.graces();
        // Somebody else may be at it.
        let Some(mut running) = graces.running.try_lock() else {
            return self.has_passed(cookie);
        };
        while !self.has_passed(cookie) {
            let sequence = graces.sequence.load(Ordering::Relaxed);
            let is_running = sequence % 2 == 1;
            if !is_running {
                *running = Running::default();
                graces.sequence.store(sequence + 1, Ordering::Release);
            }
            if !running.has_barrier {
                running.begin(self);
            }
            if !running.has_ended() {
                return false;
            }
            let ended = graces.sequence.load(Ordering::Relaxed) + 1;
            graces.sequence.store(ended, Ordering::Release);
        }
        true
    }
}

impl Running {
    fn begin(&mut self, registry: &Registry) {
        self.has_barrier = registry.barrier().heavy();
        let pinned = registry.records().filter(|record| record.is_pinned());
        self.pinned.clear();
        self.pinned
            .extend(pinned.map(|record| RecordAddress(record.into())));
    }

    fn has_ended(&mut self) -> bool {
        self.pinned.retain(|record| {
            // SAFETY: taken from the registry that owns this, and records live as long as it does.
            let record = unsafe { record.0.as_ref() };
            record.is_pinned()
        });
        self.pinned.is_empty() && self.has_barrier
    }
}
