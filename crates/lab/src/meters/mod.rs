//! Meters: what a run consumes, read from the operating system and from inside the process.
//!
//! Linux has them all. Where a platform lacks one, its reading is `None` or an
//! [`Unsupported`](std::io::ErrorKind::Unsupported) error, never a guess.

pub mod alloc;
mod cgroup;
pub mod cpu;
pub mod hiccup;
pub mod memory;
pub mod pacer;
