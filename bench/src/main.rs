//! `cargo xtask bench`: what hotcopy's own parts cost.
//!
//! Contenders of one benchmark take turns in rounds, and the median round counts: machines are
//! shared and noisy, so figures of one run are compared with each other and with nothing else. The
//! readings go to `results/bench.json`; the tables are printed from them.

mod generator;
mod memory_read;
mod parser;
mod rounds;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use hotcopy_lab::results::{MachineStamp, write};
use hotcopy_lab::stamp::machine_stamp;
use serde::Serialize;

use table::Table;

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

    /// Where the readings go.
    #[arg(long, default_value = "results/bench.json")]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// A read of `Hot<T>` from memory, beside a loop that reads nothing.
    MemoryRead,
    /// The RESP parser, in MB/s.
    Parser,
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
    warnings: Vec<String>,
}

fn main() -> ExitCode {
    // The rows of an experiment run the program that started them again.
    if std::env::args().nth(1).is_some_and(|word| word == "row") {
        return hotcopy_lab::cost::run_row_process();
    }
    let args = Args::parse();
    let wanted = |name| args.names.is_empty() || args.names.contains(&name);
    let pace = rounds::Pace {
        rounds: args.rounds,
        time: Duration::from_millis(args.round_ms),
    };
    let mut result = BenchResult {
        machine: machine_stamp(),
        rounds: args.rounds,
        round_ms: args.round_ms,
        tables: Vec::new(),
        warnings: Vec::new(),
    };
    if cfg!(debug_assertions) {
        result
            .warnings
            .push("a debug build: run cargo xtask bench".into());
    }
    if wanted(Name::MemoryRead) {
        result.tables.push(memory_read::run(pace));
    }
    if wanted(Name::Parser) {
        result.tables.push(parser::run(pace));
    }
    if wanted(Name::Generator)
        && let Err(error) = run_generator(pace.time * 20, &mut result)
    {
        eprintln!("bench: generator: {error}");
        return ExitCode::FAILURE;
    }
    for table in &result.tables {
        println!("{table}");
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

fn run_generator(time: Duration, result: &mut BenchResult) -> Result<(), hotcopy_lab::Error> {
    let mut take = |(table, warnings): (Table, Vec<String>)| {
        result.tables.push(table);
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
