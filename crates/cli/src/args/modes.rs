//! The command line of `hotcopy modes`.
#![allow(clippy::doc_markdown)] // The doc comments here are the help, read in a terminal.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use super::output::FormatArg;
use super::values::Rate;

/// Measures what a read and a write of a cache in this process cost, with everything on and with
/// nothing.
///
/// Ours borrowed, by a shared handle and cloned, with 1, 1,000 and 100,000 keys and with a large
/// object; what each feature costs; and what that means for a service. Other caches stand beside it:
/// Rust crates in a build with --features peers, and caches in JavaScript where bun or node and the
/// packages in peers/js are there.
#[derive(Debug, clap::Args)]
#[command(after_long_help = MODES_EXAMPLES)]
pub(crate) struct ModesArgs {
    /// Rounds in which the caches take turns; the median counts.
    #[arg(
        long,
        value_name = "N",
        default_value = "7",
        allow_negative_numbers = true
    )]
    pub(crate) rounds: NonZeroU32,

    /// Time of each cache in each round.
    #[arg(
        long,
        value_name = "MILLISECONDS",
        default_value = "20",
        allow_negative_numbers = true
    )]
    pub(crate) round_ms: NonZeroU64,

    /// What if: reads of the cache for each request.
    #[arg(
        long,
        value_name = "N",
        default_value = "10",
        allow_negative_numbers = true
    )]
    pub(crate) operations: Rate,

    /// What if: requests per second.
    #[arg(
        long,
        value_name = "PER_SECOND",
        default_value = "10000",
        allow_negative_numbers = true
    )]
    pub(crate) requests: Rate,

    /// The folder peers/js of hotcopy's sources, after `npm ci` in it.
    #[arg(long, value_name = "FOLDER", default_value = "peers/js")]
    pub(crate) js: PathBuf,

    /// How standard output looks.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = FormatArg::Table)]
    pub(crate) format: FormatArg,

    /// Where the results go, with everything that was measured, as JSON.
    #[arg(long, value_name = "FILE", default_value = "results/modes.json")]
    pub(crate) out: PathBuf,
}

const MODES_EXAMPLES: &str = "\
Examples:
  hotcopy modes                                     ours, and JavaScript if it is there
  cargo run --release --features peers -- modes     beside the Rust peers
  hotcopy modes --operations 25 --requests 4000     what if: your own traffic

Exit codes: 0 done, 1 failed, 2 the command line is wrong, 130 ended by Ctrl-C (what was measured
until then is printed).";
