//! The index of a database in a shard: finds an entry's location by its key's hash.
//!
//! It is made of small hash tables, the *parts*. A directory maps the highest bits of a hash's
//! *position* to a part; a part that is full is split in two by the next bit, a part and its twin that
//! are nearly empty become one again (extendible hashing: Fagin et al., 1979). So an index of millions
//! of entries never grows in one piece, and since parts follow each other in the order of positions, a
//! walk over positions meets every entry that stays, whatever is split or joined meanwhile.

use std::sync::Arc;

use hashbrown::HashTable;

use super::memory::Memory;
use super::pool::Pool;

/// Most entries in a part: what a table of 256 places takes. A walk looks at a part as a whole, and
/// a split moves half of one.
const MAX_PART_ENTRIES: usize = 224;

/// Twins that have no more than this together are joined.
const JOINED_ENTRIES: usize = MAX_PART_ENTRIES / 4;

#[derive(Debug)]
pub(super) struct Index {
    /// For each value of the highest `depth` bits of a position the part that has it.
    directory: Vec<u32>,
    depth: u32,
    parts: Vec<Part>,
    len: usize,
    /// Bytes of the parts' tables, and of everything.
    tables_bytes: u64,
    accounted_bytes: u64,
    pool: Arc<Pool>,
}

#[derive(Debug)]
struct Part {
    locations: HashTable<u32>,
    /// Bits of a position that all entries of the part share, and the smallest position with them.
    depth: u32,
    first: u32,
}

/// The bits of a hash by which parts are ordered. The lowest byte and the highest seven bits are used
/// by the tables inside, the second byte picks the shard.
pub(super) fn position(hash: u64) -> u32 {
    (hash >> 24) as u32
}

