//! The index: the table in use, lookups, and the changes that writers make.
//!
//! Writers hold the shard's lock. Only they replace the table, so they need no pin to read it.

#![allow(
    unsafe_code,
    reason = "readers follow the pointer to the table in use; a grace period precedes its freeing"
)]

#[cfg(all(any(test, fuzzing), not(loom)))]
mod validate;

use std::iter;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use super::Hash;
use super::bucket::Bucket;
use crate::memory;
use crate::reclaim::Pin;
use crate::sync::{AtomicPtr, Ordering};

/// Buckets of an empty index.
const MIN_BUCKETS: usize = 1;

/// Entries for each bucket, which has twelve places: a table grows beyond that. With nine, one
/// bucket in eight is too small for what belongs there. In the models tables grow sooner.
const MAX_PER_BUCKET: usize = if cfg!(loom) { 3 } else { 9 };

/// An index that holds less than this part of what it has room for is made smaller.
const SHRINK_BELOW: usize = 8;

/// Finds slots by hash. See the [module](super).
///
/// Methods that take a [`Filling`] change it: that is how they know that the caller holds the lock
/// of the shard.
pub(crate) struct Index {
    /// The header of the table in use.
    table: AtomicPtr<Bucket>,
}

/// How full an index is. Lives under the lock of the shard that the index belongs to.
#[derive(Debug, Default)]
pub(crate) struct Filling {
    len: usize,
}

impl Filling {
    /// Entries in the index.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

/// Where in the index a slot was found. True until the index is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    bucket: usize,
    place: usize,
}

/// A table, by a pointer to its first element. That is a header, whose `meta` is the number of the
/// buckets that follow: so a reader gets from the index to a bucket by one pointer.
#[derive(Clone, Copy)]
struct Table<'t> {
    header: NonNull<Bucket>,
    lives: PhantomData<&'t [Bucket]>,
}

/// What a look at the home bucket of a hash tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FirstLook {
    /// This slot has the tag, and this is its place; others may have the tag too.
    Slot(u32, Place),
    /// There is no entry with this hash.
    Absent,
    /// An entry with this hash would be in another bucket.
    Elsewhere,
}

/// A table that is no longer in use. To be freed after a grace period; dropping it earlier only
/// leaks it.
#[must_use = "it is leaked unless it is freed after a grace period"]
pub(crate) struct OldTable(NonNull<Bucket>);

// SAFETY: owns its table.
unsafe impl Send for OldTable {}

impl OldTable {
    /// # Safety
    /// A grace period that began after the table was replaced has passed.
    pub(crate) unsafe fn free(self) {
        // SAFETY: by the caller's promise no reader is left.
        unsafe { free_table(self.0) };
    }
}

impl Index {
    pub(crate) fn new() -> Self {
        Index {
            table: AtomicPtr::new(new_table(MIN_BUCKETS).as_ptr()),
        }
    }

    /// Memory of the table. For who holds the lock.
    pub(crate) fn heap_bytes(&self) -> usize {
        table_bytes(self.table_of_writer().len())
    }

    /// The first slot with this hash that `is_match` accepts, and where it is. What `is_match` sees may
    /// be about to be removed or already be: it stays alive under the pin.
    pub(crate) fn find(
        &self,
        pin: &Pin<'_>,
        hash: Hash,
        is_match: impl FnMut(u32) -> bool,
    ) -> Option<(u32, Place)> {
        self.table(pin).find(hash, is_match)
    }

    /// What most lookups need to know, for callers to whom every instruction counts: they go on with
    /// [`find`](Self::find) if the slot is another key's, or if the entry is elsewhere.
    #[inline(always)]
    pub(crate) fn first_look(&self, pin: &Pin<'_>, hash: Hash) -> FirstLook {
        let table = self.table(pin);
        let home = table.home(hash.position);
        let bucket = table.bucket(home);
        let meta = bucket.meta();
        match meta.places_with(hash).next() {
            Some(place) => FirstLook::Slot(
                bucket.slot(place),
                Place {
                    bucket: home,
                    place,
                },
            ),
            None if meta.may_have_passed(hash) => FirstLook::Elsewhere,
            None => FirstLook::Absent,
        }
    }

    /// [`find`](Self::find) for who holds the lock, to whom nothing changes meanwhile.
    pub(crate) fn find_locked(
        &self,
        _filling: &Filling,
        hash: Hash,
        is_match: impl FnMut(u32) -> bool,
    ) -> Option<(u32, Place)> {
        self.table_of_writer().find(hash, is_match)
    }

