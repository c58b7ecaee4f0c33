//! The load generator by itself: what rate it keeps when reads cost nothing, and what that takes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::tally::Tally;
use super::open_loop;
use super::reader::NoReader;
use super::snapshot::WindowStart;
use crate::connect::WireBytes;
use crate::error::Error;
use crate::meters::pacer::Schedule as Intents;
use crate::results::Histogram;
use crate::results::cost::{ClientCpu, Schedule};

/// What the open loop did with nothing to read.
#[derive(Debug, Clone)]
pub struct ScheduleOnly {
    /// How the schedule was kept.
    pub schedule: Schedule,
    /// CPU of this process, everything else that it does included.
    pub cpu: ClientCpu,
    /// How late reads started.
    pub lag: Histogram,
}

/// Runs the open loop in this process at `rate_per_s` for `time`, reading nothing.
///
/// # Errors
///
/// A rate that no schedule can keep, or a system without a thread to give.
pub fn run_schedule_only(rate_per_s: f64, time: Duration) -> Result<ScheduleOnly, Error> {
    let runtime = super::process::runtime()?;
    let wire = WireBytes::default();
    let tally = Arc::new(Tally::new());
    let start = Instant::now();
    let intents =
        Intents::new(start, rate_per_s, time).map_err(|error| Error::Usage(error.to_string()))?;
    let window = WindowStart::open(&wire, false);
    let close = || window.close(&wire, &tally);
    let reader = Arc::new(NoReader);
    let (window, due) = open_loop::drive(runtime, reader, &tally, intents, start + time, close)
        .map_err(|error| Error::Usage(error.to_string()))?;
    let reading = window.into_scheduled_reading(&tally, time, due);
    Ok(ScheduleOnly {
        schedule: Schedule::new(due.due, reading.reads, due.abandoned),
        cpu: ClientCpu::new(
            reading.cpu,
            reading.wall,
            None,
            reading.busiest_thread_share,
        ),
        lag: reading
            .lag
            .unwrap_or_else(|| Histogram::from_recorder(&crate::results::Recorder::new())),
    })
}
