//! The repository's own commands: `cargo xtask test` runs every check, `cargo xtask bench` every benchmark.

mod bench;
mod command;
mod counts;
mod fuzz;
mod hit_path;
mod lane;
mod licences;
mod prerequisites;
mod readme;
mod sanitizer;
mod test;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Failures are read by people and end the program, so a message is all they carry.
type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

#[derive(Parser)]
#[command(about, bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run the checks that decide whether a commit is good.
    Test(test::Options),
    /// Run the benchmarks, or those whose name is given.
    Bench(bench::Options),
    /// Measure the table in the README again, or only print it from the results that are there.
    Readme(readme::Options),
    /// Install the servers and clients that the end-to-end tests run against.
    Prerequisites,
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().task {
        Task::Test(options) => test::run(&options),
        Task::Bench(options) => bench::run(&options),
        Task::Readme(options) => readme::run(&options),
        Task::Prerequisites => workspace::Workspace::locate()
            .and_then(|workspace| prerequisites::ensure(&workspace))
            .map(drop),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
