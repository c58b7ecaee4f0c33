//! Which version is current, and which of the replaced ones a borrow still keeps.
//!
//! A reader publishes the version's address, executes its side of the barrier, and looks whether the version
//! still is current. A writer replaces it, executes the other side, and looks at what is published. So either
//! the reader sees that it came too late, or the writer sees the borrow.
//!
//! At the end of a borrow it is the same the other way round: the reader empties its slot, executes the
//! barrier, and looks whether the version still is current. If it is, a later writer sees the empty slot; if
//! not, the version may be its to free. Versions are handed over under a lock, and a version comes there only
//! after the barrier of its replacement, so from then on a look at the slots decides.
//!
//! Versions are addresses here, that nobody follows: the models put no values behind them.

use crate::reclaim::{Hazard, Record, Registry, unpinned};
use crate::sync::{AtomicPtr, Mutex, Ordering};

/// The versions of one cell that are not freed.
pub(super) struct Versions<T> {
    current: AtomicPtr<T>,
    replaced: Mutex<Replaced<T>>,
}

struct Replaced<T> {
    /// Kept by a borrow when last looked at.
    borrowed: Vec<*mut T>,
    /// Replaced when the kernel refused the barrier: there may be borrows that nobody knows of.
    unknown: Vec<*mut T>,
}

/// What keeps a version alive. Made without knowing whether it came in time.
pub(super) struct Borrow<'r, T> {
    pub(super) version: *mut T,
    hazard: Hazard<'r>,
    record: &'r Record,
}

impl<T> Versions<T> {
    pub(super) fn new(first: *mut T) -> Self {
        Versions {
            current: AtomicPtr::new(first),
            replaced: Mutex::new(Replaced {
                borrowed: Vec::new(),
                unknown: Vec::new(),
            }),
        }
    }

    /// Borrows the current version, and tells whether the borrow came in time: else the version may be
    /// freed already, and all that can be done with the borrow is to end it.
    ///
    /// The record must be the calling thread's.
    #[inline(always)]
    pub(super) fn try_borrow<'r>(&self, record: &'r Record) -> (Borrow<'r, T>, bool) {
        let seen = self.current.load(Ordering::Relaxed);
        let hazard = record.publish(name(seen));
        record.light_barrier();
        // Acquire: what the writer put into the version before it published it.
        let current = self.current.load(Ordering::Acquire);
        let is_in_time = current == seen;
        let borrow = Borrow {
            // Where they are the same, it is the later look that allows to follow the address.
            version: if is_in_time { current } else { seen },
            hazard,
            record,
        };
        (borrow, is_in_time)
    }

    /// Ends a borrow. Returns whether its version was replaced: then the caller must see to it with
    /// [`Versions::take_replaced`].
    #[inline(always)]
    #[must_use]
    pub(super) fn end(&self, borrow: Borrow<'_, T>) -> bool {
        drop(borrow.hazard);
        borrow.record.light_barrier();
        self.current.load(Ordering::Relaxed) != borrow.version
    }

    /// Hands a replaced version to the caller, unless another has taken it or it is borrowed.
    #[must_use]
    pub(super) fn take_replaced(&self, registry: &Registry, version: *mut T) -> bool {
        let borrowed = &mut self.replaced.lock().borrowed;
        // Absent also if its replacement is under way: that will find our slot empty, for it takes the lock
        // after us.
        match borrowed.iter().position(|kept| *kept == version) {
            Some(place) if !registry.is_borrowed(name(version)) => {
                borrowed.swap_remove(place);
                true
            }
            _ => false,
        }
    }

    /// Makes `next` the current version. Returns replaced versions that nobody borrows any more.
    #[must_use]
    pub(super) fn replace(&self, registry: &Registry, next: *mut T) -> Vec<*mut T> {
        let before = self.current.swap(next, Ordering::AcqRel);
        let has_barrier = registry.heavy_barrier();
        let replaced = &mut *self.replaced.lock();
        if !has_barrier {
            replaced.unknown.push(before);
            return Vec::new();
        }
        replaced.borrowed.push(before);
        // Also the versions of before: a thread that published one too late, for another cell that had it
        // at the same address, is not told to come back.
        let hazards = registry.hazards();
        replaced
            .borrowed
            .extract_if(.., |version| !hazards.contains(name(*version)))
            .collect()
    }

    /// All versions, when the cell goes, and whether a guard that was forgotten still names them. Nobody may
    /// borrow from the cell any more.
    #[cfg_attr(
        loom,
        expect(dead_code, reason = "only values are dropped with their cell")
    )]
    pub(super) fn take_all(&mut self, registry: &Registry) -> Vec<(*mut T, bool)> {
        let replaced = &mut *self.replaced.lock();
        let mut all = vec![self.current.load(Ordering::Relaxed)];
        all.append(&mut replaced.borrowed);
        all.append(&mut replaced.unknown);
        let hazards = registry.hazards();
        all.into_iter()
            .map(|version| (version, hazards.contains(name(version))))
            .collect()
    }

    /// How many replaced versions are kept.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        let replaced = self.replaced.lock();
        replaced.borrowed.len() + replaced.unknown.len()
    }
}

/// What a version is published as.
fn name<T>(version: *mut T) -> *const () {
    unpinned(version.cast_const().cast())
}
