//! `cargo xtask bench`: what hotcopy's own parts cost.
//!
//! Contenders of one benchmark take turns in rounds, and the median round counts: machines are
//! shared and noisy, so figures of one run are compared with each other and with nothing else. The
//! readings go to `results/bench.json`; the tables are printed from them.

mod engine;
mod generator;
mod memory_read;
mod parser;
mod server;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use hotcopy_lab::results::{MachineStamp, write};
use hotcopy_lab::rounds::Pace;
use hotcopy_lab::stamp::machine_stamp;
use serde::Serialize;

use engine::{Bar, Bars};
use table::Table;

/// Off but where bytes are counted.
#[global_allocator]
static ALLOCATOR: hotcopy_lab::meters::alloc::CountingAllocator =
    hotcopy_lab::meters::alloc::CountingAllocator;

/// Measures hotcopy's own parts.
#[derive(Debug, Parser)]
struct Args {
    /// Which benchmarks; all if none is named.
    #[arg(value_enum)]
    names: Vec<Name>,

    /// Rounds of each benchmark; the median counts.
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// Time of one contender in one round, in milliseconds.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    round_ms: u64,

    /// Of the engine's and the server's tables, only those whose title contains this.
    #[arg(long, value_name = "TEXT")]
    table: Option<String>,

    /// The folder of recorded traces for the engine's hit ratios: gzip text, one key a line.
    #[arg(long, value_name = "FOLDER", default_value = "../shared/traces")]
    traces: PathBuf,

    /// Where the readings go.
    #[arg(long, default_value = "results/bench.json")]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// The cache beside its peers, and the bars that it is held to.
    Engine,
    /// A read of `Hot<T>` from memory, beside `arc-swap` and a loop that reads nothing.
    MemoryRead,
    /// The RESP parser, in MB/s.
    Parser,
    /// `hotcopy serve` beside redis-server, memcached and Valkey, and the bars that it is held to.
    Server,
    /// The load generator: the rates it keeps, the reads it can drive, and its own CPU.
    Generator,
}

/// What is written and printed.
#[derive(Debug, Serialize)]
struct BenchResult {
    machine: MachineStamp,
    rounds: u32,
    round_ms: u64,
    tables: Vec<Table>,
    bars: Vec<Bar>,
    warnings: Vec<String>,
}

impl BenchResult {
    /// Prints a table when it is measured: the next may take a minute.
    fn show(&mut self, table: Table) {
        println!("{table}");
        self.tables.push(table);
    }
}

fn main() -> ExitCode {
    // Rows that need a process of their own run the program that started them again.
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["row", ..] => return hotcopy_lab::cost::run_row_process(),
        [engine::BYTE_STORE_CHILD, which] => return engine::run_child(which),
        _ => {}
    }
    let args = Args::parse();
    let wanted = |name| args.names.is_empty() || args.names.contains(&name);
    let pace = Pace {
        rounds: args.rounds,
        time: Duration::from_millis(args.round_ms),
    };
    let mut result = BenchResult {
        machine: machine_stamp(),
        rounds: args.rounds,
        round_ms: args.round_ms,
        tables: Vec::new(),
        bars: Vec::new(),
        warnings: Vec::new(),
    };
    if cfg!(debug_assertions) {
        result
            .warnings
            .push("a debug build: run cargo xtask bench".into());
    }
    if wanted(Name::Engine)
        && let Err(error) = run_engine(pace, &args.traces, args.table.as_deref(), &mut result)
    {
        eprintln!("bench: engine: {error}");
        return ExitCode::FAILURE;
    }
    if wanted(Name::MemoryRead) {
        memory_read::run(pace)
            .into_iter()
            .for_each(|table| result.show(table));
    }
    if wanted(Name::Parser) {
        result.show(parser::run(pace));
    }
    if wanted(Name::Server)
        && let Err(error) = server::run(args.rounds, args.table.as_deref(), |section| {
            result.show(section.table);
            result.bars.extend(section.bars);
        })
    {
        eprintln!("bench: server: {error}");
        return ExitCode::FAILURE;
    }
    if wanted(Name::Generator)
        && let Err(error) = run_generator(pace.time * 20, &mut result)
    {
        eprintln!("bench: generator: {error}");
        return ExitCode::FAILURE;
    }
    if !result.bars.is_empty() {
        println!("{}", Bars(&result.bars));
    }
    for warning in &result.warnings {
        println!("warning: {warning}");
    }
    if let Err(error) = write(&args.out, &result) {
        eprintln!("bench: {error}");
        return ExitCode::FAILURE;
    }
    println!("readings are in {}", args.out.display());
    ExitCode::SUCCESS
}

fn run_engine(
    pace: Pace,
    traces: &Path,
    filter: Option<&str>,
    result: &mut BenchResult,
) -> Result<(), hotcopy_lab::Error> {
    let traces = traces.is_dir().then_some(traces);
    if traces.is_none() {
        result
            .warnings
            .push("hit ratios were left out: --traces names no folder of traces".into());
    }
    engine::run(pace, traces, filter, |section| {
        result.show(section.table);
        result.bars.extend(section.bars);
    })
}

fn run_generator(time: Duration, result: &mut BenchResult) -> Result<(), hotcopy_lab::Error> {
    let mut take = |(table, warnings): (Table, Vec<String>)| {
        result.show(table);
        result.warnings.extend(warnings);
    };
    take(generator::run_schedules(time)?);
    match std::env::var_os("HOTCOPY_BIN") {
        Some(hotcopy) => take(generator::run_reads(&hotcopy, time)?),
        None => result.warnings.push(
            "real reads were left out: cargo xtask bench builds the server that they need".into(),
        ),
    }
    Ok(())
}
