//! The command line.
#![allow(clippy::doc_markdown)] // The doc comments here are the help, read in a terminal.

use std::net::IpAddr;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Parser, Subcommand, ValueEnum};
use hotcopy_lab::hit_ratio::Percent;
use hotcopy_lab::report::Format;
use hotcopy_server::Protocol;

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

/// Measures what reading one value on every request costs: from a store, and from memory.
///
/// Latency is the smallest part of it. Each read from a store moves the bytes again, decodes them
/// again, allocates the object again, and occupies the server. This command reads one value both
/// ways, at a fixed rate and as fast as it can, and shows throughput, latency, transfer, decoding,
/// CPU of client and server, allocator work and memory side by side.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
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

const EXAMPLES: &str = "\
Examples:
  hotcopy cost                                      the tables, with nothing installed
  hotcopy cost redis://127.0.0.1:6379 --key config  your own server, your own key; only reads
  hotcopy cost --value config.json --instances 40   your own value, forty processes
  hotcopy cost \"spawn:redis-server --io-threads 2\"  a private Redis, ended afterwards
  hotcopy cost --change-every 0.5                   how fast a change arrives in memory

Exit codes: 0 done, 1 failed, 2 the command line is wrong, 130 ended by Ctrl-C (what was measured
until then is printed).";

#[derive(Debug, clap::Args)]
pub(crate) struct OutputArgs {
    /// How standard output looks.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = FormatArg::Table)]
    pub(crate) format: FormatArg,

    /// Where the results go, with everything that was measured, as JSON.
    #[arg(long, value_name = "FILE", default_value = "results/cost.json")]
    pub(crate) out: PathBuf,
}

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

/// Serves a cache in memory over the Redis protocol (RESP2 and RESP3) and the text protocol of
/// memcached.
///
/// Any Redis client works for strings, keys, expiry and publish/subscribe; any memcached client that
/// speaks the text protocol works on the same data, in database 0. Ends on Ctrl-C and SIGTERM.
/// Nothing is kept on disk.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Address to listen on. Beyond loopback, a password is needed.
    #[arg(long, value_name = "IP", default_value = "127.0.0.1")]
    pub(crate) bind: IpAddr,

    /// TCP port; 0 takes a free one, which the ready line names.
    #[arg(long, value_name = "PORT", default_value = "7379")]
    pub(crate) port: u16,

    /// Listen on this Unix socket too.
    #[arg(long, value_name = "PATH")]
    pub(crate) unix: Option<PathBuf>,

    /// What clients speak.
    #[arg(long, value_name = "PROTOCOL", value_enum, default_value_t = ProtocolArg::Auto)]
    pub(crate) protocol: ProtocolArg,

    /// Event loops, each a thread [default: one for each core].
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,

    /// Bytes that keys, values and their bookkeeping may take, for example 512mb or 2gb; beyond it
    /// entries are evicted, in the order in which they were written but those that were read
    /// meanwhile later [default: no limit].
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_memory: Option<Size>,

    /// Longest value, 512mb at the most. What is longer is refused with an error.
    #[arg(long, value_name = "SIZE", default_value = "512mb")]
    pub(crate) max_item_size: Size,

    /// Connections served at once; further ones are told so and closed [default: 20000].
    #[arg(long, value_name = "N")]
    pub(crate) max_clients: Option<NonZeroUsize>,

    /// Seconds after which a client that sends nothing is disconnected; subscribers may stay
    /// [default: never].
    #[arg(long, value_name = "SECONDS")]
    pub(crate) idle_timeout: Option<Seconds>,

    /// Seconds after which a client that takes nothing of the replies that wait for it is
    /// disconnected.
    #[arg(long, value_name = "SECONDS", default_value = "60")]
    pub(crate) write_timeout: Seconds,

    /// Seconds that a server which was told to end goes on delivering the replies to what had
    /// arrived.
    #[arg(long, value_name = "SECONDS", default_value = "5")]
    pub(crate) stop_grace: Seconds,

    /// Password that clients have to give with AUTH, which memcached clients cannot: they are
    /// refused then. The environment is not shown by `ps`.
    #[arg(
        long,
        value_name = "PASSWORD",
        env = "HOTCOPY_PASSWORD",
        hide_env_values = true
    )]
    pub(crate) password: Option<String>,

    /// Serve without a password also beyond loopback: whoever reaches the port may read and write.
    #[arg(long)]
    pub(crate) allow_no_password: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ProtocolArg {
    /// Each connection tells by its first bytes: a lower-case verb of memcached, or anything else.
    Auto,
    /// RESP alone.
    Resp,
    /// The text protocol of memcached alone.
    Memcached,
}

impl From<ProtocolArg> for Protocol {
    fn from(protocol: ProtocolArg) -> Self {
        match protocol {
            ProtocolArg::Auto => Protocol::Auto,
            ProtocolArg::Resp => Protocol::Resp,
            ProtocolArg::Memcached => Protocol::Memcached,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum DecodeArg {
    /// JSON text into serde_json::Value, the counterpart of JSON.parse.
    Json,
    /// MessagePack into serde_json::Value.
    Msgpack,
    /// The bytes are the value.
    None,
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

/// So many a second, or for each of something: above zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate(pub(crate) f64);

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        positive(text).map(Rate)
    }
}

/// A time in seconds, above zero, at most a day.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seconds(pub(crate) Duration);

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seconds = positive(text)?;
        if seconds > 86_400.0 {
            return Err("more than a day".into());
        }
        match Duration::from_secs_f64(seconds) {
            Duration::ZERO => Err("must be above zero".into()),
            time => Ok(Seconds(time)),
        }
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        Ok(_) => Err("must be above zero".into()),
        Err(_) => Err("not a number".into()),
    }
}

/// A number of bytes, with Redis's units: `1k` is 1,000 and `1kb` is 1,024, and so on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Size(pub(crate) u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim().to_ascii_lowercase();
        let digits = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let factor = match unit.trim() {
            "" | "b" => 1,
            "k" => 1_000,
            "kb" | "kib" => 1 << 10,
            "m" => 1_000_000,
            "mb" | "mib" => 1 << 20,
            "g" => 1_000_000_000,
            "gb" | "gib" => 1 << 30,
            _ => return Err("write bytes, or a number with kb, mb or gb".into()),
        };
        let size = number
            .parse::<u64>()
            .ok()
            .and_then(|number| number.checked_mul(factor));
        match size {
            Some(0) => Err("must be above zero".into()),
            Some(size) => Ok(Size(size)),
            None => Err("write bytes, or a number with kb, mb or gb".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }

    #[test]
    fn sizes_use_the_units_of_redis() {
        assert_eq!("100".parse(), Ok(Size(100)));
        assert_eq!("1k".parse(), Ok(Size(1_000)));
        assert_eq!("2MB".parse(), Ok(Size(2 << 20)));
        assert_eq!("3gib".parse(), Ok(Size(3 << 30)));
        for wrong in ["", "mb", "0", "-1", "1tb", "99999999999gb", "1.5gb"] {
            assert!(wrong.parse::<Size>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn rates_and_times_are_above_zero_and_finite() {
        assert!("2730".parse::<Rate>().is_ok() && "0.1".parse::<Seconds>().is_ok());
        for wrong in ["0", "-1", "nan", "inf", "", "x", "1e-12"] {
            assert!(wrong.parse::<Seconds>().is_err(), "{wrong}");
        }
        assert!("0".parse::<Rate>().is_err() && "nan".parse::<Rate>().is_err());
    }
}
