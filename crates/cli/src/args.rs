//! The command line.
#![allow(clippy::doc_markdown)] // The doc comments here are the help, read in a terminal.

mod cost;
mod hit_ratio;
mod modes;
mod output;
mod report;
mod serve;
mod values;

use clap::{Parser, Subcommand};

pub(crate) use cost::{CostArgs, DecodeArg};
pub(crate) use hit_ratio::HitRatioArgs;
pub(crate) use modes::ModesArgs;
pub(crate) use report::ReportArgs;
pub(crate) use serve::ServeArgs;
pub(crate) use values::Size;

/// Keeps the hot copy of data in memory, and measures what reading it from elsewhere costs.
#[derive(Debug, Parser)]
#[command(
    name = "hotcopy",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Cost(Box<CostArgs>),
    Modes(ModesArgs),
    HitRatio(HitRatioArgs),
    Serve(ServeArgs),
    Report(ReportArgs),
    /// A row of a table, in a process of its own.
    #[command(hide = true)]
    Row,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }
}
