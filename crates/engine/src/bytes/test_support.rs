//! What several files of tests stand on.

use super::*;

pub(super) const NOW: UnixMillis = UnixMillis(1_000_000);
pub(super) const DB: Database = Database(0);

pub(super) fn store(max_bytes: Option<u64>) -> ByteStore {
    ByteStore::new(&StoreConfig {
        max_bytes,
        ..StoreConfig::default()
    })
}

pub(super) fn set(store: &ByteStore, key: &[u8], value: &[u8]) -> Result<SetOutcome, StoreError> {
    store.set(DB, key, value, SetOptions::default(), NOW)
}

/// Bytes that differ from place to place, so that a piece in the wrong place is noticed.
pub(super) fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len)
        .map(|index| (index / 251 + index * 7 + seed) as u8)
        .collect()
}
