//! Hits and misses, counted by each thread for itself.
//!
//! A shared counter would be written by every hit and read by the next: the very thing that makes
//! readers slow each other. Here each thread has a cell for each cache, which it alone writes, with a
//! plain load and store; a snapshot adds the cells up.

#![allow(
    unsafe_code,
    reason = "tables are replaced by larger ones while other threads read them"
)]

use std::ptr;

use crate::sync::{AtomicPtr, AtomicU64, Ordering};

/// A cache's place in every thread's table. Places are used again, so a cache subtracts what
/// stood there when it took the place.
pub(crate) type CounterId = usize;

/// Events of one cache, of one thread or of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) hits: u64,
    pub(crate) misses: u64,
}

#[derive(Default)]
struct Cell {
    hits: AtomicU64,
    misses: AtomicU64,
}

impl Cell {
    fn read(&self) -> Counts {
        Counts {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
        }
    }
}

/// One thread's cells, by [`CounterId`].
pub(crate) struct CounterTable {
    /// Of the first caches, of which most programs have no more: without a pointer to follow.
    first: [Cell; FIRST_CELLS],
    /// Of the others.
    more: AtomicPtr<Cells>,
}

struct Cells {
    cells: Box<[Cell]>,
    /// The smaller table that this one replaced. Kept, since a snapshot may be reading it; all of
    /// them together are smaller than the newest.
    previous: *mut Cells,
}

pub(super) const FIRST_CELLS: usize = if cfg!(loom) { 1 } else { 8 };

/// Places for which the first further table has room.
const FIRST_MORE: usize = if cfg!(loom) { 1 } else { 16 };

impl CounterTable {
    pub(super) fn new() -> Self {
        CounterTable {
            first: Default::default(),
            more: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Counts a hit. For the owner.
    #[inline(always)]
    pub(crate) fn count_hit(&self, id: CounterId) {
        add_one(&self.cell(id).hits);
    }

    /// Counts a miss. For the owner.
    #[inline(always)]
    pub(crate) fn count_miss(&self, id: CounterId) {
        add_one(&self.cell(id).misses);
    }

    #[inline(always)]
    fn cell(&self, id: CounterId) -> &Cell {
        match self.first.get(id) {
            Some(cell) => cell,
            None => self.further_cell(id - FIRST_CELLS),
        }
    }

    #[inline(never)]
    fn further_cell(&self, index: usize) -> &Cell {
        let present = self.more.load(Ordering::Relaxed);
        // SAFETY: tables are complete before they are published and live as long as `self`.
        match unsafe { present.as_ref() } {
            Some(table) if index < table.cells.len() => &table.cells[index],
            _ => self.grow(index),
        }
    }

    #[cold]
    fn grow(&self, index: usize) -> &Cell {
        let previous = self.more.load(Ordering::Relaxed);
        // SAFETY: as in `further_cell`.
        let old = unsafe { previous.as_ref() }.map_or(&[][..], |table| &table.cells);
        let len = (index + 1).next_power_of_two().max(FIRST_MORE);
        let cells: Box<[Cell]> = (0..len)
            .map(|index| {
                let counts = old.get(index).map_or(Counts::default(), Cell::read);
                Cell {
                    hits: AtomicU64::new(counts.hits),
                    misses: AtomicU64::new(counts.misses),
                }
            })
            .collect();
        let table = Box::into_raw(Box::new(Cells { cells, previous }));
        self.more.store(table, Ordering::Release);
        // SAFETY: as in `further_cell`.
        unsafe { &(&(*table).cells)[index] }
    }

    /// What this thread has counted. For any thread.
    pub(super) fn read(&self, id: CounterId) -> Counts {
        if let Some(cell) = self.first.get(id) {
            return cell.read();
        }
        // SAFETY: as in `further_cell`.
        let table = unsafe { self.more.load(Ordering::Acquire).as_ref() };
        let cell = table.and_then(|table| table.cells.get(id - FIRST_CELLS));
        cell.map_or(Counts::default(), Cell::read)
    }
}

impl Drop for CounterTable {
    fn drop(&mut self) {
        let mut table = self.more.load(Ordering::Relaxed);
        while !table.is_null() {
            // SAFETY: made by `Box::into_raw` in `grow`; nobody borrows from `self` any more.
            table = unsafe { Box::from_raw(table) }.previous;
        }
    }
}

/// Not `fetch_add`: the owner is the only writer, and a locked instruction costs as much as the rest
/// of a hit.
#[inline(always)]
fn add_one(counter: &AtomicU64) {
    counter.store(
        counter.load(Ordering::Relaxed).wrapping_add(1),
        Ordering::Relaxed,
    );
}

#[cfg(not(loom))]
mod ids {
    use std::sync::Mutex;

    use super::{CounterId, Counts};
    use crate::reclaim::Registry;

    struct Ids {
        /// Places that were given back.
        free: Vec<CounterId>,
        next: CounterId,
    }

    static IDS: Mutex<Ids> = Mutex::new(Ids {
        free: Vec::new(),
        next: 0,
    });

    impl Registry {
        /// A place for a new cache, and what earlier caches left there.
        pub(crate) fn take_counters(&self) -> (CounterId, Counts) {
            let mut ids = IDS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let id = ids.free.pop().unwrap_or_else(|| {
                ids.next += 1;
                ids.next - 1
            });
            drop(ids);
            (id, self.counts(id))
        }

        /// Gives a place back.
        pub(crate) fn give_back_counters(&self, id: CounterId) {
            let mut ids = IDS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            ids.free.push(id);
        }

        /// What all threads have counted in this place.
        pub(crate) fn counts(&self, id: CounterId) -> Counts {
            self.records().map(|record| record.counters.read(id)).fold(
                Counts::default(),
                |sum, counts| Counts {
                    hits: sum.hits.wrapping_add(counts.hits),
                    misses: sum.misses.wrapping_add(counts.misses),
                },
            )
        }
    }
}
