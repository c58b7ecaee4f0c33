//! A bucket of the index: one cache line of slots, a tag for each, and counts of those that found
//! no room.

#![allow(
    unsafe_code,
    reason = "a hit indexes without a bounds check, and compares tags with instructions every x86-64 has"
)]

use super::hash::Hash;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Slots of a bucket.
pub(super) const SLOTS: usize = 12;

/// ```text
/// byte  0         12                16                              64
///       | 12 tags | 8 half bytes of | 12 slots of 4 bytes           |
///       |         | passed entries  |                               |
/// ```
/// A tag of zero marks an empty place. An entry that went on to the next bucket because this one was
/// full is counted in one of eight classes, by its tag; so a lookup goes on only for the sake
/// of an entry of its own class. A count of 15 stays, which only costs lookups.
#[repr(C, align(64))]
pub(super) struct Bucket {
    meta: [AtomicU64; 2],
    slots: [AtomicU32; SLOTS],
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Bucket>() == 64);

/// Tags and counts of a bucket. Its two halves are read one after the other: a writer may have
/// changed the bucket in between, but an entry that stays is in the half that it has always been in.
#[derive(Clone, Copy)]
pub(super) struct Meta {
    low: u64,
    high: u64,
}

const TAGS_IN_LOW: usize = 8;
const COUNTS_SHIFT: u32 = 32;
const COUNT_BITS: u32 = 4;
const COUNT_MAX: u64 = 15;

impl Bucket {
    pub(super) fn new() -> Self {
        Bucket {
            meta: [AtomicU64::new(0), AtomicU64::new(0)],
            slots: std::array::from_fn(|_| AtomicU32::new(0)),
        }
    }

    /// The element in front of a table's buckets.
    pub(super) fn header(buckets: usize) -> Self {
        let header = Bucket::new();
        header.meta[0].store(buckets as u64, Ordering::Relaxed);
        header
    }

    /// The number that a header was made with.
    #[inline(always)]
    pub(super) fn buckets_that_follow(&self) -> usize {
        self.meta[0].load(Ordering::Relaxed) as usize
    }

    #[inline(always)]
    pub(super) fn meta(&self) -> Meta {
        Meta {
            low: self.meta[0].load(Ordering::Acquire),
            high: self.meta[1].load(Ordering::Acquire),
        }
    }

    #[inline(always)]
    pub(super) fn slot(&self, place: usize) -> u32 {
        debug_assert!(place < SLOTS);
        // SAFETY: places come from `Places`, which is masked, or count up to `SLOTS`.
        unsafe { self.slots.get_unchecked(place) }.load(Ordering::Acquire)
    }

    /// Puts `slot` into an empty place. For the writer.
    pub(super) fn fill(&self, place: usize, tag: u8, slot: u32) {
        self.slots[place].store(slot, Ordering::Release);
        self.set_tag(place, tag);
    }

    /// Puts `slot` in the place of another one of the same key. For the writer.
    pub(super) fn replace(&self, place: usize, slot: u32) {
        self.slots[place].store(slot, Ordering::Release);
    }

    /// Empties a place. A reader that saw the tag before may still read the slot: what that names
    /// is not used again while the reader is pinned. For the writer.
    pub(super) fn empty(&self, place: usize) {
        self.set_tag(place, 0);
    }

    /// Counts an entry that passes by to the next bucket. For the writer.
    pub(super) fn count_passed(&self, tag: u8) {
        let high = self.meta().high;
        if count(high, tag) < COUNT_MAX {
            self.meta[1].store(high + (1 << count_shift(tag)), Ordering::Release);
        }
    }

    /// Counts back an entry that was removed from a later bucket. For the writer.
    pub(super) fn uncount_passed(&self, tag: u8) {
        let high = self.meta().high;
        if count(high, tag) < COUNT_MAX {
            self.meta[1].store(high - (1 << count_shift(tag)), Ordering::Release);
        }
    }