    /// Adds a slot. Returns the old table if the index had to grow; `position_of` tells the hash
    /// position of a slot that is in it.
    pub(crate) fn insert(
        &self,
        filling: &mut Filling,
        hash: Hash,
        slot: u32,
        position_of: impl Fn(u32) -> u32,
    ) -> Option<OldTable> {
        filling.len += 1;
        let buckets = self.table_of_writer().len();
        let old = (filling.len > buckets * MAX_PER_BUCKET)
            .then(|| self.rebuild(buckets + buckets.div_ceil(2), position_of));
        self.table_of_writer().insert(hash, slot);
        old
    }

    /// Puts `new` where another slot of the same key was found.
    pub(crate) fn replace(&self, _filling: &mut Filling, at: Place, new: u32) {
        self.table_of_writer()
            .bucket(at.bucket)
            .replace(at.place, new);
    }

    /// Removes a slot that is in the index. Returns the old table if the index was made smaller.
    pub(crate) fn remove(
        &self,
        filling: &mut Filling,
        hash: Hash,
        slot: u32,
        position_of: impl Fn(u32) -> u32,
    ) -> Option<OldTable> {
        let (_, at) = self
            .find_locked(filling, hash, |candidate| candidate == slot)
            .expect("the slot is in the index");
        self.remove_at(filling, hash, at, position_of)
    }

    /// [`remove`](Self::remove) for a slot that was found at this place.
    pub(crate) fn remove_at(
        &self,
        filling: &mut Filling,
        hash: Hash,
        at: Place,
        position_of: impl Fn(u32) -> u32,
    ) -> Option<OldTable> {
        let table = self.table_of_writer();
        table.remove(hash, at);
        filling.len -= 1;
        let (len, buckets) = (filling.len, table.len());
        let is_sparse = buckets > MIN_BUCKETS && len * SHRINK_BELOW < buckets * MAX_PER_BUCKET;
        is_sparse.then(|| {
            let fitting = (2 * len).div_ceil(MAX_PER_BUCKET).max(MIN_BUCKETS);
            self.rebuild(fitting, position_of)
        })
    }

    /// Calls `found` with the slots from `position` to the end of its home bucket, and
    /// returns the first position of the next bucket, if there is one. A walk that begins at 0 and
    /// goes on where the last step ended meets every entry that stays, also when the index grows or
    /// shrinks in between.
    pub(crate) fn walk(
        &self,
        pin: &Pin<'_>,
        position: u32,
        position_of: impl Fn(u32) -> u32,
        mut found: impl FnMut(u32),
    ) -> Option<u32> {
        let table = self.table(pin);
        let home = table.home(position);
        for (_, bucket) in table.probe(position) {
            let meta = bucket.meta();
            for (place, _) in meta.filled() {
                let slot = bucket.slot(place);
                let found_at = position_of(slot);
                // In a smaller table the step before has met the first ones of the bucket.
                if table.home(found_at) == home && found_at >= position {
                    found(slot);
                }
            }
            if !meta.has_passed() {
                break;
            }
        }
        table.first_position(home + 1)
    }

    /// Empties the index. Returns the old table, whose slots the caller takes care of.
    pub(crate) fn clear(&self, filling: &mut Filling, mut removed: impl FnMut(u32)) -> OldTable {
        for bucket in self.table_of_writer().buckets() {
            for (place, _) in bucket.meta().filled() {
                removed(bucket.slot(place));
            }
        }
        filling.len = 0;
        self.publish(new_table(MIN_BUCKETS))
    }

    fn rebuild(&self, buckets: usize, position_of: impl Fn(u32) -> u32) -> OldTable {
        let new = new_table(buckets);
        // SAFETY: just made, and nobody frees it here.
        let table = unsafe { Table::at(new) };
        for bucket in self.table_of_writer().buckets() {
            for (place, tag) in bucket.meta().filled() {
                let slot = bucket.slot(place);
                let position = position_of(slot);
                table.insert(Hash { position, tag }, slot);
            }
        }
        self.publish(new)
    }

    fn publish(&self, new: NonNull<Bucket>) -> OldTable {
        let old = self.table.load(Ordering::Relaxed);
        self.table.store(new.as_ptr(), Ordering::Release);
        OldTable(NonNull::new(old).expect("an index always has a table"))
    }

