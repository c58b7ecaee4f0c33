//! What `hotcopy cost` is asked to measure.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::meters::pacer::Schedule;
use crate::target::Target;

/// Shorter rows measure their own beginning.
const LEAST_ROW_TIME: Duration = Duration::from_millis(50);

/// Reads that a row at a rate needs.
const LEAST_READS: f64 = 10.0;

const MOST_CONNECTIONS: usize = 10_000;
const MOST_WORKERS: usize = 100_000;

/// Everything a user can set.
#[derive(Debug, Clone)]
pub struct Options {
    /// The store.
    pub target: Target,
    /// What is read.
    pub value: ValueChoice,
    /// How bytes become an object; `None`: they are not decoded. The reply of a command is always
    /// converted by the client library.
    pub decode: Option<Encoding>,
    /// Connections of the pool.
    pub pool: usize,
    /// Reads per second of the open-loop rows.
    pub rate_per_s: f64,
    /// Concurrent workers at full load.
    pub workers: usize,
    /// Time for each row.
    pub row_time: Duration,
    /// Load a server that is not local without limit.
    pub full_load: bool,
    /// Processes that read like this one, for the summary.
    pub instances: u64,
    /// Change the value this often while the rows run.
    pub change_every: Option<Duration>,
    /// The command line as typed, passwords masked, for the results file.
    pub command_line: Vec<String>,
}

/// How an object is written as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Encoding {
    /// JSON text.
    Json,
    /// `MessagePack`, with the names of the fields.
    Msgpack,
}

/// What is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueChoice {
    /// A generated service configuration of 41,083 bytes.
    Generated,
    /// The contents of a file.
    File(PathBuf),
    /// A key that exists on the target. Nothing is written.
    Key(String),
    /// A read-only command. Nothing is written.
    Command(Vec<String>),
}

impl ValueChoice {
    /// Whether the value has to be put into the store first.
    pub(crate) fn is_written(&self) -> bool {
        matches!(self, ValueChoice::Generated | ValueChoice::File(_))
    }
}

impl Options {
    /// Refuses what cannot be measured, before anything is started.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let usage = |text: &str| Err(Error::Usage(text.into()));
        Schedule::new(Instant::now(), self.rate_per_s, self.row_time)
            .map_err(|error| Error::Usage(format!("--rate: {error}")))?;
        if self.row_time < LEAST_ROW_TIME {
            return usage("--seconds must be at least 0.05");
        }
        // With fewer, the reads of a row are no rate: one read in a millisecond is a thousand a second.
        let reads = self.rate_per_s * self.row_time.as_secs_f64();
        if reads < LEAST_READS {
            return Err(Error::Usage(format!(
                "a row would have only {reads:.1} reads, and at least {LEAST_READS} are needed: \
                 use --seconds {:.0} or a higher --rate",
                (LEAST_READS / self.rate_per_s).ceil()
            )));
        }
        if !(1..=MOST_CONNECTIONS).contains(&self.pool) {
            return usage("--pool must be from 1 to 10000");
        }
        if !(1..=MOST_WORKERS).contains(&self.workers) {
            return usage("--workers must be from 1 to 100000");
        }
        if self.instances == 0 {
            return usage("--instances must be at least 1");
        }
        if self.change_every.is_some() {
            if !self.value.is_written() {
                return usage(
                    "--change-every writes the value, and --key and --command never write: \
                     leave one of them out",
                );
            }
            if self.decode.is_none() {
                return usage(
                    "--change-every finds the version inside the value: use --decode json or msgpack",
                );
            }
        }
        if let ValueChoice::Command(words) = &self.value
            && words.is_empty()
        {
            return usage("--command is empty: write for example --command \"HGETALL user:1\"");
        }
        if !self.value.is_written() && !matches!(self.target, Target::Redis(_)) {
            return usage(
                "--key and --command read what a server already holds: give its URL as the target",
            );
        }
        Ok(())
    }
}
