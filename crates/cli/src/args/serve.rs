//! The command line of `hotcopy serve`.
#![allow(clippy::doc_markdown)] // The doc comments here are the help, read in a terminal.

use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::ValueEnum;
use hotcopy_server::Protocol;

use super::values::{Seconds, Size};

/// Serves a cache in memory over the Redis protocol (RESP2 and RESP3) and the text protocol of
/// memcached.
///
/// Any Redis client works for strings, keys, expiry and publish/subscribe; any memcached client that
/// speaks the text protocol works on the same data, in database 0. Ends on Ctrl-C and SIGTERM.
/// Nothing is kept on disk.
#[derive(Debug, clap::Args)]
#[command(after_long_help = SERVE_EXAMPLES)]
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

const SERVE_EXAMPLES: &str = "\
Examples:
  hotcopy serve                                     127.0.0.1:7379, as much memory as it takes
  hotcopy serve --max-memory 2gb --unix /run/hotcopy.sock
                                                    bounded, and on a Unix socket too
  HOTCOPY_PASSWORD=… hotcopy serve --bind 0.0.0.0   for other machines; clients give it with AUTH
  redis-cli -p 7379 set greeting hello ex 60        any client of Redis
  printf 'get greeting\\r\\n' | nc -N 127.0.0.1 7379  any client of memcached, on the same data

Exit codes: 0 ended by Ctrl-C or SIGTERM, 1 failed, 2 the command line is wrong.";

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
