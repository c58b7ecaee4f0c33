//! The byte store's memory: what the kernel counts as resident, against what was configured. Each
//! measure has a process of its own, started by [`run_child`]'s words.

use std::process::{Command, ExitCode, Stdio};

use hotcopy_engine::bytes::{ByteStore, SetOptions, StoreConfig, UnixMillis};
use hotcopy_lab::Error;
use hotcopy_lab::contenders::SEED;
use hotcopy_lab::meters::memory;
use serde::{Deserialize, Serialize};

use super::Section;
use super::bar::{Bar, Limit};
use crate::table::{Row, Table, columns};

pub(super) const FILLED: &str = "byte store filled to 256 MiB, 16 B to 64 KiB: resident growth";
pub(super) const SHIFTED: &str = "byte store of 1 GiB, 20 GiB in three size shifts: resident";

/// The first argument of a child.
pub(crate) const CHILD: &str = "byte-store";

const MIB: u64 = 1 << 20;

/// Values of sizes between two bounds, as many small as large ones by order of magnitude, until so many bytes are written.
struct Phase {
    smallest: f64,
    largest: f64,
    bytes: u64,
}

/// What one process wrote and held.
#[derive(Debug, Serialize, Deserialize)]
struct Reading {
    max_bytes: u64,
    written_bytes: u64,
    used_bytes: u64,
    entries: u64,
    /// Above what the process held before.
    resident_bytes: u64,
    peak_bytes: u64,
}

impl Reading {
    fn times_limit(&self, bytes: u64) -> f64 {
        bytes as f64 / self.max_bytes as f64
    }
}

fn plan(which: &str) -> Option<(u64, Vec<Phase>)> {
    let phase = |smallest, largest, bytes| Phase {
        smallest,
        largest,
        bytes,
    };
    match which {
        "filled" => {
            let limit = 256 * MIB;
            // A little beyond the limit, so that it is full whatever an entry's overhead is.
            Some((limit, vec![phase(16.0, 65_536.0, limit / 4 * 5)]))
        }
        "shifted" => {
            let limit = 1_024 * MIB;
            let quarter = 5 * limit;
            Some((
                limit,
                vec![
                    phase(100.0, 300.0, quarter),
                    phase(2_000.0, 6_000.0, quarter),
                    phase(20_000.0, 60_000.0, quarter),
                    phase(400.0, 1_200.0, quarter),
                ],
            ))
        }
        _ => None,
    }
}

/// Fills a store as `which` says and prints what this process then holds.
pub(crate) fn run_child(which: &str) -> ExitCode {
    let Some((max_bytes, phases)) = plan(which) else {
        eprintln!("bench: there is no measure of the byte store called {which:?}");
        return ExitCode::from(2);
    };
    let before = memory::resident().unwrap_or(0);
    let store = ByteStore::new(&StoreConfig {
        max_bytes: Some(max_bytes),
        databases: 1,
        ..StoreConfig::default()
    });
    let written_bytes = fill(&store, &phases);
    let above = |resident: Option<u64>| resident.unwrap_or(0).saturating_sub(before);
    let reading = Reading {
        max_bytes,
        written_bytes,
        used_bytes: store.used_bytes(),
        entries: store.databases().map(|it| store.len(it) as u64).sum(),
        resident_bytes: above(memory::resident()),
        peak_bytes: above(memory::peak_resident()),
    };
    println!(
        "{}",
        serde_json::to_string(&reading).expect("a reading is plain data")
    );
    ExitCode::SUCCESS
}

fn fill(store: &ByteStore, phases: &[Phase]) -> u64 {
    let database = store.databases().next().expect("a store has a database");
    let mut random = fastrand::Rng::with_seed(SEED);
    let (mut number, mut written_bytes) = (0_u64, 0);
    for phase in phases {
        let spread = phase.largest / phase.smallest;
        let end = written_bytes + phase.bytes;
        while written_bytes < end {
            let size = (phase.smallest * spread.powf(random.f64())) as usize;
            let key = format!("item:{number:010}");
            // Pages that were never written would not be resident.
            let value = vec![number as u8; size];
            number += 1;
            written_bytes += (key.len() + size) as u64;
            store
                .set(
                    database,
                    key.as_bytes(),
                    &value[..],
                    SetOptions::default(),
                    UnixMillis::now(),
                )
                .expect("every entry fits into an empty store");
        }
    }
    written_bytes
}

fn measure(which: &str) -> Result<Reading, Error> {
    let failed = |cause: String| Error::Row {
        row: format!("byte store, {which}"),
        cause,
    };
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let output = Command::new(program)
        .args([CHILD, which])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(format!("its process ended with {}", output.status)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))
}

fn table(title: &'static str, reading: &Reading) -> Table {
    let mib = |bytes: u64| bytes as f64 / MIB as f64;
    Table {
        title,
        columns: columns([
            "MiB written",
            "MiB accounted",
            "MiB resident at the end",
            "at the peak",
            "entries",
        ]),
        rows: vec![Row {
            name: format!("max_bytes {} MiB", reading.max_bytes / MIB),
            figures: vec![
                mib(reading.written_bytes),
                mib(reading.used_bytes),
                mib(reading.resident_bytes),
                mib(reading.peak_bytes),
                reading.entries as f64,
            ],
        }],
    }
}

pub(super) fn filled() -> Result<Section, Error> {
    let reading = measure("filled")?;
    let measured = reading.times_limit(reading.resident_bytes);
    let bar = Bar::new(FILLED, measured, "× the limit").limit(Limit::Between(0.95, 1.05));
    Ok(Section {
        table: table(FILLED, &reading),
        bars: vec![bar],
    })
}

pub(super) fn shifted() -> Result<Section, Error> {
    let reading = measure("shifted")?;
    // The peak and not the end: a bound that held only at the end would have let the process be killed.
    let measured = reading.times_limit(reading.peak_bytes);
    let bar = Bar::new(SHIFTED, measured, "× the limit, at the peak")
        .limit(Limit::AtMost(1.10))
        .aim(Limit::AtMost(1.03));
    Ok(Section {
        table: table(SHIFTED, &reading),
        bars: vec![bar],
    })
}
