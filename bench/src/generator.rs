//! The load generator: which rates it keeps when reads cost nothing, how many real reads it can
//! drive, and what both take of a processor.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hotcopy_lab::Error;
use hotcopy_lab::cost::{
    BUSY_THREAD_SHARE, Options, ValueChoice, run as run_cost, run_schedule_only,
};
use hotcopy_lab::results::cost::{ClientCpu, Load, Path};
use hotcopy_lab::target::Target;

use crate::table::{Row, Table, columns};

/// The rate of the main experiment first, then decades around what a machine can drive.
const RATES_PER_S: [f64; 6] = [
    2_730.0,
    10_000.0,
    30_000.0,
    100_000.0,
    300_000.0,
    1_000_000.0,
];

/// The rate of real reads.
const READS_PER_S: f64 = 10_000.0;

/// Small, so that the client's own work shows and not the value's.
const VALUE: [u8; 100] = [b'x'; 100];

/// The schedule by itself, in this process.
pub(crate) fn run_schedules(time: Duration) -> Result<(Table, Vec<String>), Error> {
    let mut rows = Vec::new();
    let mut warnings = Vec::new();
    for rate_per_s in RATES_PER_S {
        let run = run_schedule_only(rate_per_s, time)?;
        let finished = (run.schedule.due - run.schedule.backlog) as f64 / time.as_secs_f64();
        let kept = if run.schedule.kept { "" } else { " (not kept)" };
        let name = format!("{rate_per_s}/s{kept}");
        warnings.extend(busy_warning(&name, &run.cpu));
        let lag = |percentile: Option<f64>| percentile.unwrap_or(f64::NAN);
        rows.push(Row {
            name,
            figures: vec![
                finished,
                run.cpu.share_of_core * 100.0,
                busiest(&run.cpu) * 100.0,
                lag(run.lag.p50_us),
                lag(run.lag.p99_us),
            ],
        });
    }
    let table = Table {
        title: "Load generator, nothing read",
        columns: columns([
            "reads/s driven",
            "CPU, % of a core",
            "busiest thread, %",
            "late by µs, p50",
            "p99",
        ]),
        rows,
    };
    Ok((table, warnings))
}

/// Real reads of a small value from `hotcopy serve`, each row in a process of its own.
pub(crate) fn run_reads(hotcopy: &OsStr, time: Duration) -> Result<(Table, Vec<String>), Error> {
    let value = TemporaryValue::write()?;
    let options = Options {
        target: Target::Spawn(vec![hotcopy.to_string_lossy().into_owned()]),
        value: ValueChoice::File(value.0.clone()),
        decode: None,
        pool: 10,
        rate_per_s: READS_PER_S,
        workers: 50,
        row_time: time,
        full_load: true,
        instances: 1,
        change_every: None,
        command_line: Vec::new(),
    };
    let result = run_cost(&options, &AtomicBool::new(false))?;
    let mut rows = Vec::new();
    let mut warnings = Vec::new();
    for row in result.rows.iter().filter(|row| row.path == Path::Store) {
        let name = match row.load {
            Load::Rate { per_s } => format!("{per_s}/s"),
            Load::Full { workers } => format!("full load, {workers} workers"),
        };
        warnings.extend(busy_warning(&name, &row.client_cpu));
        rows.push(Row {
            name,
            figures: vec![
                row.throughput_per_s,
                row.client_cpu.share_of_core * 100.0,
                busiest(&row.client_cpu) * 100.0,
                row.server_cpu
                    .as_ref()
                    .map_or(f64::NAN, |cpu| cpu.share_of_core * 100.0),
            ],
        });
    }
    let table = Table {
        title: "Load generator, GET of 100 bytes from hotcopy serve, 10 connections",
        columns: columns([
            "reads/s driven",
            "CPU, % of a core",
            "busiest thread, %",
            "server CPU, % of a core",
        ]),
        rows,
    };
    Ok((table, warnings))
}

fn busiest(cpu: &ClientCpu) -> f64 {
    cpu.busiest_thread_share.unwrap_or(f64::NAN)
}

fn busy_warning(row: &str, cpu: &ClientCpu) -> Option<String> {
    let share = busiest(cpu);
    (share > BUSY_THREAD_SHARE).then(|| {
        format!(
            "{row}: a thread of the generator is {:.0} % busy: here the generator is what limits",
            share * 100.0
        )
    })
}

/// The value in a file, which is removed when this is dropped.
struct TemporaryValue(PathBuf);

impl TemporaryValue {
    fn write() -> Result<Self, Error> {
        let path = std::env::temp_dir().join(format!("hotcopy-bench-{}", std::process::id()));
        let written = fs::write(&path, VALUE);
        let value = TemporaryValue(path);
        written.map(|()| value).map_err(|source| Error::System {
            doing: "writing the value".into(),
            source,
        })
    }
}

impl Drop for TemporaryValue {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
