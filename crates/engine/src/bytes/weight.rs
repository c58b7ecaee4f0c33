//! What entries weigh, and how a store is laid out for its limit.

use super::block::{BLOCK_BYTES, PAYLOAD_BYTES};
use super::log::MAX_SEGMENT_BYTES;
use super::segment::{LARGEST_HEADER_BYTES, REGION_BYTES};
use super::{chain, index};
use crate::memory;

/// Share of the index: a bucket of 32 bytes for five entries when a part grows, and 3.3 after it.
const INDEX_BYTES: u64 = 10;

/// Bytes that an entry takes at the most.
pub(super) fn of_entry(key_len: usize, value_len: usize) -> u64 {
    of_part(key_len) + of_part(value_len) + LARGEST_HEADER_BYTES as u64 + INDEX_BYTES
}

fn of_part(len: usize) -> u64 {
    let (blocks, rest) = (len / PAYLOAD_BYTES, len % PAYLOAD_BYTES);
    let chain = match blocks {
        0 => 0,
        blocks => chain::footprint(blocks) + (blocks * BLOCK_BYTES) as u64,
    };
    chain + rest as u64
}

/// What a shard with an entry takes beside it at the most: an open segment and the smallest index.
pub(super) fn of_shard(layout: Layout) -> u64 {
    memory::footprint(layout.segment_bytes) + REGION_BYTES + index::smallest_bytes(layout.part_bits)
}

/// How a store is cut up. Memory is taken and counted in pieces, so the pieces are small where the limit
/// is: what is open and not full yet shall be a few hundredths of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) shards: usize,
    pub(super) segment_bytes: usize,
    /// Blocks that are kept for the next use.
    pub(super) kept_blocks: usize,
    /// A shard's index has two to the power of it parts.
    pub(super) part_bits: u32,
}

/// Largest segment: evicting one entry after another until one is free is a pause of some 0.1 ms for the
/// writer that has to.
const LARGE_SEGMENT_BYTES: u64 = 128 * 1024;
const SMALL_SEGMENT_BYTES: u64 = 512;
const _: () = assert!(LARGE_SEGMENT_BYTES as usize <= MAX_SEGMENT_BYTES);

/// A shard holds no less than this, and this many segments.
const SHARD_BYTES: u64 = 4 * 1024 * 1024;
const SEGMENTS_IN_SHARD: u64 = 64;

/// Share of a shard's limit for each part of an index: some of them grow while the shard is locked, so they shall be
/// small, and even an empty one has a table.
const INDEX_PART_BYTES: u64 = 256 * 1024;
const MAX_INDEX_PARTS: u64 = 64;

/// No more than this part of the limit is kept in blocks for the next use, and no more than some values of a
/// megabyte that clients replace at the same time.
const KEPT_DIVISOR: u64 = 256;
const MAX_KEPT_BLOCKS: u64 = 256;

impl Layout {
    pub(super) fn new(max_bytes: Option<u64>, max_shards: usize) -> Self {
        let max_shards = max_shards.max(1).next_power_of_two();
        let max_bytes = max_bytes.unwrap_or(u64::MAX);
        let shards = power_of_two_below(max_bytes / SHARD_BYTES, max_shards as u64);
        Self::of_shards(max_bytes, shards)
    }

    /// The layout that suits a limit where the number of shards is given.
    pub(super) fn of_shards(max_bytes: u64, shards: u64) -> Self {
        let segment =
            power_of_two_below(max_bytes / shards / SEGMENTS_IN_SHARD, LARGE_SEGMENT_BYTES);
        let parts = power_of_two_below(max_bytes / shards / INDEX_PART_BYTES, MAX_INDEX_PARTS);
        let kept = max_bytes / KEPT_DIVISOR / BLOCK_BYTES as u64;
        Layout {
            shards: shards as usize,
            segment_bytes: segment.max(SMALL_SEGMENT_BYTES) as usize,
            part_bits: parts.ilog2(),
            kept_blocks: kept.min(MAX_KEPT_BLOCKS) as usize,
        }
    }
}

/// The largest power of two up to `number` and `max`, which is one; at least 1.
fn power_of_two_below(number: u64, max: u64) -> u64 {
    1 << number.clamp(1, max).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_limit_is_cut_into_small_pieces() {
        let layout = |max_bytes| {
            let Layout {
                shards,
                segment_bytes,
                kept_blocks,
                part_bits,
            } = Layout::new(max_bytes, 16);
            (shards, segment_bytes, kept_blocks, part_bits)
        };
        assert_eq!(layout(Some(0)), (1, 512, 0, 0));
        assert_eq!(layout(Some(100_000)), (1, 1024, 0, 0));
        assert_eq!(layout(Some(10 << 20)), (2, 64 * 1024, 2, 4));
        assert_eq!(layout(Some(1 << 30)), (16, 128 * 1024, 256, 6));
        assert_eq!(layout(None), (16, 128 * 1024, 256, 6));
    }
}
