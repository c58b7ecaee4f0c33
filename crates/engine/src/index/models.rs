//! Every interleaving of a reader and a writer on a small index, under `loom`.
//!
//! A bucket holds three entries before the index grows, so few make it grow. Each slot names a cell that
//! `loom` watches: reading the key of a slot that is being freed is reported as a race.
//!
//! Each of these mutations was tried and makes a model fail: a tag published before its slot; a relaxed store
//! of tags and counts, of a replacing slot, and of a new table; a replacement that empties the place
//! first; a removal that lowers counts twice; a new table published before it is filled; a walk
//! that reports whole buckets; slots used again without a grace period.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::*;
use crate::reclaim::Registry;
use crate::reclaim::models::{check, pinned, registry, wait_out_readers};

const SLOTS: usize = 18;

/// The key of a slot that names no entry.
const FREE: u32 = u32::MAX;

/// An index and the storage behind it. Keys are hash positions, all with the same tag.
struct Shared {
    registry: Registry,
    index: Index,
    /// Not one of the model's locks: only the writer's thread takes it.
    filling: std::sync::Mutex<Filling>,
    keys: [UnsafeCell<u32>; SLOTS],
}

// SAFETY: `loom` checks each access to the cells; that is what the models are for.
#[allow(unsafe_code)]
unsafe impl Sync for Shared {}

fn hash(key: u32) -> Hash {
    Hash {
        position: key,
        tag: 7,
    }
}

impl Shared {
    /// An index of these keys: the first in slot 0, the next in slot 1.
    fn with(keys: &[u32]) -> Arc<Self> {
        let shared = Shared {
            registry: registry(),
            index: Index::new(),
            filling: std::sync::Mutex::default(),
            keys: std::array::from_fn(|_| UnsafeCell::new(FREE)),
        };
        for (slot, key) in keys.iter().enumerate() {
            assert!(shared.insert(*key, slot as u32).is_none());
        }
        Arc::new(shared)
    }

    fn key(&self, slot: u32) -> u32 {
        let key = self.keys[slot as usize].with(|key| {
            // SAFETY: `loom` has checked that nobody writes meanwhile.
            #[allow(unsafe_code)]
            unsafe {
                *key
            }
        });
        assert_ne!(key, FREE, "a reader met a slot that was freed");
        key
    }

    fn set_key(&self, slot: u32, key: u32) {
        self.keys[slot as usize].with_mut(|stored| {
            // SAFETY: `loom` has checked that nobody else looks meanwhile.
            #[allow(unsafe_code)]
            unsafe {
                *stored = key;
            }
        });
    }

    fn insert(&self, key: u32, slot: u32) -> Option<OldTable> {
        self.set_key(slot, key);
        let mut filling = self.filling();
        self.index
            .insert(&mut filling, hash(key), slot, |slot| self.key(slot))
    }

    fn remove(&self, slot: u32) -> Option<OldTable> {
        let mut filling = self.filling();
        self.index
            .remove(&mut filling, hash(self.key(slot)), slot, |slot| {
                self.key(slot)
            })
    }

    fn replace(&self, key: u32, old: u32, new: u32) {
        self.set_key(new, key);
        let mut filling = self.filling();
        let found = self
            .index
            .find_locked(&filling, hash(key), |slot| slot == old);
        let (_, at) = found.expect("present");
        self.index.replace(&mut filling, at, new);
    }

    fn filling(&self) -> std::sync::MutexGuard<'_, Filling> {
        self.filling.lock().expect("nobody panicked")
    }

    fn free(&self, slot: u32) {
        wait_out_readers(&self.registry);
        self.set_key(slot, FREE);
    }

    /// Frees a table that was replaced, after its readers.
    fn free_table(&self, old: Option<OldTable>) {
        if let Some(old) = old {
            wait_out_readers(&self.registry);
            // SAFETY: a grace period that began after the table was replaced has passed.
            #[allow(unsafe_code)]
            unsafe {
                old.free();
            }
        }
    }

    fn find(&self, key: u32) -> Option<u32> {
        pinned(&self.registry, |pin| {
            self.index
                .find(pin, hash(key), |slot| self.key(slot) == key)
                .map(|(slot, _)| slot)
        })
    }
}

/// Runs a reader beside a writer.
fn check_both(
    keys: &'static [u32],
    read: impl Fn(&Shared) + Copy + Send + Sync + 'static,
    write: impl Fn(&Shared) + Send + Sync + 'static,
) {
    check(move || {
        let shared = Shared::with(keys);
        let reader = thread::spawn({
            let shared = shared.clone();
            move || read(&shared)
        });
        write(&shared);
        reader.join().expect("the reader ends");
    });
}

