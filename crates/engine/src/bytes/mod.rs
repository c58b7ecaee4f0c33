//! The byte store: keys and values are byte strings, entries may have deadlines, memory is bounded.
//!
//! [`ByteStore`] is what the server serves from. It is a sharded map: a key's hash picks a shard, a
//! shard is an [`indexmap::IndexMap`] behind one mutex, and each numbered database has shards of its
//! own. Nothing of a value is copied or freed while a shard is locked: a value is reference counted,
//! so that a reply can refer to it while it is written, and what a shard removes is dropped after it
//! is unlocked.
//!
//! # Promises
//!
//! - An expired entry is never returned. It is removed when it is met or by [`ByteStore::sweep`].
//! - [`ByteStore::scan`] returns every key that is present from the first call to the last.
//! - [`ByteStore::set_many`] is atomic, also for a [`ByteStore::get_many`] of up to
//!   [`ATOMIC_GET_KEYS`] keys.
//! - A write is never refused because of the eviction policy: others make room. Only a value that
//!   the limit could not hold even alone is refused.
//! - Time is an argument. The store reads no clock, so a caller can read it once for many operations
//!   and a test can choose it.

mod entry;
mod evict;
mod locked;
#[cfg(test)]
mod model_test;
mod read;
mod scan;
mod shard;
mod stats;
mod store;
mod sweep;
#[cfg(test)]
mod tests;
mod time;

pub use entry::{Change, Condition, Current, DeadlineChange, SetOptions, SetOutcome};
pub use read::ATOMIC_GET_KEYS;
pub use scan::{Cursor, Keys, SCAN_BYTES};
pub use stats::Stats;
pub use store::{ByteStore, Database, Discarded, StoreConfig, StoreError};
pub use sweep::{Sweep, Swept};
pub use time::UnixMillis;

/// A stored value. Cloning it copies a pointer, not the bytes.
pub type Value = ::bytes::Bytes;
