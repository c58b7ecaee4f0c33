//! What an experiment leaves behind: plain data, written as JSON, read back by `hotcopy report`.
//!
//! The types here are the published schema (`docs/schema/`). Raw readings and the figures derived
//! from them stand side by side, so that a report prints and never computes.

pub mod cost;
mod histogram;
mod stamp;

pub use histogram::{Histogram, Micros};
pub use stamp::{MachineStamp, ServerStamp};
