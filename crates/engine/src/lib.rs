//! The in-memory engine: the typed cache, the byte store behind the server, and the one-value cell
//! behind `Hot<T>`.
//!
//! No I/O and no async runtime live here: callers bring both.

#[cfg(not(loom))]
pub mod bytes;
#[cfg(not(loom))]
pub mod cache;
#[cfg(not(loom))]
pub mod cell;
#[cfg(not(loom))]
pub mod clock;
mod index;
mod memory;
#[cfg(not(loom))]
mod policy;
mod reclaim;
mod sync;
