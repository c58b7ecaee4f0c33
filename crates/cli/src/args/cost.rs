//! The command line of `hotcopy cost`.
#![allow(clippy::doc_markdown)] // The doc comments here are the help, read in a terminal.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use clap::ValueEnum;

use super::output::OutputArgs;
use super::values::{Rate, Seconds};

/// Measures what reading one value on every request costs: from a store, and from memory.
///
/// Latency is the smallest part of it. Each read from a store moves the bytes again, decodes them
/// again, allocates the object again, and occupies the server. This command reads one value both
/// ways, at a fixed rate and as fast as it can, and shows throughput, latency, transfer, decoding,
/// CPU of client and server, allocator work and memory side by side.
#[derive(Debug, clap::Args)]
#[command(after_long_help = COST_EXAMPLES)]
pub(crate) struct CostArgs {
    /// The store: redis://[USER:PASSWORD@]HOST:PORT[/DB], rediss://…, redis+unix:///PATH,
    /// "spawn:COMMAND LINE" (a private redis-server, valkey-server or hotcopy), or nothing for our
    /// own server as a child process.
    ///
    /// On a server that runs already the value is written under hotcopy:lab: with a time to live,
    /// and removed afterwards; with --key or --command nothing is written at all.
    #[arg(
        value_name = "TARGET",
        default_value = "embedded",
        hide_default_value = true
    )]
    pub(crate) target: String,

    /// Read the contents of this file instead of a generated config of 41,083 bytes of JSON.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["key", "command"])]
    pub(crate) value: Option<PathBuf>,

    /// Read this key, which exists on the target, with GET. Writes nothing.
    #[arg(long, value_name = "KEY", conflicts_with_all = ["command", "change_every"])]
    pub(crate) key: Option<String>,

    /// Read with this read-only command, for example "HGETALL user:1". Writes nothing. The decode
    /// step then is the client library's own conversion.
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["change_every", "decode"])]
    pub(crate) command: Option<String>,

    /// How the bytes become an object.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = DecodeArg::Json)]
    pub(crate) decode: DecodeArg,

    /// Reads per second of the rows at a rate. They are due by the clock, whatever the store does.
    #[arg(
        long,
        value_name = "PER_SECOND",
        default_value = "2730",
        allow_negative_numbers = true
    )]
    pub(crate) rate: Rate,

    /// Connections from the client to the store.
    #[arg(
        long,
        value_name = "N",
        default_value = "10",
        allow_negative_numbers = true
    )]
    pub(crate) pool: NonZeroUsize,

    /// Concurrent workers of the full-load rows.
    #[arg(
        long,
        value_name = "N",
        default_value = "50",
        allow_negative_numbers = true
    )]
    pub(crate) workers: NonZeroUsize,

    /// Time for each row.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "5",
        allow_negative_numbers = true
    )]
    pub(crate) seconds: Seconds,

    /// Measure full load although the target is not on this machine: it will be loaded as hard as
    /// the workers can.
    #[arg(long)]
    pub(crate) full_load: bool,

    /// How many processes read like this one: the summary is multiplied by it.
    #[arg(
        long,
        value_name = "N",
        default_value = "1",
        allow_negative_numbers = true
    )]
    pub(crate) instances: NonZeroU64,

    /// Change the value this often while the rows run, tell it on a channel, and measure how long
    /// the copy in memory stays behind.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) change_every: Option<Seconds>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

const COST_EXAMPLES: &str = "\
Examples:
  hotcopy cost                                      the tables, with nothing installed
  hotcopy cost redis://127.0.0.1:6379 --key config  your own server, your own key; only reads
  hotcopy cost --value config.json --instances 40   your own value, forty processes
  hotcopy cost \"spawn:redis-server --io-threads 2\"  a private Redis, ended afterwards
  hotcopy cost --change-every 0.5                   how fast a change arrives in memory

Exit codes: 0 done, 1 failed, 2 the command line is wrong, 130 ended by Ctrl-C (what was measured
until then is printed).";

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum DecodeArg {
    /// JSON text into serde_json::Value, the counterpart of JSON.parse.
    Json,
    /// MessagePack into serde_json::Value.
    Msgpack,
    /// The bytes are the value.
    None,
}
