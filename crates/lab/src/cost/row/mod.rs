//! One row of the table, measured in a process of its own.
//!
//! The parent sends a [`RowSpec`] as one line of JSON, waits for [`FromRow::Ready`], reads the
//! server's CPU time, says `go`, and reads it again at [`FromRow::WindowClosed`]. The password of a
//! target travels in the specification, never in an argument that `ps` shows.

mod closed_loop;
mod open_loop;
mod parent;
mod process;
mod reader;
mod schedule_only;
mod snapshot;

use std::ops::Range;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::change::{Notices, Sightings};
use super::plan::Purpose;
use super::reading::Reading;
use crate::results::Histogram;
use crate::results::cost::{Call, Load};

pub(super) use parent::RowProcess;
pub use process::run_row_process;
pub use schedule_only::{ScheduleOnly, run_schedule_only};

/// What a row's process has to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RowSpec {
    pub(super) url: String,
    pub(super) reading: Reading,
    pub(super) pool: usize,
    pub(super) row_time: Duration,
    pub(super) work: Work,
}

/// The measurement itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Work {
    /// The first table: one call at a time, at most so many a second.
    Calls { at_most_per_s: Option<f64> },
    /// A row of the second table.
    Row {
        purpose: Purpose,
        load: Load,
        notices: Option<Notices>,
    },
}

/// What a row's process says, one line of JSON each.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum FromRow {
    /// Connected and warm.
    Ready,
    /// The measured window has just ended.
    WindowClosed,
    /// The readings of the first table.
    Calls(Vec<Call>),
    /// The readings of a row.
    Row(Box<RowReading>),
    /// It could not be done.
    Failed(String),
}

/// What a row's process reads off itself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RowReading {
    /// What `reads` and all that belongs to them cover: the scheduled window of an open loop.
    pub(super) window: Duration,
    /// What the meters cover: until they were read, when the thread that reads them had woken.
    pub(super) wall: Duration,
    /// The same on the machine's clock.
    pub(super) clock: Range<Duration>,
    pub(super) reads: u64,
    /// Reads that had finished when the meters were read.
    pub(super) reads_at_close: u64,
    pub(super) payload_bytes: u64,
    pub(super) wire_out_bytes: u64,
    pub(super) wire_in_bytes: u64,
    pub(super) decodes: u64,
    pub(super) decode_time: Duration,
    pub(super) stale_reads: u64,
    pub(super) cpu: Duration,
    pub(super) busiest_thread_share: Option<f64>,
    pub(super) resident_end_bytes: Option<u64>,
    pub(super) resident_peak_bytes: Option<u64>,
    pub(super) allocator: Option<AllocatorWork>,
    pub(super) due: Option<Due>,
    pub(super) lag: Option<Histogram>,
    pub(super) service: Histogram,
    pub(super) response: Option<Histogram>,
    pub(super) reads_per_sample: u64,
    pub(super) sightings: Sightings,
}

/// How an open loop ended.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Due {
    pub(super) due: u64,
    pub(super) abandoned: u64,
}

/// What the allocator did in the window.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct AllocatorWork {
    pub(super) allocations: u64,
    pub(super) frees: u64,
    pub(super) bytes: u64,
    pub(super) time: Duration,
}
