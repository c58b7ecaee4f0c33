//! The hash index: finds the 32-bit *slot* of an entry by its hash.
//!
//! What a slot names is the storage's matter (a place in a slab, a place in a segment); the index
//! knows neither keys nor values. Readers take no lock and write nothing; writers are serialised by
//! the lock of the shard that the index belongs to.
//!
//! # Layout
//!
//! A table is an array of buckets, each one cache line with twelve slots and a byte of hash (a *tag*) for
//! each of them, so that a lookup usually reads one line and compares one key. The home bucket of a hash
//! is `hash * buckets / 2^32`: any number of buckets is possible, so a table grows by half and not by
//! doubling, and buckets are in the order of hashes, so that a walk over the index is a walk over hashes
//! and survives growth.
//!
//! An entry whose home bucket is full goes to the next one with room. Every bucket that was passed
//! counts it; a lookup goes on only where that count is not zero. Removing an entry counts it back, so
//! there are no tombstones to clean up.
//!
//! # Growth
//!
//! A larger table is filled under the shard's lock and then published; readers go on in the old one,
//! which is freed after a grace period. No entry ever moves within a table, so a reader never misses
//! one that stays.

mod bucket;
mod hash;
#[cfg(all(test, loom))]
mod models;
mod table;
#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) use hash::Hash;
pub(crate) use table::{Filling, FirstLook, Index, OldTable, Place};
