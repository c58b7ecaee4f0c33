//! Every interleaving of small programs of readers and writers, under `loom`.
//!
//! An entry is a cell that `loom` watches: the writer frees it by writing to it, so a reader that still
//! looks, or that looked without the writer knowing, is reported as a race. `membarrier` cannot be
//! modelled; both sides use full fences here.
//!
//! Each of these mutations was tried and makes a model fail: no light barrier in `Record::pinned`; no
//! heavy barrier in `Running::begin`; freeing without waiting for the grace period, or without looking at the
//! hazards; ending all pins with an inner one; always using the first hazard slot; withdrawing every address; a
//! relaxed store when a pin ends, a hazard is dropped or a record is left; a relaxed load of pins or hazards by
//! the writer; a record taken with a relaxed swap, or without one.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::barrier::Barrier;
use super::counters::{CounterId, FIRST_CELLS};
use super::record::Record;
use super::*;
use crate::sync::{AtomicU32, Ordering};

const FREED: u32 = u32::MAX;

/// Names no entry.
const NONE: usize = 2;

struct Shared {
    registry: Registry,
    entries: [UnsafeCell<u32>; 2],
    /// Which entry readers find.
    linked: AtomicU32,
}

// SAFETY: `loom` checks each access to the cells; that is what the models are for.
#[allow(unsafe_code)]
unsafe impl Sync for Shared {}

impl Shared {
    /// Entry 0 is linked and nobody has a record.
    fn new() -> Arc<Self> {
        Arc::new(Shared {
            registry: registry(),
            entries: [UnsafeCell::new(0), UnsafeCell::new(1)],
            linked: AtomicU32::new(0),
        })
    }

    fn find(&self) -> Option<usize> {
        let found = self.linked.load(Ordering::Acquire) as usize;
        (found != NONE).then_some(found)
    }

    fn address(&self, entry: usize) -> *const () {
        std::ptr::from_ref(&self.entries[entry]).cast()
    }

    fn assert_alive(&self, entry: usize) {
        self.entries[entry].with(|value| {
            // SAFETY: `loom` has checked that nobody writes meanwhile.
            #[allow(unsafe_code)]
            let value = unsafe { *value };
            assert_eq!(value, entry as u32);
        });
    }

    fn free(&self, entry: usize) {
        self.entries[entry].with_mut(|value| {
            // SAFETY: `loom` has checked that nobody else looks meanwhile.
            #[allow(unsafe_code)]
            unsafe {
                assert_ne!(*value, FREED, "freed twice");
                *value = FREED;
            }
        });
    }

    /// Links `next` in the place of entry 0 and waits out the readers. Returns whether entry 0 was freed.
    fn unlink_and_free(&self, next: usize) -> bool {
        self.linked.store(next as u32, Ordering::Release);
        wait_out_readers(&self.registry);
        let is_borrowed = self.registry.hazards().contains(self.address(0));
        if !is_borrowed {
            self.free(0);
        }
        !is_borrowed
    }
}

pub(crate) fn registry() -> Registry {
    Registry::new(Barrier::Fence)
}

/// Runs `body` pinned, with a record of its own that is given back.
pub(crate) fn pinned<R>(registry: &Registry, body: impl FnOnce(&Pin<'_>) -> R) -> R {
    with_record(registry, |record| record.pinned(body))
}

/// Runs `body` with a record of its own that is given back.
pub(crate) fn with_record<R>(registry: &Registry, body: impl FnOnce(&Record) -> R) -> R {
    let reader = Reader::register(registry);
    let result = body(reader.0);
    reader.leave();
    result
}

/// A thread of a model, with a record of its own.
pub(crate) struct Reader<'r>(&'r Record);

impl<'r> Reader<'r> {
    pub(crate) fn register(registry: &'r Registry) -> Self {
        Reader(registry.register())
    }

    pub(crate) fn pin(&self) -> Pin<'r> {
        self.0.pin()
    }

    /// Gives the record back.
    pub(crate) fn leave(self) {
        assert!(self.0.disown(), "a borrow lives on");
    }
}

/// Begins a grace period and waits until it has passed.
pub(crate) fn wait_out_readers(registry: &Registry) {
    let cookie = registry.cookie();
    while !registry.advance(cookie) {
        thread::yield_now();
    }
}

