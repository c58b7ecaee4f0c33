//! The load generator: which rates it keeps when reads cost nothing, and what that takes.

use std::time::Duration;

use hotcopy_lab::Error;
use hotcopy_lab::cost::run_schedule_only;

use crate::table::{Row, Table};

/// The rate of the main experiment first, then decades around what a machine can drive.
const RATES_PER_S: [f64; 6] = [
    2_730.0,
    10_000.0,
    30_000.0,
    100_000.0,
    300_000.0,
    1_000_000.0,
];

/// Beyond it a thread of the generator limits the rate, not what it drives.
const BUSY_THREAD: f64 = 0.9;

pub(crate) fn run(time: Duration) -> Result<(Table, Vec<String>), Error> {
    let mut rows = Vec::new();
    let mut warnings = Vec::new();
    for rate_per_s in RATES_PER_S {
        let run = run_schedule_only(rate_per_s, time)?;
        let finished = (run.schedule.due - run.schedule.backlog) as f64 / time.as_secs_f64();
        let busiest = run.cpu.busiest_thread_share.unwrap_or(f64::NAN);
        if busiest > BUSY_THREAD {
            warnings.push(format!(
                "at {rate_per_s}/s a thread of the generator is {:.0} % busy: beyond that the \
                 generator is what limits a row",
                busiest * 100.0
            ));
        }
        rows.push(Row {
            name: format!(
                "{rate_per_s}/s{}",
                if run.schedule.kept { "" } else { " (not kept)" }
            ),
            figures: vec![
                finished,
                run.cpu.share_of_core * 100.0,
                busiest * 100.0,
                run.lag.p50_us.unwrap_or(f64::NAN),
                run.lag.p99_us.unwrap_or(f64::NAN),
            ],
        });
    }
    let table = Table {
        title: "Load generator, nothing read",
        columns: vec![
            "reads/s driven",
            "CPU, % of a core",
            "busiest thread, %",
            "late by µs, p50",
            "p99",
        ],
        rows,
    };
    Ok((table, warnings))
}
