//! The keys evicted last, as four bytes each: about as many as there are entries.
//!
//! The table is an array of buckets. A bucket is one cache line of 16 words, the youngest first, so a new
//! ghost pushes out the oldest of its bucket and no other order is kept. A word is
//!
//! ```text
//!  31      30 … 23            22 … 0
//! ┌───────┬──────────────────┬────────────────────────────┐
//! │ queue │ time of eviction │ fingerprint (0: no ghost)  │
//! └───────┴──────────────────┴────────────────────────────┘
//! ```
//!
//! Time is counted in evictions from the same queue, so that the ages of the ghosts of both queues
//! compare: an age of one in a hundred means that the queue would have had to be about a hundredth of
//! the cache longer to keep the entry.

use super::Class;

const BUCKET_LEN: usize = 16;
const FINGERPRINT_BITS: u32 = 23;
const FINGERPRINT_MASK: u32 = (1 << FINGERPRINT_BITS) - 1;
const QUEUE_BIT: u32 = 1 << 31;

/// Steps of the time of eviction in which as many entries are evicted as the table remembers. With eight
/// bits of time an age is unambiguous up to four times that.
const STEPS_PER_TABLE: u64 = 64;

/// A ghost is young while its age is at most this many steps: a twentieth of the cache. The result is
/// the same within 0.1 points of hit ratio for a fiftieth and for a fifth.
const YOUNG_STEPS: u8 = 3;

/// What is remembered of an evicted key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ghost {
    /// The queue it was evicted from.
    pub(super) class: Class,
    /// A slightly longer queue would have kept it.
    pub(super) young: bool,
}

#[derive(Debug)]
pub(super) struct Ghosts {
    buckets: Box<[[u32; BUCKET_LEN]]>,
    /// By queue, as in [`Class`].
    times: [Time; 2],
    /// Evictions in a step of the time.
    step: u32,
}

/// The time of a queue.
#[derive(Debug, Clone, Copy, Default)]
struct Time {
    steps: u8,
    evictions_in_step: u32,
}

impl Ghosts {
    pub(super) fn new() -> Self {
        Self {
            buckets: Box::default(),
            times: [Time::default(); 2],
            step: 1,
        }
    }

    #[cfg(test)]
    pub(super) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.buckets)
    }

    /// Remembers a key evicted from a shard of `len` entries.
    pub(super) fn record(&mut self, hash: u32, class: Class, len: usize) {
        self.fit(len);
        let now = self.times[class as usize].count_eviction(self.step);
        let (bucket, fingerprint) = self.place(hash);
        let word = (class as u32) << 31 | u32::from(now) << FINGERPRINT_BITS | fingerprint;
        let bucket = &mut self.buckets[bucket];
        bucket.copy_within(..BUCKET_LEN - 1, 1);
        bucket[0] = word;
    }

    /// Forgets and returns what is known of a key that comes back.
    pub(super) fn take(&mut self, hash: u32) -> Option<Ghost> {
        if self.buckets.is_empty() {
            return None;
        }
        let (bucket, fingerprint) = self.place(hash);
        let bucket = &mut self.buckets[bucket];
        // Mostly there is none: all are compared without a branch, for the sake of vector instructions.
        let is_match = |word: &u32| word & FINGERPRINT_MASK == fingerprint;
        if !bucket.iter().fold(false, |any, word| any | is_match(word)) {
            return None;
        }
        let at = bucket.iter().position(is_match)?;
        let word = bucket[at];
        bucket.copy_within(at + 1.., at);
        bucket[BUCKET_LEN - 1] = 0;

        let class = if word & QUEUE_BIT == 0 {
            Class::Small
        } else {
            Class::Main
        };
        let evicted = (word >> FINGERPRINT_BITS) as u8;
        let now = self.times[class as usize].steps;
        let young = now.wrapping_sub(evicted) <= YOUNG_STEPS;
        Some(Ghost { class, young })
    }

    fn capacity(&self) -> usize {
        self.buckets.len() * BUCKET_LEN
    }

    /// Starts afresh with a table of `len` ghosts when the present one is far from that. Entries that
    /// all weigh the same lead to one table for good.
    fn fit(&mut self, len: usize) {
        let capacity = self.capacity();
        if 2 * len > 3 * capacity || 2 * (len + BUCKET_LEN) < capacity {
            self.buckets = vec![[0; BUCKET_LEN]; len.div_ceil(BUCKET_LEN).max(1)].into();
            self.times = [Time::default(); 2];
            let step = self.capacity() as u64 / STEPS_PER_TABLE;
            self.step = u32::try_from(step).unwrap_or(u32::MAX).max(1);
        }
    }

    /// The bucket and the fingerprint of a key. All bits of the hash go into both: the caller's shards
    /// and index have used some of them, which are then the same for all keys of this shard.
    fn place(&self, hash: u32) -> (usize, u32) {
        let mixed = u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bucket = ((mixed >> 32) * self.buckets.len() as u64) >> 32;
        let fingerprint = (mixed ^ mixed >> 32) as u32 & FINGERPRINT_MASK;
        (bucket as usize, fingerprint.max(1))
    }
}

impl Time {
    /// Returns the step that the eviction falls into.
    fn count_eviction(&mut self, step: u32) -> u8 {
        self.evictions_in_step += 1;
        if self.evictions_in_step >= step {
            self.evictions_in_step = 0;
            self.steps = self.steps.wrapping_add(1);
        }
        self.steps
    }
}
