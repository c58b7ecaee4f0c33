//! The byte store: keys and values are byte strings, entries may have deadlines, memory is bounded.
//!
//! [`ByteStore`] is what the server serves from.
//!
//! # Where an entry lies
//!
//! A key's hash picks a *shard*, which is behind one mutex. In it each numbered database has an
//! *index* from hashes to 32-bit *locations*: the number of a *segment* and the place in it at which the
//! entry's *record* begins. A record is a short header, the key, and the value, or what of it is in no
//! *block*: a value of 16 KiB or more is a *chain* of blocks of 16 KiB less a word, and a rest shorter than that.
//!
//! ```text
//! hash --> shard --> index --> location --> segment: | header | key | value |
//!                                                    | header | key | chain, rest |
//!                                                               block, block, ... <-'
//! ```
//!
//! Segments and blocks are of a few sizes, taken and given back as a whole, so nothing
//! fragments. A write appends a record, and what it replaces is dead until the segment is gone.
//! Which entries go when the limit is reached, and how dead records are cleared away, is told in [`evict`].
//!
//! # Promises
//!
//! - An expired entry is never returned. It is removed when it is met or by [`ByteStore::sweep`].
//! - [`ByteStore::scan`] returns every key that is present from the first call to the last.
//! - [`ByteStore::set_many`] is atomic, also for a [`ByteStore::get_many`] of up to
//!   [`ATOMIC_GET_KEYS`] keys.
//! - So are [`ByteStore::rename`] and [`ByteStore::copy`].
//! - A write is never refused because of the eviction policy: others make room. Only a value that
//!   the limit could not hold even alone is refused. What was just written is not evicted by its own write.
//! - [`ByteStore::used_bytes`] is all memory that the store has taken, and is held to the limit. It is exceeded by
//!   what one write takes, until that write has made room, and by what is still referred to.
//! - While a shard is locked, nothing of a value is copied but the rest of one that is written or moved, which
//!   is shorter than a block, and nothing is freed. Reading a value refers to it.
//! - A value of very many blocks is not freed in one piece, see [`ByteStore::sweep`].
//! - Time is an argument. The store reads no clock, so a caller can read it once for many operations
//!   and a test can choose it. It may go backwards: then entries live longer.

mod block;
#[cfg(test)]
mod bounds_tests;
mod builder;
mod chain;
mod entry;
pub(crate) mod evict;
mod flush;
mod frames;
mod index;
mod kept;
mod key;
mod limit;
#[cfg(test)]
mod limit_model_test;
#[cfg(test)]
mod limit_tests;
mod locked;
mod log;
#[cfg(test)]
mod model_test;
mod patch;
mod pool;
mod read;
mod scan;
#[cfg(test)]
mod scan_tests;
mod segment;
mod shard;
mod stats;
mod store;
mod sweep;
#[cfg(test)]
mod test_support;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod threads_test;
mod time;
mod transfer;
#[cfg(test)]
mod transfer_tests;
#[cfg(test)]
mod validate;
mod value;
#[cfg(test)]
mod value_tests;
mod weight;
mod write_many;

pub use builder::ValueBuilder;
pub use entry::{Change, Condition, Current, DeadlineChange, SetOptions, SetOutcome};
pub use flush::Discarded;
pub use limit::StoreError;
pub use read::ATOMIC_GET_KEYS;
pub use scan::{Cursor, Keys, SCAN_BYTES};
pub use stats::Stats;
pub use store::{ByteStore, Database, StoreConfig};
pub use sweep::{Sweep, Swept};
pub use time::UnixMillis;
pub use transfer::{Place, Transfer};
pub use value::{BLOCK_VALUE_BYTES, Payload, Value};
