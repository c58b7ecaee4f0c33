//! A hash, cut into the parts that decide a shard, a bucket and a tag.

/// The hash of a key within its shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hash {
    /// Where it stands in the order of hashes: decides the bucket. Kept with an entry.
    pub(crate) position: u32,
    /// Compared before the key is. Never zero, which marks an empty place.
    pub(super) tag: u8,
}

impl Hash {
    /// The shard, of `2^shard_bits`, that a key with this 64-bit hash belongs to, and its hash there.
    #[inline(always)]
    pub(crate) fn split(hash: u64, shard_bits: u32) -> (usize, Hash) {
        // Two shifts, since a shift by 64 is not defined.
        let shard = (hash >> 1) >> (63 - shard_bits);
        let position = ((hash << shard_bits) >> 32) as u32;
        let tag = hash as u8;
        let tag = if tag == 0 { 1 } else { tag };
        (shard as usize, Hash { position, tag })
    }
}
