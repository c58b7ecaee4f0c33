//! Every interleaving of writers and readers over the whole life of an entry, under `loom`: looked up
//! before the lock, stored, borrowed, retired, freed, its slot used again.
//!
//! Index and reclamation are the real ones. The storage on top of them is that of a shard of the typed cache in
//! small, step for step (`lock_and_find`, `store`, `remove` of `cache/shard.rs`, `free_retired` of
//! `cache/retire.rs` and `cache/retired.rs`, `take_ready`): the cache itself cannot run here, since its locks and its clock are
//! not `loom`'s. Miri runs the cache itself, see `docs/testing.md`.

use loom::cell::UnsafeCell;
use loom::sync::{Arc, Mutex, MutexGuard};
use loom::thread;

use crate::index::{Filling, FirstLook, Hash, Index, Place};
use crate::reclaim::models::{Reader, check, registry};
use crate::reclaim::{Cookie, Pin, Registry};
use crate::sync::{AtomicU32, AtomicU64, Ordering};

const NODES: usize = 4;

/// Keys with this one's hash are [`KEY`] itself and [`TWIN`].
const KEY: u32 = 2;
const TWIN: u32 = 3;
const OTHER: u32 = 4;

/// What a key was stored with.
type Version = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    key: u32,
    version: Version,
}

struct Node {
    entry: UnsafeCell<Option<Entry>>,
    position: AtomicU32,
}

/// A shard in small.
struct Store {
    registry: Registry,
    index: Index,
    changes: AtomicU64,
    state: Mutex<State>,
    nodes: [Node; NODES],
}

struct State {
    filling: Filling,
    /// Each a batch of its own.
    retired: Vec<(u32, Cookie)>,
    borrowed: Vec<u32>,
    borrowed_cookie: Option<Cookie>,
    ready: Vec<u32>,
    /// The latest to be freed is the first to be used again.
    free: Vec<u32>,
}

// SAFETY: `loom` checks each access to the cells; that is what the models are for.
#[allow(unsafe_code)]
unsafe impl Sync for Store {}

fn hash(key: u32) -> Hash {
    Hash {
        position: key >> 1,
        tag: 7,
    }
}

impl Store {
    /// A store of these keys, all in version 0.
    fn with(keys: &[u32]) -> Arc<Self> {
        let store = Store {
            registry: registry(),
            index: Index::new(),
            changes: AtomicU64::new(0),
            state: Mutex::new(State {
                filling: Filling::default(),
                retired: Vec::new(),
                borrowed: Vec::new(),
                borrowed_cookie: None,
                ready: Vec::new(),
                free: (0..NODES as u32).rev().collect(),
            }),
            nodes: std::array::from_fn(|_| Node {
                entry: UnsafeCell::new(None),
                position: AtomicU32::new(0),
            }),
        };
        let reader = Reader::register(&store.registry);
        for key in keys {
            store.store(&reader, *key, 0);
        }
        reader.leave();
        Arc::new(store)
    }

    fn address(&self, slot: u32) -> *const () {
        std::ptr::from_ref(&self.nodes[slot as usize]).cast()
    }

    /// The entry in a slot that somebody keeps alive.
    fn entry(&self, slot: u32) -> Entry {
        self.nodes[slot as usize].entry.with(|entry| {
            // SAFETY: `loom` has checked that nobody writes meanwhile.
            #[allow(unsafe_code)]
            unsafe { *entry }.expect("a reader met a slot that was freed")
        })
    }

    /// Puts an entry in a free slot, or takes the one there is out.
    fn exchange(&self, slot: u32, new: Option<Entry>) -> Option<Entry> {
        self.nodes[slot as usize].entry.with_mut(|entry| {
            // SAFETY: `loom` has checked that nobody else looks meanwhile.
            #[allow(unsafe_code)]
            unsafe {
                std::mem::replace(&mut *entry, new)
            }
        })
    }

    fn position(&self, slot: u32) -> u32 {
        self.nodes[slot as usize].position.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panicked")
    }

    /// Where a key is, as a hit looks for it.
    fn find(&self, pin: &Pin<'_>, key: u32) -> Option<u32> {
        let is_key = |slot| self.entry(slot).key == key;
        match self.index.first_look(pin, hash(key)) {
            FirstLook::Slot(slot, _) if is_key(slot) => Some(slot),
            FirstLook::Absent => None,
            FirstLook::Slot(..) | FirstLook::Elsewhere => {
                let found = self.index.find(pin, hash(key), is_key);
                found.map(|(slot, _)| slot)
            }
        }
    }

