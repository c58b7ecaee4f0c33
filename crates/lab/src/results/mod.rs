//! What an experiment leaves behind: plain data, written as JSON, read back by `hotcopy report`.
//!
//! The types here are the published schema (`docs/schema/`). Raw readings and the figures derived
//! from them stand side by side, so that a report prints and never computes. The derivations are
//! the constructors in `derived` and `summary`; what each means is told in `docs/results-format.md`.

pub mod cost;
mod derived;
mod file;
mod find;
mod histogram;
pub mod hit_ratio;
mod json;
pub mod modes;
mod names;
mod recorder;
mod stamp;
mod summary;

pub use derived::{WireReading, per_second};
pub use file::{
    AnyResult, ReadError, WriteError, check_writable, read, read_cost, read_modes, write,
};
pub use histogram::{Histogram, HistogramError, Micros};
pub use json::{as_written, cost_schema, modes_schema, to_json};
pub use names::row_name;
pub use recorder::Recorder;
pub use stamp::{MachineStamp, ServerStamp};
