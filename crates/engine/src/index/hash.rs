//! A hash, cut into the parts that decide a shard, a bucket and a tag.

/// The hash of a key within its shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hash {
    /// Where it stands in the order of hashes: decides the bucket. Kept with an entry.
    pub(crate) position: u32,
    /// Compared before the key is. Never zero, which marks an empty place.
    pub(crate) tag: u8,
}

impl Hash {
    /// The shard that a key with this 64-bit hash belongs to, and its hash there. `shard_mask` is the number
    /// of shards, a power of two of at most 2^24, less one.
    ///
    /// ```text
    /// 63       32 31     8 7   0
    /// | position | shard  | tag |
    /// ```
    #[inline(always)]
    pub(crate) fn split(hash: u64, shard_mask: u32) -> (usize, Hash) {
        let tag = hash as u8;
        let hash_in_shard = Hash {
            position: (hash >> 32) as u32,
            tag: tag | u8::from(tag == 0),
        };
        (((hash as u32 >> 8) & shard_mask) as usize, hash_in_shard)
    }

    /// A hash that stands at this position, for a walk, to which tags do not matter.
    pub(crate) fn at_position(position: u32) -> Hash {
        Hash { position, tag: 1 }
    }
}
