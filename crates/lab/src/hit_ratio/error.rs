//! Why traces could not be replayed, each with a line that says what to do.

use std::io;
use std::path::PathBuf;

/// A replay that could not be done.
#[derive(Debug, thiserror::Error)]
pub enum HitRatioError {
    /// The file cannot be opened or read.
    #[error("cannot read {}: {source}", .file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What the system or the decompression said.
        source: io::Error,
    },
    /// The path names a folder.
    #[error("{} is a folder; name the trace files in it", .0.display())]
    Folder(PathBuf),
    /// The name promises gzip and the content is something else.
    #[error("{} is not gzip, though it is called so; without .gz it is read as plain text", .0.display())]
    NotGzip(PathBuf),
    /// There is no key in it.
    #[error("{} holds no key; a trace has one key a line", .0.display())]
    Empty(PathBuf),
    /// A line is not one of a trace.
    #[error("{}, line {line}: {problem}; a trace has one key a line, and optionally its size in bytes after it", .file.display())]
    Line {
        /// The file.
        file: PathBuf,
        /// Which line, from 1.
        line: u64,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Nothing fits.
    #[error("{percent} of {} is less than one {unit}; give more percent", .file.display())]
    NoCapacity {
        /// The file.
        file: PathBuf,
        /// The capacity.
        percent: String,
        /// What the capacity counts.
        unit: &'static str,
    },
    /// A ratio that would have been that of a larger cache.
    #[error(
        "{policy} held {held} at reference {reference}, more than its capacity of {capacity}: its hit ratio would not count"
    )]
    OverCapacity {
        /// Which policy.
        policy: &'static str,
        /// Entries or bytes that it held.
        held: u64,
        /// Which reference of the trace, from 1.
        reference: usize,
        /// Entries or bytes that it may hold.
        capacity: u64,
    },
}