/// Runs a model to the end: as far as `LOOM_MAX_PREEMPTIONS` goes, by default with three preemptions.
pub(crate) fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.max_branches = 20_000;
    builder.preemption_bound = match std::env::var("LOOM_MAX_PREEMPTIONS") {
        Ok(bound) => bound.parse().ok(),
        Err(_) => Some(3),
    };
    builder.check(model);
}

#[test]
fn what_a_pinned_reader_found_is_not_freed_while_it_is_pinned() {
    check(|| {
        let shared = Shared::new();
        let reader = thread::spawn({
            let shared = shared.clone();
            move || {
                pinned(&shared.registry, |_| {
                    if let Some(found) = shared.find() {
                        shared.assert_alive(found);
                    }
                });
            }
        });
        assert!(shared.unlink_and_free(NONE), "nothing was borrowed");
        reader.join().expect("the reader ends");
    });
}

#[test]
fn a_borrow_keeps_its_entry_after_the_pin_and_over_the_grace_period() {
    check(|| {
        let shared = Shared::new();
        let reader = thread::spawn({
            let shared = shared.clone();
            move || {
                let record = shared.registry.register();
                let borrow = record.pinned(|pin| {
                    let found = shared.find()?;
                    Some((found, pin.protect(shared.address(found))))
                });
                if let Some((found, hazard)) = borrow {
                    shared.assert_alive(found);
                    drop(hazard);
                }
                assert!(record.disown());
            }
        });
        let was_freed = shared.unlink_and_free(NONE);
        reader.join().expect("the reader ends");
        if !was_freed {
            assert!(!shared.registry.hazards().contains(shared.address(0)));
            shared.free(0);
        }
    });
}

#[test]
fn the_end_of_an_inner_pin_leaves_the_outer_one() {
    check(|| {
        let shared = Shared::new();
        let reader = thread::spawn({
            let shared = shared.clone();
            move || {
                let record = shared.registry.register();
                record.pinned(|_| {
                    let found = shared.find();
                    record.pinned(|_| ());
                    if let Some(found) = found {
                        shared.assert_alive(found);
                    }
                });
            }
        });
        shared.unlink_and_free(NONE);
        reader.join().expect("the reader ends");
    });
}

#[test]
fn a_second_borrow_on_a_thread_is_as_good_as_the_first() {
    check(|| {
        let shared = Shared::new();
        let reader = thread::spawn({
            let shared = shared.clone();
            move || {
                let record = shared.registry.register();
                let borrow = || {
                    record.pinned(|pin| {
                        let found = shared.find().expect("one is always linked");
                        (found, pin.protect(shared.address(found)))
                    })
                };
                let first = borrow();
                let second = borrow();
                shared.assert_alive(first.0);
                drop(first);
                shared.assert_alive(second.0);
            }
        });
        shared.unlink_and_free(1);
        reader.join().expect("the reader ends");
    });
}

#[test]
fn a_grace_period_sees_readers_that_register_while_it_begins() {
    check(|| {
        let shared = Shared::new();
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let record = shared.registry.register();
                    record.pinned(|_| {
                        if let Some(found) = shared.find() {
                            shared.assert_alive(found);
                        }
                    });
                })
            })
            .collect();
        shared.unlink_and_free(NONE);
        for reader in readers {
            reader.join().expect("the reader ends");
        }
    });
}

#[test]
fn a_record_that_was_left_has_one_new_owner_who_sees_all_of_the_old() {
    check(|| {
        let shared = Shared::new();
        let left: *const () = {
            let record = shared.registry.register();
            assert!(record.disown());
            std::ptr::from_ref(record).cast()
        };
        let left = left.addr();
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let record = shared.registry.register();
                    if std::ptr::from_ref(record).addr() == left {
                        // What only the owner may touch.
                        shared.entries[1].with_mut(|_| ());
                    }
                    assert!(record.disown());
                })
            })
            .collect();
        for thread in threads {
            thread.join().expect("the thread ends");
        }
    });
}

