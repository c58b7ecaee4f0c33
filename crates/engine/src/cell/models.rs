//! Every interleaving of small programs that borrow from a cell and replace what is in it, under `loom`.
//!
//! A version is a number that `loom` watches. Freeing it is a write, so a reader that still looks, or that
//! looked without the one who frees knowing, is reported as a race.
//!
//! Each of these mutations was tried and makes a model fail: no light barrier at the beginning of a borrow, or at its
//! end; no heavy barrier; no second look at the pointer, or a relaxed one; a relaxed exchange of the pointer; freeing
//! without looking at the hazards, in a replacement or at the end of a borrow, or with a relaxed load of them; looking at
//! them before the lock is taken; handing a version over before the barrier; ending a borrow without looking whether
//! its version was replaced; withdrawing addresses that were published without a pin.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::versions::{Borrow, Versions};
use crate::reclaim::models::{check, registry, with_record};
use crate::reclaim::{Record, Registry};

const FREED: u32 = u32::MAX;

type Version = UnsafeCell<u32>;

struct Shared {
    registry: Registry,
    memory: Box<[Version; 3]>,
    cell: Versions<Version>,
}

// SAFETY: `loom` checks each access to the memory; that is what the models are for.
#[allow(unsafe_code)]
unsafe impl Sync for Shared {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Send for Shared {}

impl Shared {
    /// Version 0 is current and nobody has a record.
    fn new() -> Arc<Self> {
        let memory = Box::new([0, 1, 2].map(UnsafeCell::new));
        Arc::new(Shared {
            registry: registry(),
            cell: Versions::new(std::ptr::from_ref(&memory[0]).cast_mut()),
            memory,
        })
    }

    fn address(&self, version: usize) -> *mut Version {
        std::ptr::from_ref(&self.memory[version]).cast_mut()
    }

    fn borrow<'r>(&self, record: &'r Record) -> Borrow<'r, Version> {
        loop {
            let (borrow, is_in_time) = self.cell.try_borrow(record);
            if is_in_time {
                return borrow;
            }
            self.end(borrow);
        }
    }

    fn assert_alive(&self, borrow: &Borrow<'_, Version>) {
        assert_ne!(self.look(borrow.version), FREED);
    }

    fn look(&self, version: *mut Version) -> u32 {
        let place = self.memory.iter().find(|it| std::ptr::eq(*it, version));
        place.expect("one of ours").with(|value| {
            // SAFETY: `loom` has checked that nobody writes meanwhile.
            #[allow(unsafe_code)]
            unsafe {
                *value
            }
        })
    }

    fn end(&self, borrow: Borrow<'_, Version>) {
        let version = borrow.version;
        if self.cell.end(borrow) && self.cell.take_replaced(&self.registry, version) {
            self.free(version);
        }
    }

    /// Returns whether the version before was freed at once.
    fn replace(&self, next: usize) -> bool {
        let freed = self.cell.replace(&self.registry, self.address(next));
        freed.iter().for_each(|version| self.free(*version));
        !freed.is_empty()
    }

    fn free(&self, version: *mut Version) {
        assert_ne!(self.look(version), FREED, "freed twice");
        self.write(version, FREED);
    }

    fn write(&self, version: *mut Version, value: u32) {
        let place = self.memory.iter().find(|it| std::ptr::eq(*it, version));
        place.expect("one of ours").with_mut(|place| {
            // SAFETY: `loom` has checked that nobody else looks meanwhile.
            #[allow(unsafe_code)]
            unsafe {
                *place = value;
            }
        });
    }

    /// When all borrows have ended.
    fn assert_freed(&self, versions: &[usize]) {
        assert_eq!(self.cell.kept(), 0, "nobody frees it");
        for version in versions {
            assert_eq!(self.look(self.address(*version)), FREED);
        }
    }
}

fn spawn(shared: &Arc<Shared>, body: impl FnOnce(&Shared) + 'static) -> thread::JoinHandle<()> {
    let shared = shared.clone();
    thread::spawn(move || body(&shared))
}

fn read(shared: &Shared) {
    with_record(&shared.registry, |record| {
        let borrow = shared.borrow(record);
        shared.assert_alive(&borrow);
        shared.end(borrow);
    });
}

fn join(threads: impl IntoIterator<Item = thread::JoinHandle<()>>) {
    for thread in threads {
        thread.join().expect("the thread ends");
    }
}

#[test]
fn a_replaced_version_is_freed_once_and_not_before_its_borrow_ends() {
    check(|| {
        let shared = Shared::new();
        let reader = spawn(&shared, read);
        shared.replace(1);
        join([reader]);
        shared.assert_freed(&[0]);
    });
}

#[test]
fn the_last_of_two_readers_frees_what_was_replaced() {
    check(|| {
        let shared = Shared::new();
        let readers = [spawn(&shared, read), spawn(&shared, read)];
        shared.replace(1);
        join(readers);
        shared.assert_freed(&[0]);
    });
}

#[test]
fn a_version_lives_until_the_second_borrow_of_the_same_thread_ends() {
    check(|| {
        let shared = Shared::new();
        let reader = spawn(&shared, |shared| {
            with_record(&shared.registry, |record| {
                let first = shared.borrow(record);
                let second = shared.borrow(record);
                shared.end(first);
                shared.assert_alive(&second);
                shared.end(second);
            });
        });
        shared.replace(1);
        join([reader]);
        shared.assert_freed(&[0]);
    });
}

#[test]
fn a_thread_may_replace_what_it_borrows() {
    check(|| {
        let shared = Shared::new();
        let reader = spawn(&shared, read);
        with_record(&shared.registry, |record| {
            let borrow = shared.borrow(record);
            assert!(!shared.replace(1), "it is borrowed");
            shared.assert_alive(&borrow);
            shared.end(borrow);
        });
        join([reader]);
        shared.assert_freed(&[0]);
    });
}

#[test]
fn each_of_two_replacements_frees_its_own_or_leaves_it_to_the_reader() {
    check(|| {
        let shared = Shared::new();
        let others = [
            spawn(&shared, read),
            spawn(&shared, |shared| {
                shared.replace(1);
            }),
        ];
        shared.replace(2);
        join(others);
        assert_eq!(shared.cell.kept(), 0, "nobody frees it");
        let values = [0, 1, 2].map(|version| shared.look(shared.address(version)));
        let freed = values.iter().filter(|value| **value == FREED).count();
        assert_eq!((values[0], freed), (FREED, 2), "{values:?}");
    });
}

#[test]
fn a_version_may_come_to_live_where_one_was_freed() {
    check(|| {
        let shared = Shared::new();
        let reader = spawn(&shared, read);
        let was_freed = shared.replace(1);
        if was_freed {
            shared.write(shared.address(0), 0);
            shared.replace(0);
        }
        join([reader]);
        shared.assert_freed(if was_freed { &[1] } else { &[0] });
    });
}

#[test]
fn the_end_of_a_cache_withdraws_no_borrow_of_a_cell() {
    check(|| {
        let shared = Shared::new();
        let reader = spawn(&shared, read);
        let cache = spawn(&shared, |shared| shared.registry.withdraw(|_| true));
        shared.replace(1);
        join([reader, cache]);
        shared.assert_freed(&[0]);
    });
}
