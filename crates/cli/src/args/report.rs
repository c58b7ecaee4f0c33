//! The command line of `hotcopy report`.
#![allow(clippy::doc_markdown)] // The doc comments here are the help, read in a terminal.

use std::path::PathBuf;

use super::output::FormatArg;

/// Prints the tables of a results file again, byte for byte.
#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// A file that `hotcopy cost` or `hotcopy modes` wrote.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// How standard output looks.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = FormatArg::Table)]
    pub(crate) format: FormatArg,
}