#[test]
fn a_key_that_stays_is_found_while_a_neighbour_goes_and_its_place_is_taken() {
    check_both(
        &[10, 20],
        |shared| assert_eq!(shared.find(20), Some(1)),
        |shared| {
            assert!(shared.remove(0).is_none());
            assert!(shared.insert(30, 2).is_none());
        },
    );
}

#[test]
fn a_key_whose_entry_is_replaced_is_found_old_or_new() {
    check_both(
        &[10, 20],
        |shared| assert!(matches!(shared.find(10), Some(0 | 2))),
        |shared| shared.replace(10, 0, 2),
    );
}

#[test]
fn a_slot_that_was_freed_is_never_met_and_can_be_used_again() {
    check_both(
        &[10, 20],
        |shared| {
            assert!(matches!(shared.find(10), None | Some(0)));
            assert!(matches!(shared.find(30), None | Some(2)));
            assert!(matches!(shared.find(40), None | Some(0)));
        },
        |shared| {
            assert!(shared.remove(0).is_none());
            shared.free(0);
            assert!(shared.insert(30, 2).is_none());
            assert!(shared.insert(40, 0).is_none());
        },
    );
}

/// In two buckets, the second half of all positions belongs to the second.
const SECOND_HALF: u32 = 1 << 31;

/// The first bucket full with twelve entries, and those of key 13 and 14 beyond it in the second.
const OVERFLOWING: [u32; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];

/// A model whose setup grows the index.
fn check_grown(
    keys: &'static [u32],
    read: impl Fn(&Shared) + Copy + Send + Sync + 'static,
    write: impl Fn(&Shared) + Send + Sync + 'static,
) {
    check(move || {
        let shared = Shared::with(&[]);
        for (slot, key) in keys.iter().enumerate() {
            shared.free_table(shared.insert(*key, slot as u32));
        }
        let reader = thread::spawn({
            let shared = shared.clone();
            move || read(&shared)
        });
        write(&shared);
        reader.join().expect("the reader ends");
    });
}

#[test]
fn a_key_beyond_a_full_bucket_is_found_while_others_leave_both_buckets() {
    check_grown(
        &OVERFLOWING,
        |shared| assert_eq!(shared.find(14), Some(13)),
        |shared| {
            assert!(shared.remove(12).is_none());
            assert!(shared.remove(0).is_none());
        },
    );
}

#[test]
fn a_key_beyond_a_full_bucket_is_found_when_its_insertion_has_returned() {
    check_grown(
        &OVERFLOWING,
        |shared| {
            if pinned(&shared.registry, |pin| {
                let is_there = |slot| shared.key(slot) == 15;
                shared.index.find(pin, hash(15), is_there).is_some()
            }) {
                assert_eq!(shared.find(15), Some(14));
            }
            assert_eq!(shared.find(13), Some(12));
        },
        |shared| {
            assert!(shared.insert(15, 14).is_none());
            assert_eq!(shared.find(15), Some(14));
        },
    );
}

#[test]
fn a_key_that_stays_is_found_while_the_table_grows() {
    check_both(
        &[1, SECOND_HALF, SECOND_HALF + 1],
        |shared| {
            assert_eq!(shared.find(SECOND_HALF + 1), Some(2));
            assert_eq!(shared.find(1), Some(0));
        },
        |shared| {
            let old = shared.insert(SECOND_HALF + 2, 3);
            assert!(old.is_some(), "the index has grown");
            shared.free_table(old);
        },
    );
}

#[test]
fn a_walk_meets_what_stays_once_while_the_table_grows() {
    // From two buckets to three: the last key of the first half comes to the second third.
    const LAST: u32 = SECOND_HALF - 1;
    check_grown(
        &[1, LAST, 2, LAST + 1, LAST + 2, LAST + 3],
        |shared| {
            let mut met = Vec::new();
            let mut position = Some(0);
            while let Some(at) = position {
                position = pinned(&shared.registry, |pin| {
                    shared.index.walk(
                        pin,
                        at,
                        |slot| shared.key(slot),
                        |slot| {
                            met.push(slot);
                        },
                    )
                });
            }
            met.retain(|slot| *slot != 6);
            met.sort_unstable();
            assert_eq!(met, [0, 1, 2, 3, 4, 5]);
        },
        |shared| {
            let old = shared.insert(3, 6);
            assert!(old.is_some(), "the index has grown");
            shared.free_table(old);
        },
    );
}