#[test]
fn withdrawing_the_addresses_of_one_cache_leaves_the_borrows_of_another() {
    check(|| {
        let shared = Shared::new();
        let record = shared.registry.register();
        // Forgotten, by a thread that goes on reading another cache.
        record.pinned(|pin| std::mem::forget(pin.protect(shared.address(1))));
        assert!(!record.disown(), "the address is still published");
        let dropping = thread::spawn({
            let shared = shared.clone();
            move || {
                let gone = shared.address(1);
                shared.registry.withdraw(|address| address == gone);
                assert!(!shared.registry.hazards().contains(gone));
            }
        });
        let hazard = record.pinned(|pin| pin.protect(shared.address(0)));
        dropping.join().expect("the thread ends");
        assert!(shared.registry.hazards().contains(shared.address(0)));
        drop(hazard);
        assert!(record.disown());
    });
}

#[test]
fn a_grace_period_that_one_thread_began_can_be_ended_by_another() {
    check(|| {
        let shared = Shared::new();
        let reader = thread::spawn({
            let shared = shared.clone();
            move || {
                pinned(&shared.registry, |_| {
                    if let Some(found) = shared.find() {
                        shared.assert_alive(found);
                    }
                });
            }
        });
        shared.linked.store(NONE as u32, Ordering::Release);
        let cookie = shared.registry.cookie();
        shared.registry.advance(cookie);
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                while !shared.registry.advance(cookie) {
                    thread::yield_now();
                }
                shared.free(0);
            }
        });
        reader.join().expect("the reader ends");
        other.join().expect("the thread ends");
    });
}

#[test]
fn two_writers_share_a_grace_period_that_began_after_both_have_unlinked() {
    check(|| {
        let shared = Shared::new();
        let reader = thread::spawn({
            let shared = shared.clone();
            move || {
                pinned(&shared.registry, |_| {
                    if let Some(found) = shared.find() {
                        shared.assert_alive(found);
                    }
                });
            }
        });
        // One whose cookie another's grace period may or may not be late enough for.
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                let cookie = shared.registry.cookie();
                shared.registry.advance(cookie);
            }
        });
        shared.linked.store(NONE as u32, Ordering::Release);
        let cookie = shared.registry.cookie();
        while !shared.registry.has_passed(cookie) {
            shared.registry.advance(cookie);
            thread::yield_now();
        }
        shared.free(0);
        reader.join().expect("the reader ends");
        other.join().expect("the other writer ends");
    });
}

#[test]
fn a_thread_that_takes_over_a_record_is_waited_for_as_its_first_owner() {
    check(|| {
        let shared = Shared::new();
        Reader::register(&shared.registry).leave();
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || {
                    pinned(&shared.registry, |_| {
                        if let Some(found) = shared.find() {
                            shared.assert_alive(found);
                        }
                    });
                })
            })
            .collect();
        shared.unlink_and_free(NONE);
        for reader in readers {
            reader.join().expect("the reader ends");
        }
    });
}

#[test]
fn a_borrow_made_under_an_inner_pin_outlives_both() {
    check(|| {
        let shared = Shared::new();
        let reader = thread::spawn({
            let shared = shared.clone();
            move || {
                let reader = Reader::register(&shared.registry);
                let outer = reader.pin();
                let inner = reader.pin();
                let found = shared.find();
                // Ended in this order, as by code of a user's that reads while it is compared.
                drop(outer);
                let hazard = found.map(|found| inner.protect(shared.address(found)));
                drop(inner);
                if let Some(found) = found {
                    shared.assert_alive(found);
                }
                drop(hazard);
            }
        });
        shared.unlink_and_free(NONE);
        reader.join().expect("the reader ends");
    });
}

#[test]
fn counts_of_a_thread_are_read_while_its_table_grows_and_never_go_back() {
    const FIRST_FURTHER: CounterId = FIRST_CELLS;
    const LAST_FURTHER: CounterId = FIRST_CELLS + 1;
    check(|| {
        let registry = Arc::new(registry());
        let owner = thread::spawn({
            let registry = registry.clone();
            move || {
                let reader = Reader::register(&registry);
                let pin = reader.pin();
                pin.counters().count_hit(FIRST_FURTHER);
                pin.counters().count_hit(LAST_FURTHER);
                pin.counters().count_hit(FIRST_FURTHER);
            }
        });
        let hits = || {
            let counts = registry.records().map(|r| r.counters.read(FIRST_FURTHER));
            counts.map(|counts| counts.hits).sum::<u64>()
        };
        let before = hits();
        let after = hits();
        assert!(before <= after && after <= 2, "{before}, then {after}");
        owner.join().expect("the owner ends");
        assert_eq!(hits(), 2);
    });
}
