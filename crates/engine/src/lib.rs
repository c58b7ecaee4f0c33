//! The in-memory store behind the server and the one-value cell behind `Hot<T>`.
//!
//! No I/O and no async runtime live here: callers bring both.

pub mod bytes;
pub mod cell;
#[allow(dead_code, reason = "the caches that use it come next")]
mod policy;
