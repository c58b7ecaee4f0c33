//! `hotcopy cost`: what reading a value on every request really costs.
//!
//! The value is put into the store (or found there), then each row of the tables is measured in a
//! process of its own ([`row`]) while this process watches the server's CPU and the machine's noise
//! floor from outside ([`Run`]), and last the figures are derived from the readings.

mod board;
mod calls;
mod change;
mod clock;
mod options;
mod plan;
mod progress;
mod reading;
mod row;
mod run;
mod seed;
mod tally;
mod value_in_store;
mod warnings;

use std::sync::atomic::AtomicBool;

pub(crate) use progress::Progress;

pub use options::{Encoding, Options, ValueChoice};
pub use row::{ScheduleOnly, run_row_process, run_schedule_only};
pub use warnings::BUSY_THREAD_SHARE;

use crate::error::Error;
use crate::results::cost::CostResult;
use run::Run;

/// Measures, and returns everything that was measured.
///
/// Set `interrupt` to end early: what was measured until then is returned, marked as interrupted.
/// Progress is shown on standard error if that is a terminal.
///
/// # Errors
///
/// Whatever keeps a figure from being measured; nothing is left behind on the target then.
pub fn run(options: &Options, interrupt: &AtomicBool) -> Result<CostResult, Error> {
    options.check()?;
    Run::open(options, interrupt)?.measure_all()
}