    #[inline(always)]
    fn table<'p>(&'p self, _pin: &'p Pin<'_>) -> Table<'p> {
        // SAFETY: freed only after a grace period that began after it was replaced, which the pin
        // holds up.
        unsafe { Table::at(self.header(Ordering::Acquire)) }
    }

    fn table_of_writer(&self) -> Table<'_> {
        // SAFETY: the caller alone replaces it.
        unsafe { Table::at(self.header(Ordering::Relaxed)) }
    }

    #[inline(always)]
    fn header(&self, ordering: Ordering) -> NonNull<Bucket> {
        // SAFETY: an index always has a table.
        unsafe { NonNull::new_unchecked(self.table.load(ordering)) }
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        // SAFETY: nobody borrows from `self` any more.
        unsafe { free_table(self.header(Ordering::Relaxed)) };
    }
}

fn new_table(buckets: usize) -> NonNull<Bucket> {
    let table: NonNull<Bucket> = memory::allocate_zeroed(table_bytes(buckets)).cast();
    let header = iter::once(Bucket::header(buckets));
    for (index, bucket) in header
        .chain((0..buckets).map(|_| Bucket::new()))
        .enumerate()
    {
        // SAFETY: there is room for the header and the buckets, aligned to their size.
        unsafe { table.add(index).write(bucket) };
    }
    table
}

/// Bytes of a table with its header.
fn table_bytes(buckets: usize) -> usize {
    (buckets + 1) * size_of::<Bucket>()
}

/// # Safety
/// Made by [`new_table`], and nobody uses it any more.
unsafe fn free_table(header: NonNull<Bucket>) {
    // SAFETY: by the caller's promise.
    let buckets = unsafe { header.as_ref() }.buckets_that_follow();
    let table = ptr::slice_from_raw_parts_mut(header.as_ptr(), buckets + 1);
    // SAFETY: as above; the header tells the length it was made with.
    unsafe {
        ptr::drop_in_place(table);
        memory::free(header.cast(), table_bytes(buckets));
    }
}

impl<'t> Table<'t> {
    /// # Safety
    /// Made by [`new_table`], complete, and not freed for `'t`.
    #[inline(always)]
    unsafe fn at(header: NonNull<Bucket>) -> Self {
        Table {
            header,
            lives: PhantomData,
        }
    }

    #[inline(always)]
    fn len(self) -> usize {
        // SAFETY: there is a header.
        unsafe { self.header.as_ref() }.buckets_that_follow()
    }

    #[inline(always)]
    fn bucket(self, index: usize) -> &'t Bucket {
        debug_assert!(index < self.len());
        // SAFETY: callers pass the home of a position, which is below the length, or count from it.
        unsafe { self.header.add(1 + index).as_ref() }
    }

    fn buckets(self) -> impl Iterator<Item = &'t Bucket> {
        (0..self.len()).map(move |index| self.bucket(index))
    }

    #[inline(always)]
    fn home(self, position: u32) -> usize {
        ((u64::from(position) * self.len() as u64) >> 32) as usize
    }

    /// The smallest position whose home is `bucket`.
    fn first_position(self, bucket: usize) -> Option<u32> {
        let buckets = self.len();
        (bucket < buckets).then(|| ((bucket as u64) << 32).div_ceil(buckets as u64) as u32)
    }

    /// The buckets in which an entry with this position may be, each once.
    fn probe(self, position: u32) -> impl Iterator<Item = (usize, &'t Bucket)> {
        let home = self.home(position);
        (home..self.len())
            .chain(0..home)
            .map(move |index| (index, self.bucket(index)))
    }

    #[inline]
    fn find(self, hash: Hash, mut is_match: impl FnMut(u32) -> bool) -> Option<(u32, Place)> {
        let buckets = self.len();
        let home = self.home(hash.position);
        let mut index = home;
        loop {
            let bucket = self.bucket(index);
            let meta = bucket.meta();
            for place in meta.places_with(hash) {
                let slot = bucket.slot(place);
                if is_match(slot) {
                    let bucket = index;
                    return Some((slot, Place { bucket, place }));
                }
            }
            if !meta.may_have_passed(hash) {
                return None;
            }
            index = if index + 1 == buckets { 0 } else { index + 1 };
            // Every bucket was passed, as with very many equal hashes.
            if index == home {
                return None;
            }
        }
    }

    fn insert(self, hash: Hash, slot: u32) {
        for (_, bucket) in self.probe(hash.position) {
            if let Some(place) = bucket.meta().empty_place() {
                bucket.fill(place, hash.tag, slot);
                return;
            }
            bucket.count_passed(hash.tag);
        }
        unreachable!("a table grows before it is full");
    }

    fn remove(self, hash: Hash, at: Place) {
        self.bucket(at.bucket).empty(at.place);
        for (_, passed) in self
            .probe(hash.position)
            .take_while(|(index, _)| *index != at.bucket)
        {
            passed.uncount_passed(hash.tag);
        }
    }
}
