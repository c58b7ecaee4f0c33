//! Every interleaving of small programs of readers and writers, under `loom`.
//!
//! An entry is a cell that `loom` watches: the writer frees it by writing to it, so a reader that still
//! looks, or that looked without the writer knowing, is reported as a race. `membarrier` cannot be
//! modelled; both sides use full fences here.
//!
//! Each of these mutations was tried and makes a model fail: no light barrier in `Record::pinned`; no
//! heavy barrier in `Grace::begin`; freeing without waiting for the grace period, or without looking at the
//! hazards; ending all pins with an inner one; always using the first hazard slot; withdrawing every address; a
//! relaxed store when a pin ends, a hazard is dropped or a record is left; a relaxed load of pins or hazards by
//! the writer; a record taken with a relaxed swap, or without one.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::barrier::Barrier;
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
    let record = registry.register();
    let result = record.pinned(body);
    assert!(record.disown(), "a borrow lives on");
    result
}

/// Begins a grace period and waits until it has passed.
pub(crate) fn wait_out_readers(registry: &Registry) {
    let mut grace = Grace::begin(registry);
    while !grace.has_passed() {
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
