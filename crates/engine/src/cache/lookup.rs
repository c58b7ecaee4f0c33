//! Finding the entry that is to be written: compared without the lock, certain under it.

#![allow(
    unsafe_code,
    reason = "nodes are reached by slots that were found under a pin"
)]

use std::sync::atomic::Ordering;
use std::thread;

use super::locked::Locked;
use super::shard::Shard;
use super::slab::NO_SLOT;
use crate::index::{FirstLook, Hash, Place};
use crate::reclaim::Pin;

/// Times that a key is looked up for one write. Even among a thousand threads that all insert and remove
/// one key, a thread does not lose so often.
const MAX_LOOKUPS: usize = 10_000;

/// There are entries that were not compared with the key.
struct NotCompared;

impl<K, V> Shard<K, V> {
    /// Locks the shard and finds the entry of a key, without calling `is_key` under the lock: the
    /// key is looked up first, and if the answer is no longer true when the lock is there, again.
    ///
    /// # Panics
    /// If that happens again and again, which only an `Eq` can bring about that changes this cache
    /// at each comparison.
    #[inline]
    pub(super) fn lock_and_find(
        &self,
        pin: &Pin<'_>,
        hash: Hash,
        is_key: impl Fn(&K) -> bool,
    ) -> (Locked<'_, K, V>, Option<(u32, Place)>) {
        let changes = self.guarded.changes.load(Ordering::Acquire);
        // An equal key with another hash is none of ours: what takes its place must belong there.
        let is_ours = |slot| {
            // SAFETY: found in the index under the pin.
            let node = unsafe { self.node(slot) };
            // SAFETY: as above.
            node.position() == hash.position && is_key(unsafe { node.key() })
        };
        let found = match self.index.first_look(pin, hash) {
            FirstLook::Slot(slot, at) if is_ours(slot) => Some(Some((slot, at))),
            FirstLook::Absent => Some(None),
            _ => None,
        };
        if let Some(found) = found {
            let locked = self.lock();
            if changes == self.guarded.changes.load(Ordering::Relaxed) {
                return (locked, found);
            }
        }
        self.lock_and_find_thoroughly(pin, hash, is_key)
    }

    #[inline(never)]
    fn lock_and_find_thoroughly(
        &self,
        pin: &Pin<'_>,
        hash: Hash,
        is_key: impl Fn(&K) -> bool,
    ) -> (Locked<'_, K, V>, Option<(u32, Place)>) {
        for _ in 0..MAX_LOOKUPS {
            let changes = self.guarded.changes.load(Ordering::Acquire);
            // Slots are not used again under the pin, so a slot that was compared stays that entry.
            let mut compared = Vec::new();
            let found = self.index.find(pin, hash, |slot| {
                // SAFETY: found in the index under the pin.
                let node = unsafe { self.node(slot) };
                if node.position() != hash.position {
                    return false;
                }
                // SAFETY: as above.
                let is_match = is_key(unsafe { node.key() });
                if !is_match {
                    compared.push(slot);
                }
                is_match
            });
            let locked = self.lock();
            if changes == self.guarded.changes.load(Ordering::Relaxed) {
                return (locked, found);
            }
            let slot = found.map(|(slot, _)| slot);
            if let Ok(present) = find_again(&locked, hash, slot, compared) {
                return (locked, present);
            }
            drop(locked);
            thread::yield_now();
        }
        panic!("`Eq` of the key changes the cache that compares it, each time");
    }
}

/// Finds the entry of a key after the index has changed, if what was compared before tells: `found`,
/// which has this key, and `compared`, which have this hash and other keys.
fn find_again<K, V>(
    locked: &Locked<'_, K, V>,
    hash: Hash,
    found: Option<u32>,
    mut compared: Vec<u32>,
) -> Result<Option<(u32, Place)>, NotCompared> {
    // What took the place of an entry has the same key.
    let found = found.map(|slot| successor(locked, slot));
    for slot in &mut compared {
        *slot = successor(locked, *slot);
    }
    // Many keys may share a hash, and the search below holds the lock.
    compared.sort_unstable();
    let present = locked.find(hash, |candidate| {
        Some(candidate) == found
            || locked.node(candidate).position() == hash.position
                && compared.binary_search(&candidate).is_err()
    });
    if present.is_none_or(|(slot, _)| Some(slot) == found) {
        Ok(present)
    } else {
        Err(NotCompared)
    }
}

/// The latest entry in place of this one, which was found under a pin that still holds.
fn successor<K, V>(locked: &Locked<'_, K, V>, mut slot: u32) -> u32 {
    while !locked.node(slot).is_linked() {
        match locked.links(slot).previous.load(Ordering::Relaxed) {
            NO_SLOT => break,
            successor => slot = successor,
        }
    }
    slot
}
