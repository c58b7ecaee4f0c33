//! The in-memory engine: the typed cache, the byte store behind the server, and the one-value cell
//! behind `Hot<T>`.
//!
//! No I/O and no async runtime live here: callers bring both.

#![cfg_attr(
    loom,
    allow(
        dead_code,
        unused_imports,
        reason = "the models use a part of what the caches use"
    )
)]

#[cfg(not(loom))]
pub mod bytes;
#[cfg(not(loom))]
pub mod cache;
pub mod cell;
#[cfg(not(loom))]
pub mod clock;
mod index;
mod memory;
#[cfg(all(test, loom))]
mod models;
#[cfg(not(loom))]
mod policy;
mod reclaim;
mod sync;
