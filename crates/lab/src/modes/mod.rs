//! `hotcopy modes`: what a read and a write in this process cost, with everything on and with
//! nothing, beside other caches.
//!
//! A section is one number of keys: its contenders take turns in rounds ([`crate::rounds`]), and are
//! compared with each other. Caches in JavaScript run in a process of their own, right after.

mod java_script;
mod lineup;
mod object;
mod run;
mod switches;
mod what_if;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub use run::{SMALL_BYTES, WHAT_IF_KEYS};

use crate::results::modes::ModesResult;
use crate::rounds::Pace;

/// What is measured.
#[derive(Debug, Clone)]
pub struct Options {
    /// Rounds that count.
    pub rounds: u32,
    /// Time of one contender in one round.
    pub round_time: Duration,
    /// Reads of the cache for each request, in the what-if.
    pub operations_per_request: f64,
    /// Requests per second, in the what-if.
    pub requests_per_s: f64,
    /// The folder with the caches in JavaScript.
    pub java_script: PathBuf,
    /// For the result.
    pub command_line: Vec<String>,
}

impl Options {
    fn pace(&self) -> Pace {
        Pace {
            rounds: self.rounds,
            time: self.round_time,
        }
    }
}

/// Measures, and returns everything that was measured.
///
/// Set `interrupt` to end early: what was measured until then is returned, marked as interrupted.
/// Progress is shown on standard error if that is a terminal.
#[must_use]
pub fn run(options: &Options, interrupt: &AtomicBool) -> ModesResult {
    run::Run::new(options, interrupt).measure_all()
}