    fn lock_and_find(
        &self,
        pin: &Pin<'_>,
        key: u32,
    ) -> (MutexGuard<'_, State>, Option<(u32, Place)>) {
        loop {
            let changes = self.changes.load(Ordering::Acquire);
            let mut compared = Vec::new();
            let found = self.index.find(pin, hash(key), |slot| {
                let is_match = self.entry(slot).key == key;
                if !is_match {
                    compared.push(slot);
                }
                is_match
            });
            let locked = self.lock();
            if changes == self.changes.load(Ordering::Relaxed) {
                return (locked, found);
            }
            let before = found.map(|(slot, _)| slot);
            let present = self
                .index
                .find_locked(&locked.filling, hash(key), |candidate| {
                    Some(candidate) == before
                        || self.position(candidate) == hash(key).position
                            && !compared.contains(&candidate)
                });
            if present.map(|(slot, _)| slot) == before {
                return (locked, present);
            }
        }
    }

    fn store(&self, reader: &Reader<'_>, key: u32, version: Version) {
        let pin = reader.pin();
        let (mut locked, old) = self.lock_and_find(&pin, key);
        let slot = locked.free.pop().expect("there are enough");
        let before = self.exchange(slot, Some(Entry { key, version }));
        assert_eq!(before, None, "the slot was free");
        self.nodes[slot as usize]
            .position
            .store(hash(key).position, Ordering::Relaxed);
        if let Some((old, at)) = old {
            self.index.replace(&mut locked.filling, at, slot);
            locked.retired.push((old, self.registry.cookie()));
        } else {
            let position_of = |slot| self.position(slot);
            let old_table = self
                .index
                .insert(&mut locked.filling, hash(key), slot, position_of);
            assert!(old_table.is_none(), "there are fewer than make it grow");
        }
        self.count_change();
    }

    /// Removes a key; calls `removed` with its entry while the pin is there, as it was found.
    fn remove<'r, R>(
        &self,
        reader: &Reader<'r>,
        key: u32,
        removed: impl FnOnce(&Pin<'r>, u32) -> R,
    ) -> Option<R> {
        let pin = reader.pin();
        let (mut locked, found) = self.lock_and_find(&pin, key);
        let (slot, _) = found?;
        let removed = removed(&pin, slot);
        let position_of = |slot| self.position(slot);
        let old_table = self
            .index
            .remove(&mut locked.filling, hash(key), slot, position_of);
        assert!(old_table.is_none(), "it never grew");
        self.count_change();
        locked.retired.push((slot, self.registry.cookie()));
        Some(removed)
    }

    fn count_change(&self) {
        let changes = self.changes.load(Ordering::Relaxed);
        self.changes.store(changes + 1, Ordering::Release);
    }

    fn free_retired(&self) {
        let newest = self.lock().retired.last().map(|(_, cookie)| *cookie);
        while newest.is_some_and(|cookie| !self.registry.advance(cookie)) {
            thread::yield_now();
        }
        let passed = self.registry.passed();
        let hazards = self.registry.hazards();
        let is_borrowed = |slot: &mut u32| hazards.contains(self.address(*slot));
        let mut locked = self.lock();
        let state = &mut *locked;
        if state.borrowed_cookie.is_none_or(|it| passed.includes(it)) {
            let rechecked = std::mem::take(&mut state.borrowed);
            state.ready.extend(rechecked);
            state
                .borrowed
                .extend(state.ready.extract_if(.., is_borrowed));
        }
        let has_passed = |(_, cookie): &mut (u32, Cookie)| passed.includes(*cookie);
        for (mut slot, cookie) in state.retired.extract_if(.., has_passed) {
            if is_borrowed(&mut slot) {
                state.borrowed.push(slot);
                state.borrowed_cookie = Some(cookie);
            } else {
                state.ready.push(slot);
            }
        }
    }

    /// Drops what is ready; its slots can be used again.
    fn drop_ready(&self) {
        let mut locked = self.lock();
        while let Some(slot) = locked.ready.pop() {
            assert!(self.exchange(slot, None).is_some(), "freed twice");
            locked.free.push(slot);
        }
    }

