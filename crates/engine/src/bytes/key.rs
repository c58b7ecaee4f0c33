//! Keys: their hashes, and how they are read and compared where they lie.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use super::BLOCK_VALUE_BYTES;
use super::log::{Location, Log};
use crate::index::Hash;

/// Tells a key's shard and its hash there.
#[derive(Debug, Clone)]
pub(super) struct KeyHasher {
    state: RandomState,
    shard_mask: u32,
}

impl KeyHasher {
    /// `shards` is a power of two.
    pub(super) fn new(shards: usize) -> Self {
        KeyHasher {
            state: RandomState::default(),
            shard_mask: shards as u32 - 1,
        }
    }

    pub(super) fn hash(&self, key: &[u8]) -> (usize, Hash) {
        Hash::split(self.whole_hash(key), self.shard_mask)
    }

    fn whole_hash(&self, key: &[u8]) -> u64 {
        self.state.hash_one(key)
    }

    /// What a record keeps of its key's hash: all of it if the key is long.
    pub(super) fn kept_hash(&self, key: &[u8]) -> u64 {
        if key.len() < BLOCK_VALUE_BYTES {
            return 0;
        }
        self.whole_hash(key)
    }

    pub(super) fn hash_at(&self, log: &Log, location: Location) -> Hash {
        let segment = log.segment(location.segment());
        let record = segment.record(location.at());
        let hash = match segment.key_hash(&record) {
            Some(hash) => hash,
            None => self.whole_hash(segment.key_tail(&record)),
        };
        Hash::split(hash, self.shard_mask).1
    }
}

/// Shows the key of a live record.
pub(super) fn with_key<R>(log: &Log, location: Location, show: impl FnOnce(&[u8]) -> R) -> R {
    let segment = log.segment(location.segment());
    let record = segment.record(location.at());
    let tail = segment.key_tail(&record);
    match segment.key_chain(&record) {
        None => show(tail),
        Some(chain) => {
            let mut key = Vec::new();
            let blocks = chain.blocks().iter().map(|block| block.payload());
            blocks
                .chain([tail])
                .for_each(|slice| key.extend_from_slice(slice));
            show(&key)
        }
    }
}

pub(super) fn is_key(log: &Log, location: Location, key: &[u8]) -> bool {
    let segment = log.segment(location.segment());
    let record = segment.record(location.at());
    let tail = segment.key_tail(&record);
    match segment.key_chain(&record) {
        None => tail == key,
        Some(chain) => {
            let blocks = chain.blocks();
            let pieces = key.chunks_exact(BLOCK_VALUE_BYTES);
            pieces.len() == blocks.len()
                && pieces.remainder() == tail
                && pieces
                    .zip(blocks)
                    .all(|(piece, block)| piece == block.payload())
        }
    }
}
