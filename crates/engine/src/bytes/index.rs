//! The index of a database in a shard: finds an entry's location by its key's hash.
//!
//! It is cut by hash into *parts*, each an [`index::Index`](crate::index::Index), so that no growth moves
//! very many entries while the shard is locked. Parts, and what is in them, are in the order of
//! positions of hashes: a walk over positions meets every entry that stays, however the parts grow.
//!
//! Here all use is under the shard's lock, also reading; a table that was replaced is freed at once.

#![allow(
    unsafe_code,
    reason = "the tables of the lock-free index are freed by who knows that nobody reads them"
)]

use std::sync::Arc;

use super::pool::Pool;
use crate::index::{self, Filling, Hash, OldTable};
use crate::memory;
use crate::reclaim::pinned;

#[derive(Debug)]
pub(super) struct Index {
    /// Made with the first entry, dropped with the last.
    parts: Box<[Option<Part>]>,
    /// The highest so many bits of a position pick the part.
    part_bits: u32,
    len: usize,
    pool: Arc<Pool>,
}

struct Part {
    table: index::Index,
    filling: Filling,
}

impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} entries", self.filling.len())
    }
}

impl Index {
    pub(super) fn new(pool: &Arc<Pool>, part_bits: u32) -> Self {
        Index {
            parts: Box::default(),
            part_bits,
            len: 0,
            pool: Arc::clone(pool),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The part of a hash, and the hash in it.
    fn split(&self, mut hash: Hash) -> (usize, Hash) {
        // As 64 bits: all of 32 may be shifted out.
        let part = u64::from(hash.position) >> (u32::BITS - self.part_bits);
        hash.position <<= self.part_bits;
        (part as usize, hash)
    }

    fn part(&self, number: usize) -> Option<&Part> {
        self.parts.get(number)?.as_ref()
    }

    pub(super) fn find(&self, hash: Hash, is_match: impl FnMut(u32) -> bool) -> Option<u32> {
        let (part, hash) = self.split(hash);
        let Part { table, filling } = self.part(part)?;
        let (location, _) = table.find_locked(filling, hash, is_match)?;
        Some(location)
    }

    /// Adds a location that is not in the index. `hash_of` tells the hashes of those that are.
    pub(super) fn insert(&mut self, hash: Hash, location: u32, hash_of: impl Fn(u32) -> Hash) {
        if self.parts.is_empty() {
            self.parts = (0..1 << self.part_bits).map(|_| None).collect();
            self.pool.add_used(self.parts_bytes());
        }
        let (number, hash) = self.split(hash);
        let shift = self.part_bits;
        let pool = &self.pool;
        let part = self.parts[number].get_or_insert_with(|| {
            let part = Part::new();
            pool.add_used(part.bytes());
            part
        });
        let before = part.bytes();
        let position_of = |it| hash_of(it).position << shift;
        let old = part
            .table
            .insert(&mut part.filling, hash, location, position_of);
        if let Some(old) = old {
            free(old);
            pool.add_used(part.bytes() - before);
        }
        self.len += 1;
    }

    /// Puts a location in the place of another one with the same key.
    pub(super) fn replace(&mut self, hash: Hash, old: u32, new: u32) {
        let (number, hash) = self.split(hash);
        let part = self.parts[number].as_mut().expect("`old` is in a part");
        let found = part.table.find_locked(&part.filling, hash, |it| it == old);
        let (_, at) = found.expect("`old` is in the index");
        part.table.replace(&mut part.filling, at, new);
    }

    /// Removes a location that is in the index.
    pub(super) fn remove(&mut self, hash: Hash, location: u32, hash_of: impl Fn(u32) -> Hash) {
        let (number, hash) = self.split(hash);
        let shift = self.part_bits;
        let part = self.parts[number].as_mut().expect("it is in a part");
        let before = part.bytes();
        let position_of = |it| hash_of(it).position << shift;
        let old = part
            .table
            .remove(&mut part.filling, hash, location, position_of);
        if let Some(old) = old {
            free(old);
            self.pool.subtract_used(before - part.bytes());
        }
        self.len -= 1;
        if self.len == 0 {
            self.drop_parts();
        }
    }

    /// Calls `found` with the locations of the next few entries from a position on, all of those with
    /// one of the next few positions. Returns the position behind them, if that is not the end.
    pub(super) fn walk(
        &self,
        from: u32,
        hash_of: impl Fn(u32) -> Hash,
        found: impl FnMut(u32),
    ) -> Option<u32> {
        if self.parts.is_empty() {
            return None;
        }
        let hash = Hash::at_position(from);
        let (number, hash) = self.split(hash);
        let next = self.part(number).and_then(|part| {
            let position_of = |it| hash_of(it).position << self.part_bits;
            pinned(|pin| part.table.walk(pin, hash.position, position_of, found))
        });
        let width = u64::from(u32::MAX >> self.part_bits) + 1;
        let start = number as u64 * width;
        // The first of our positions that stands at or behind this one of the part.
        let inside = next.map(|next| start + u64::from(next).div_ceil(1 << self.part_bits));
        u32::try_from(inside.unwrap_or(start + width)).ok()
    }

    /// Every location that is in the index.
    #[cfg(test)]
    pub(super) fn locations(&self, hash_of: impl Fn(u32) -> Hash) -> Vec<u32> {
        let mut locations = Vec::new();
        let mut next = Some(0);
        while let Some(from) = next {
            next = self.walk(from, &hash_of, |location| locations.push(location));
        }
        locations
    }

    fn parts_bytes(&self) -> u64 {
        list_bytes(self.parts.len())
    }

    fn drop_parts(&mut self) {
        if !self.parts.is_empty() {
            let tables: u64 = self.parts.iter().flatten().map(Part::bytes).sum();
            self.pool.subtract_used(tables + self.parts_bytes());
            self.parts = Box::default();
        }
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        self.drop_parts();
    }
}

impl Part {
    fn new() -> Self {
        Part {
            table: index::Index::new(),
            filling: Filling::default(),
        }
    }

    fn bytes(&self) -> u64 {
        memory::footprint(self.table.heap_bytes())
    }
}

fn list_bytes(parts: usize) -> u64 {
    memory::footprint(parts * size_of::<Option<Part>>())
}

/// What an index with few entries takes at the most: parts that became empty keep their tables.
pub(super) fn smallest_bytes(part_bits: u32) -> u64 {
    list_bytes(1 << part_bits) + (Part::new().bytes() << part_bits)
}

fn free(table: OldTable) {
    // SAFETY: all who read the table do so under the shard's lock, which is held.
    unsafe { table.free() };
}