    /// At the end, when no borrow lives: what is linked is all there is, once.
    fn assert_all_freed_but(&self, keys: &[u32]) {
        self.free_retired();
        self.drop_ready();
        let locked = self.lock();
        assert_eq!(locked.filling.len(), keys.len());
        assert_eq!(locked.free.len(), NODES - keys.len());
        drop(locked);
        let reader = Reader::register(&self.registry);
        let pin = reader.pin();
        for key in keys {
            assert!(self.find(&pin, *key).is_some());
        }
    }
}

/// Runs both at once on a store of these keys, and checks what is left at the end.
fn check_both(
    keys: &'static [u32],
    one: impl Fn(&Store, &Reader<'_>) + Copy + Send + Sync + 'static,
    another: impl Fn(&Store, &Reader<'_>) + Send + Sync + 'static,
    left: &'static [u32],
) {
    check(move || {
        let store = Store::with(keys);
        let beside = thread::spawn({
            let store = store.clone();
            move || one(&store, &Reader::register(&store.registry))
        });
        another(&store, &Reader::register(&store.registry));
        beside.join().expect("the thread ends");
        store.assert_all_freed_but(left);
    });
}

#[test]
fn a_borrow_keeps_its_entry_while_slots_are_freed_and_used_again() {
    check_both(
        &[KEY],
        |store, reader| {
            let borrow = {
                let pin = reader.pin();
                let found = store.find(&pin, KEY);
                found.map(|slot| (slot, pin.protect(store.address(slot))))
            };
            let (slot, _hazard) = borrow.expect("always there, in some version");
            assert_eq!(store.entry(slot).key, KEY);
        },
        |store, reader| {
            store.store(reader, KEY, 1);
            store.free_retired();
            store.drop_ready();
            store.store(reader, OTHER, 0);
        },
        &[KEY, OTHER],
    );
}

#[test]
fn what_a_thread_removes_stays_readable_while_another_frees() {
    check_both(
        &[KEY],
        |store, reader| {
            let removed = store.remove(reader, KEY, |pin, slot| {
                (slot, pin.protect(store.address(slot)))
            });
            let (slot, _hazard) = removed.expect("nobody else removes it");
            let entry = Entry {
                key: KEY,
                version: 0,
            };
            assert_eq!(store.entry(slot), entry);
        },
        |store, reader| {
            store.free_retired();
            store.drop_ready();
            store.store(reader, OTHER, 0);
        },
        &[OTHER],
    );
}

#[test]
fn a_borrow_is_seen_by_who_began_to_free_before_it_was_made() {
    check_both(
        &[KEY],
        |store, reader| {
            let removed = store.remove(reader, KEY, |pin, slot| {
                (slot, pin.protect(store.address(slot)))
            });
            let (slot, _hazard) = removed.expect("nobody else removes it");
            store.free_retired();
            assert_eq!(store.entry(slot).key, KEY);
        },
        |store, _| {
            store.free_retired();
            store.drop_ready();
        },
        &[],
    );
}

#[test]
fn two_threads_that_free_at_once_free_every_entry_once() {
    fn replace_and_free(store: &Store, reader: &Reader<'_>, key: u32) {
        store.store(reader, key, 1);
        store.free_retired();
        store.drop_ready();
    }
    check_both(
        &[KEY, OTHER],
        |store, reader| replace_and_free(store, reader, KEY),
        |store, reader| replace_and_free(store, reader, OTHER),
        &[KEY, OTHER],
    );
}

#[test]
fn two_threads_that_store_one_key_leave_one_entry() {
    check_both(
        &[TWIN],
        |store, reader| store.store(reader, KEY, 1),
        |store, reader| store.store(reader, KEY, 2),
        &[TWIN, KEY],
    );
}

#[test]
fn two_threads_that_remove_one_key_remove_it_once() {
    fn remove(store: &Store, reader: &Reader<'_>) {
        if store.remove(reader, KEY, |_, _| ()).is_some() {
            store.store(reader, OTHER, 0);
        }
    }
    check_both(&[TWIN, KEY], remove, remove, &[TWIN, OTHER]);
}

#[test]
fn a_slot_that_was_compared_before_the_lock_is_not_another_key_s_under_it() {
    check_both(
        &[KEY],
        |store, reader| store.store(reader, KEY, 1),
        |store, reader| {
            if store.remove(reader, KEY, |_, _| ()).is_some() {
                store.free_retired();
                store.drop_ready();
                // In the slot that was just freed, and with the same hash.
                store.store(reader, TWIN, 0);
                store.store(reader, KEY, 2);
            }
        },
        &[KEY, TWIN],
    );
}