impl Index {
    pub(super) fn new(pool: &Arc<Pool>) -> Self {
        Index {
            directory: Vec::new(),
            depth: 0,
            parts: Vec::new(),
            len: 0,
            tables_bytes: 0,
            accounted_bytes: 0,
            pool: Arc::clone(pool),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    fn part_of(&self, position: u32) -> Option<usize> {
        // Shifted as 64 bits, because none of 32 bits are left at depth 0.
        let prefix = u64::from(position) >> (u32::BITS - self.depth);
        Some(*self.directory.get(prefix as usize)? as usize)
    }

    pub(super) fn find(&self, hash: u64, mut is_match: impl FnMut(u32) -> bool) -> Option<u32> {
        let part = self.part_of(position(hash))?;
        let locations = &self.parts[part].locations;
        locations.find(hash, |it| is_match(*it)).copied()
    }

    /// Adds a location that is not in the index. `hash_of` tells the hashes of those that are.
    pub(super) fn insert(&mut self, hash: u64, location: u32, hash_of: impl Fn(u32) -> u64) {
        if self.parts.is_empty() {
            self.directory.push(0);
            self.parts.push(Part::new(0, 0));
        }
        let part = loop {
            let part = self.part_of(position(hash)).expect("there is a part");
            let Part {
                locations, depth, ..
            } = &self.parts[part];
            // Positions that agree in all their bits cannot be split further.
            if locations.len() < MAX_PART_ENTRIES || *depth == u32::BITS {
                break part;
            }
            self.split(part, &hash_of);
        };
        let part = &mut self.parts[part];
        let before = part.bytes();
        part.locations
            .insert_unique(hash, location, |it| hash_of(*it));
        let after = part.bytes();
        self.len += 1;
        self.account(before, after);
    }

    /// Puts a location in the place of another one with the same key.
    pub(super) fn replace(&mut self, hash: u64, old: u32, new: u32) {
        let part = self.part_of(position(hash)).expect("`old` is in a part");
        let locations = &mut self.parts[part].locations;
        let place = locations.find_mut(hash, |it| *it == old);
        *place.expect("`old` is in the index") = new;
    }

    /// Removes a location that is in the index.
    pub(super) fn remove(&mut self, hash: u64, location: u32, hash_of: impl Fn(u32) -> u64) {
        let number = self.part_of(position(hash)).expect("it is in a part");
        let part = &mut self.parts[number];
        let before = part.bytes();
        let locations = &mut part.locations;
        let found = locations.find_entry(hash, |it| *it == location);
        found.expect("the location is in the index").remove();
        if locations.len() < locations.capacity() / 4 {
            let room = locations.len() * 2;
            locations.shrink_to(room, |it| hash_of(*it));
        }
        let after = part.bytes();
        self.account(before, after);
        self.len -= 1;
        if self.len == 0 {
            *self = Index::new(&self.pool);
        } else {
            self.join_with_twin(number, hash_of);
        }
    }

    fn split(&mut self, part: usize, hash_of: &impl Fn(u32) -> u64) {
        let Part { depth, first, .. } = self.parts[part];
        if depth == self.depth {
            self.directory = self.directory.iter().flat_map(|it| [*it, *it]).collect();
            self.depth += 1;
        }
        let bit = 1 << (u32::BITS - 1 - depth);
        let mut halves = [
            Part::new(depth + 1, first),
            Part::new(depth + 1, first | bit),
        ];
        for location in &self.parts[part].locations {
            let hash = hash_of(*location);
            let half = usize::from(position(hash) & bit != 0);
            let locations = &mut halves[half].locations;
            locations.insert_unique(hash, *location, |it| hash_of(*it));
        }
        let before = self.parts[part].bytes();
        let after = halves.iter().map(Part::bytes).sum();
        let [low, high] = halves;
        self.parts[part] = low;
        self.parts.push(high);
        self.point_to(self.parts.len() - 1);
        self.account(before, after);
    }

    /// Lets the directory point to a part wherever it shall.
    fn point_to(&mut self, part: usize) {
        let Part { depth, first, .. } = self.parts[part];
        let start = u64::from(first) >> (u32::BITS - self.depth);
        let count = 1 << (self.depth - depth);
        self.directory[start as usize..][..count].fill(part as u32);
    }

    fn join_with_twin(&mut self, part: usize, hash_of: impl Fn(u32) -> u64) {
        let Part { depth, first, .. } = self.parts[part];
        if depth == 0 {
            return;
        }
        let bit = 1 << (u32::BITS - depth);
        let twin = self.part_of(first ^ bit).expect("positions are covered");
        let together = self.parts[part].locations.len() + self.parts[twin].locations.len();
        if self.parts[twin].depth != depth || together > JOINED_ENTRIES {
            return;
        }
        let before = self.parts[part].bytes() + self.parts[twin].bytes();
        let moved = std::mem::take(&mut self.parts[twin].locations);
        let locations = &mut self.parts[part].locations;
        for location in moved {
            locations.insert_unique(hash_of(location), location, |it| hash_of(*it));
        }
        let after = self.parts[part].bytes();
        self.parts[part].depth = depth - 1;
        self.parts[part].first = first & !bit;
        self.point_to(part);
        self.parts.swap_remove(twin);
        if twin < self.parts.len() {
            self.point_to(twin);
        }
        self.shrink_directory();
        self.account(before, after);
    }

    fn shrink_directory(&mut self) {
        // Twice as many places as parts could use: it takes a quarter of that to look worthwhile.
        if self.directory.len() < 8 || self.parts.len() > self.directory.len() / 4 {
            return;
        }
        let deepest = self.parts.iter().map(|part| part.depth).max().unwrap_or(0);
        if deepest < self.depth {
            let step = 1 << (self.depth - deepest);
            self.directory = self.directory.iter().step_by(step).copied().collect();
            self.depth = deepest;
            self.parts.shrink_to(self.parts.len() * 2);
        }
    }

    /// The entries of the part that `position` belongs to which have that position or a later one, in
    /// their order, and where the next part begins, if there is one.
    pub(super) fn walk(
        &self,
        from: u32,
        hash_of: impl Fn(u32) -> u64,
    ) -> (Vec<(u32, u32)>, Option<u32>) {
        let Some(part) = self.part_of(from) else {
            return (Vec::new(), None);
        };
        let part = &self.parts[part];
        let mut found: Vec<(u32, u32)> = part
            .locations
            .iter()
            .map(|location| (position(hash_of(*location)), *location))
            .filter(|(position, _)| *position >= from)
            .collect();
        found.sort_unstable();
        let width = 1_u64 << (u32::BITS - part.depth);
        let next = u32::try_from(u64::from(part.first) + width).ok();
        (found, next)
    }

    /// Some location that is in the index.
    pub(super) fn any(&self) -> Option<u32> {
        let mut parts = self.parts.iter().rev();
        parts.find_map(|part| part.locations.iter().next().copied())
    }

    #[cfg(test)]
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.parts.iter().flat_map(|part| &part.locations).copied()
    }

    /// Brings the pool's sum up to date when tables of `before` bytes have become tables of `after`.
    fn account(&mut self, before: u64, after: u64) {
        self.tables_bytes = self.tables_bytes + after - before;
        let bytes = self.tables_bytes
            + self.directory.capacity() as u64 * size_of::<u32>() as u64
            + self.parts.capacity() as u64 * size_of::<Part>() as u64;
        if bytes > self.accounted_bytes {
            self.pool.add_used(bytes - self.accounted_bytes);
        } else if bytes < self.accounted_bytes {
            self.pool.subtract_used(self.accounted_bytes - bytes);
        }
        self.accounted_bytes = bytes;
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        self.pool.subtract_used(self.accounted_bytes);
    }
}

impl Part {
    fn new(depth: u32, first: u32) -> Self {
        Part {
            locations: HashTable::new(),
            depth,
            first,
        }
    }

    /// Bytes that the part's table takes.
    fn bytes(&self) -> u64 {
        match self.locations.allocation_size() {
            0 => 0,
            bytes => Memory::footprint(bytes),
        }
    }
}
