//! A bucket of the index: six slots, a tag for each, and the count of those that found no room.

use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Slots of a bucket.
pub(super) const SLOTS: usize = 6;

/// ```text
/// byte  0        6        7       8                                   32
///       | 6 tags | passed | spare | 6 slots of 4 bytes                |
/// ```
/// A tag of zero marks an empty place. `passed` counts the entries that went on to the next bucket
/// because this one was full; at 255 it stays, which only costs lookups.
#[repr(C, align(32))]
pub(super) struct Bucket {
    meta: AtomicU64,
    slots: [AtomicU32; SLOTS],
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Bucket>() == 32);

/// Tags and count of a bucket as they stood at one moment.
#[derive(Clone, Copy)]
pub(super) struct Meta(u64);

const LOW_BITS: u64 = 0x0000_0101_0101_0101;
const SEVEN_BITS: u64 = 0x0000_7f7f_7f7f_7f7f;
const HIGH_BITS: u64 = 0x0000_8080_8080_8080;
const PASSED_SHIFT: u32 = 48;
const PASSED_MAX: u64 = 255;

impl Bucket {
    pub(super) fn new() -> Self {
        Bucket {
            meta: AtomicU64::new(0),
            slots: std::array::from_fn(|_| AtomicU32::new(0)),
        }
    }

    /// The element in front of a table's buckets.
    pub(super) fn header(buckets: usize) -> Self {
        let header = Bucket::new();
        header.meta.store(buckets as u64, Ordering::Relaxed);
        header
    }

    /// The number that a header was made with.
    #[inline(always)]
    pub(super) fn buckets_that_follow(&self) -> usize {
        self.meta.load(Ordering::Relaxed) as usize
    }

    #[inline(always)]
    pub(super) fn meta(&self) -> Meta {
        Meta(self.meta.load(Ordering::Acquire))
    }

    #[inline(always)]
    pub(super) fn slot(&self, place: usize) -> u32 {
        self.slots[place].load(Ordering::Acquire)
    }

    /// Puts `slot` into an empty place. For the writer.
    pub(super) fn fill(&self, place: usize, tag: u8, slot: u32) {
        self.slots[place].store(slot, Ordering::Release);
        self.set_meta(self.meta().with_tag(place, tag));
    }

    /// Puts `slot` in the place of another one of the same key. For the writer.
    pub(super) fn replace(&self, place: usize, slot: u32) {
        self.slots[place].store(slot, Ordering::Release);
    }

    /// Empties a place. A reader that saw the tag before may still read the slot: what that names
    /// is not used again while the reader is pinned. For the writer.
    pub(super) fn empty(&self, place: usize) {
        self.set_meta(self.meta().with_tag(place, 0));
    }

    /// Counts an entry that passes by to the next bucket. For the writer.
    pub(super) fn count_passed(&self) {
        let meta = self.meta();
        if meta.passed() < PASSED_MAX {
            self.set_meta(Meta(meta.0 + (1 << PASSED_SHIFT)));
        }
    }

    /// Counts back an entry that was removed from a later bucket. For the writer.
    pub(super) fn uncount_passed(&self) {
        let meta = self.meta();
        if meta.passed() < PASSED_MAX {
            self.set_meta(Meta(meta.0 - (1 << PASSED_SHIFT)));
        }
    }

    fn set_meta(&self, meta: Meta) {
        self.meta.store(meta.0, Ordering::Release);
    }
}

impl Meta {
    /// Places whose tag is `tag`. Exact, since the slot of an empty place may name an entry that is
    /// gone: the usual, shorter search for a zero byte also finds a one that follows a zero.
    #[inline(always)]
    pub(super) fn places_with(self, tag: u8) -> Places {
        let differing = self.0 ^ (LOW_BITS * u64::from(tag));
        // Carries into a byte's high bit if any of its other bits is set, and into no other byte.
        let carried = (differing & SEVEN_BITS) + SEVEN_BITS;
        Places(!(carried | differing) & HIGH_BITS)
    }

    /// Places that hold an entry.
    pub(super) fn filled(self) -> impl Iterator<Item = (usize, u8)> {
        (0..SLOTS)
            .map(move |place| (place, self.tag(place)))
            .filter(|(_, tag)| *tag != 0)
    }

    pub(super) fn empty_place(self) -> Option<usize> {
        (0..SLOTS).find(|place| self.tag(*place) == 0)
    }

    /// Entries that went on to the next bucket.
    #[inline(always)]
    pub(super) fn passed(self) -> u64 {
        (self.0 >> PASSED_SHIFT) & PASSED_MAX
    }

    pub(super) fn tag(self, place: usize) -> u8 {
        (self.0 >> (8 * place)) as u8
    }

    fn with_tag(self, place: usize, tag: u8) -> Self {
        let shift = 8 * place;
        Meta(self.0 & !(0xff << shift) | u64::from(tag) << shift)
    }
}

/// Some places of a bucket.
pub(super) struct Places(u64);

impl Iterator for Places {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let place = self.0.trailing_zeros() / 8;
        self.0 &= self.0 - 1;
        Some(place as usize)
    }
}
