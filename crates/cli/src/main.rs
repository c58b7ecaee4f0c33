//! The binary `hotcopy`: arguments in, one function call, output out.

mod args;
mod cost;
mod exit;
mod hit_ratio;
mod interrupt;
mod modes;
mod output;
mod report;
mod serve;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Args, Command};
use exit::Failure;

/// Off but for the pass that counts allocations; then every thread of a row is counted.
#[global_allocator]
static ALLOCATOR: hotcopy_lab::meters::alloc::CountingAllocator =
    hotcopy_lab::meters::alloc::CountingAllocator;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return exit::tell_usage(&error),
    };
    let result = match args.command {
        Command::Cost(args) => cost::run(*args),
        Command::Modes(args) => modes::run(args),
        Command::HitRatio(args) => hit_ratio::run(args),
        Command::Report(args) => report::run(&args),
        Command::Serve(args) => serve::run(args),
        Command::Row => return hotcopy_lab::cost::run_row_process(),
    };
    result.unwrap_or_else(Failure::tell)
}
