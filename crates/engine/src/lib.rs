//! The in-memory store and the one-value cell. No I/O, no async runtime.

pub mod bytes;
