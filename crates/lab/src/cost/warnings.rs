//! What a reader has to know before trusting the figures, with advice.

use std::fmt;

use crate::results::cost::{CostResult, Path, Row};
use crate::results::row_name;

/// A generator thread this busy may be what limits the row.
pub const BUSY_THREAD_SHARE: f64 = 0.9;

/// A noise floor above this shows in the percentiles.
const NOISY_US: f64 = 2_000.0;

enum Warning<'a> {
    DebugBuild,
    BusyGenerator { row: &'a Row, share: f64 },
    Noisy { row: &'a Row, p99_us: f64 },
    NoFullLoad,
    NoServerCpu,
}

impl fmt::Display for Warning<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::DebugBuild => f.write_str(
                "measured with a debug build, which decodes many times slower: \
                 use cargo run --release",
            ),
            Warning::BusyGenerator { row, share } => write!(
                f,
                "{}: a thread of the client was {:.0} % busy, so the client may be what limits \
                 this row: lower --rate or run on a machine with more cores",
                row_name(row.path, row.load),
                share * 100.0
            ),
            Warning::Noisy { row, p99_us } => write!(
                f,
                "{}: the machine itself delayed a sleeping thread by {:.1} ms (p99), so the \
                 percentiles say as much about the machine as about the reads: repeat it when \
                 nothing else runs",
                row_name(row.path, row.load),
                p99_us / 1e3
            ),
            Warning::NoFullLoad => f.write_str(
                "full load was left out because the target is not on this machine: \
                 add --full-load if the server may be loaded without limit",
            ),
            Warning::NoServerCpu => f.write_str(
                "the server's CPU could not be read: its process could not be found on this machine, \
                 and INFO does not tell used_cpu_user and used_cpu_sys, or this user may not ask",
            ),
        }
    }
}

/// All warnings that a finished result calls for.
pub(super) fn of(result: &CostResult) -> Vec<String> {
    let mut warnings = Vec::new();
    if result.machine.profile == "debug" {
        warnings.push(Warning::DebugBuild);
    }
    for row in &result.rows {
        let at_rate = row.load.is_rate();
        if let Some(share) = row
            .client_cpu
            .busiest_thread_share
            .filter(|s| *s > BUSY_THREAD_SHARE)
            && at_rate
        {
            warnings.push(Warning::BusyGenerator { row, share });
        }
        // At full load our own threads take the cores: a delay there is no news.
        if let Some(p99_us) = row.hiccups.p99_us.filter(|p99| *p99 > NOISY_US)
            && at_rate
        {
            warnings.push(Warning::Noisy { row, p99_us });
        }
    }
    if !result.config.full_load {
        warnings.push(Warning::NoFullLoad);
    }
    let store = result.rows.iter().find(|row| row.path == Path::Store);
    if store.is_some_and(|row| row.server_cpu.is_none()) {
        warnings.push(Warning::NoServerCpu);
    }
    warnings.iter().map(Warning::to_string).collect()
}
