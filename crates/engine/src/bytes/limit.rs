//! The limit: what is used of it, how it is changed, and what cannot fit into it. How it is held is
//! told in [`super::evict`].

use std::sync::atomic::Ordering;

use super::UnixMillis;
use super::store::ByteStore;
use super::weight::{self, Layout};

/// Why a write was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// What was to be written does not fit into the limit even if everything else goes.
    #[error("an entry of {needed_bytes} bytes does not fit into {max_bytes} bytes of memory")]
    TooLarge {
        /// What it would take.
        needed_bytes: u64,
        /// The store's limit.
        max_bytes: u64,
    },
    /// The key or the value is longer than [`StoreConfig::max_item_bytes`](super::StoreConfig::max_item_bytes).
    #[error("an item of {len} bytes is longer than {max_item_bytes}")]
    ItemTooLong {
        /// Its length.
        len: usize,
        /// What is allowed.
        max_item_bytes: usize,
    },
}

impl ByteStore {
    /// Bytes of memory that the store has taken: blocks, segments as a whole, whether or
    /// not something lives in them, indexes, what was removed and is still referred to or not freed yet, and
    /// values that are being built.
    pub fn used_bytes(&self) -> u64 {
        self.pool.used_bytes()
    }

    /// Bytes that an entry with a key and a value of these lengths takes at the most, with its share of
    /// the index.
    pub fn entry_bytes(&self, key_len: usize, value_len: usize) -> u64 {
        weight::of_entry(key_len, value_len)
    }

    pub(super) fn limit(&self) -> u64 {
        self.pool.max_bytes()
    }

    /// The limit that [`used_bytes`](Self::used_bytes) is held to.
    pub fn max_bytes(&self) -> Option<u64> {
        Some(self.limit()).filter(|limit| *limit != u64::MAX)
    }

    /// Changes the limit, and evicts until it holds. The number of shards stays as it was chosen for
    /// the first limit, and a shard holds up to 2^17 segments: of a store that was made for less than 8 MiB
    /// no more than 16 GiB can ever be used.
    pub fn set_max_bytes(&self, max_bytes: Option<u64>, now: UnixMillis) {
        let limit = max_bytes.unwrap_or(u64::MAX);
        let mut layout = Layout::of_shards(limit, self.shards.len() as u64);
        for index in 0..self.shards.len() {
            let mut shard = self.lock(index);
            shard.log.set_max_segment_bytes(layout.segment_bytes);
            layout.part_bits = shard.part_bits;
        }
        let shard_bytes = weight::of_shard(layout);
        self.shard_bytes.store(shard_bytes, Ordering::Relaxed);
        self.pool.trim(limit, layout.kept_blocks);
        self.evict_to_limit(0, 0, now, &|_, _| false);
    }

    pub(super) fn check_entry(&self, key_len: usize, value_len: usize) -> Result<(), StoreError> {
        self.check_entries(std::iter::once((key_len, value_len)))
    }

    pub(super) fn check_entries(
        &self,
        lens: impl Iterator<Item = (usize, usize)>,
    ) -> Result<(), StoreError> {
        let (mut needed_bytes, mut entries) = (0, 0);
        for (key_len, value_len) in lens {
            let (len, max_item_bytes) = (value_len.max(key_len), self.max_item_bytes);
            if len > max_item_bytes {
                return Err(StoreError::ItemTooLong {
                    len,
                    max_item_bytes,
                });
            }
            needed_bytes += weight::of_entry(key_len, value_len);
            entries += 1;
        }
        let shards = entries.min(self.shards.len() as u64);
        let needed_bytes = needed_bytes + shards * self.shard_bytes.load(Ordering::Relaxed);
        let max_bytes = self.limit();
        if needed_bytes > max_bytes {
            return Err(StoreError::TooLarge {
                needed_bytes,
                max_bytes,
            });
        }
        Ok(())
    }
}
