//! How and where results go.
#![allow(clippy::doc_markdown)] // The doc comments here are the help, read in a terminal.

use std::path::PathBuf;

use clap::ValueEnum;
use hotcopy_lab::report::Format;

#[derive(Debug, clap::Args)]
pub(crate) struct OutputArgs {
    /// How standard output looks.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = FormatArg::Table)]
    pub(crate) format: FormatArg,

    /// Where the results go, with everything that was measured, as JSON.
    #[arg(long, value_name = "FILE", default_value = "results/cost.json")]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum FormatArg {
    /// For a terminal.
    Table,
    /// For a README or an issue.
    Markdown,
    /// The results file itself.
    Json,
    /// One figure a line.
    Csv,
}

impl From<FormatArg> for Format {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Table => Format::Table,
            FormatArg::Markdown => Format::Markdown,
            FormatArg::Json => Format::Json,
            FormatArg::Csv => Format::Csv,
        }
    }
}