    fn set_tag(&self, place: usize, tag: u8) {
        let word = &self.meta[place / TAGS_IN_LOW];
        let shift = 8 * (place % TAGS_IN_LOW);
        let others = word.load(Ordering::Relaxed) & !(0xff << shift);
        word.store(others | u64::from(tag) << shift, Ordering::Release);
    }
}

impl Meta {
    /// Places with this hash's tag. Exact: the slot of an empty place may name an entry that is gone.
    #[inline(always)]
    pub(super) fn places_with(self, hash: Hash) -> Places {
        Places(equal_bytes(self.low, self.high, hash.tag) & ((1 << SLOTS) - 1))
    }

    /// Whether an entry with this hash may have gone on to the next bucket.
    #[inline(always)]
    pub(super) fn may_have_passed(self, hash: Hash) -> bool {
        count(self.high, hash.tag) > 0
    }

    /// Places that hold an entry, and their tags.
    pub(super) fn filled(self) -> impl Iterator<Item = (usize, u8)> {
        (0..SLOTS)
            .map(move |place| (place, self.tag(place)))
            .filter(|(_, tag)| *tag != 0)
    }

    pub(super) fn empty_place(self) -> Option<usize> {
        let empty = equal_bytes(self.low, self.high, 0) & ((1 << SLOTS) - 1);
        (empty != 0).then_some(empty.trailing_zeros() as usize)
    }

    /// Whether any entry went on to the next bucket.
    pub(super) fn has_passed(self) -> bool {
        self.high >> COUNTS_SHIFT != 0
    }

    /// How many entries with this tag or one of its class have passed; none if too many to be counted.
    #[cfg(all(any(test, fuzzing), not(loom)))]
    pub(super) fn passed(self, tag: u8) -> Option<u64> {
        Some(count(self.high, tag)).filter(|count| *count < COUNT_MAX)
    }

    pub(super) fn tag(self, place: usize) -> u8 {
        let word = if place < TAGS_IN_LOW {
            self.low
        } else {
            self.high
        };
        (word >> (8 * (place % TAGS_IN_LOW))) as u8
    }
}

#[inline(always)]
fn count_shift(tag: u8) -> u32 {
    COUNTS_SHIFT + COUNT_BITS * (u32::from(tag) & 7)
}

#[inline(always)]
fn count(high: u64, tag: u8) -> u64 {
    high >> count_shift(tag) & COUNT_MAX
}

/// A bit for each of the sixteen bytes of two words, set where the byte is `byte`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn equal_bytes(low: u64, high: u64, byte: u8) -> u32 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8};
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        let bytes = _mm_set_epi64x(high as i64, low as i64);
        let equal = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8));
        _mm_movemask_epi8(equal) as u32
    }
}

/// The same for every other processor.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn equal_bytes(low: u64, high: u64, byte: u8) -> u32 {
    equal_bytes_of_word(low, byte) | equal_bytes_of_word(high, byte) << 8
}

#[cfg(any(all(test, not(loom)), not(target_arch = "x86_64")))]
fn equal_bytes_of_word(word: u64, byte: u8) -> u32 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const SEVEN_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let differing = word ^ (ONES * u64::from(byte));
    // Carries into a byte's high bit if any of its other bits is set, and into no other byte.
    let carried = (differing & SEVEN_BITS) + SEVEN_BITS;
    let equal = !(carried | differing | SEVEN_BITS);
    // Gathers the high bits of the eight bytes in one.
    ((equal >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
}

/// Some places of a bucket.
pub(super) struct Places(u32);

impl Iterator for Places {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let place = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(place as usize)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_compare_bytes_agree() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..100_000 {
            let mut word = || random.u64(..) & random.u64(..) & 0x0301_ff03_8001_0100;
            let (low, high) = (word(), word());
            for byte in [0, 1, 2, 3, 0x80, 0xff] {
                let portable =
                    equal_bytes_of_word(low, byte) | equal_bytes_of_word(high, byte) << 8;
                assert_eq!(equal_bytes(low, high, byte), portable);
            }
        }
    }
}
