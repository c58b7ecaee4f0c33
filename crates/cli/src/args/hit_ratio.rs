//! The command line of `hotcopy hit-ratio`.
#![allow(clippy::doc_markdown)] // The doc comments here are the help, read in a terminal.

use std::path::PathBuf;

use hotcopy_lab::hit_ratio::Percent;

use super::output::FormatArg;

/// Replays traces of requests, and shows how often caches of some sizes hit.
///
/// Our cache, exact LRU and the best that any cache could do; in a build with --features peers other
/// caches too. Each reads through: it looks a key up, and on a miss inserts it.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HIT_RATIO_EXAMPLES)]
pub(crate) struct HitRatioArgs {
    /// Traces: one key a line and optionally its size in bytes after it; plain text or gzip. A key
    /// that comes again with another size is a hit, and the new size replaces the old.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// Capacities in percent of the distinct keys, or of their bytes where the trace has sizes.
    #[arg(
        long,
        value_name = "PERCENT,…",
        value_delimiter = ',',
        default_value = "1%,5%,10%",
        allow_hyphen_values = true
    )]
    pub(crate) capacity: Vec<Percent>,

    /// How standard output looks.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = FormatArg::Table)]
    pub(crate) format: FormatArg,
}

const HIT_RATIO_EXAMPLES: &str = "\
Examples:
  hotcopy hit-ratio requests.txt                    your own trace, at 1, 5 and 10 percent
  hotcopy hit-ratio oltp.gz --capacity 0.5%,20%     other capacities
  hotcopy hit-ratio *.gz --format json              [{trace, capacity, policy, hit_ratio}, …]

Exit codes: 0 done, 1 failed, 2 the command line is wrong.";
