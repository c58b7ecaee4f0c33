//! How a server is set up, and the bounds it keeps.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZero;
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::Duration;

const MIB: usize = 1024 * 1024;

/// What a request can carry, as in Redis.
pub const MAX_ITEM_BYTES: usize = 512 * MIB;

/// Settings of a [`Server`](crate::Server). The default listens on 127.0.0.1:7379 with a loop per core.
#[derive(Debug, Clone)]
pub struct Config {
    /// Address that the TCP port is bound to.
    pub bind: IpAddr,
    /// TCP port; 0 takes any free one, none opens no port.
    pub port: Option<u16>,
    /// Path of a Unix socket to listen on.
    pub unix: Option<PathBuf>,
    /// Event loops, each a thread of its own. At least one is started.
    pub threads: usize,
    /// Bound on the bytes that keys, values and their overhead take. None: no bound.
    pub max_memory: Option<u64>,
    /// Longest key and longest value. What is longer is refused.
    pub max_item_bytes: usize,
    /// What clients speak.
    pub protocol: Protocol,
    /// What clients must present with `AUTH` or `HELLO`. None: nothing.
    pub password: Option<Password>,
    /// Clients served at once; more are refused with an error. Lowered where the process may not
    /// open so many files.
    pub max_clients: usize,
    /// Numbered databases.
    pub databases: usize,
    /// Reply bytes that may wait for one client before nothing more is read from it or executed for
    /// it. Generous, because a client may send a whole pipeline before it reads the first reply.
    pub client_output_bytes: usize,
    /// Reply bytes that may wait for all clients together. Above it, a client may keep only
    /// [`crowded_output_bytes`](Self::crowded_output_bytes) waiting.
    pub total_output_bytes: usize,
    /// What one client may keep waiting while all together are above their bound.
    pub crowded_output_bytes: usize,
    /// Bytes that may wait for a subscriber; one that is slower than its channels is disconnected.
    pub subscriber_output_bytes: usize,
    /// Bytes of requests that have not arrived completely, over all clients. A client whose request
    /// would grow beyond it is disconnected.
    pub unfinished_request_bytes: usize,
    /// How long a client may send and be sent nothing before it is disconnected. Subscribers may
    /// stay. None: for ever.
    pub idle_timeout: Option<Duration>,
    /// How long a client may take nothing of what waits for it before it is disconnected.
    pub write_timeout: Duration,
    /// How long a stopping server goes on delivering replies that are already computed.
    pub stop_grace: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: Some(7379),
            unix: None,
            threads: available_parallelism().map_or(1, NonZero::get),
            max_memory: None,
            max_item_bytes: MAX_ITEM_BYTES,
            protocol: Protocol::Auto,
            password: None,
            max_clients: 20_000,
            databases: 16,
            client_output_bytes: 64 * MIB,
            total_output_bytes: 512 * MIB,
            crowded_output_bytes: MIB,
            subscriber_output_bytes: 32 * MIB,
            unfinished_request_bytes: 1024 * MIB,
            idle_timeout: None,
            write_timeout: Duration::from_secs(60),
            stop_grace: Duration::from_secs(5),
        }
    }
}

/// The protocol of the clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// Each connection's first bytes tell: a verb of memcached's text protocol, which is in lower case, or anything
    /// else.
    #[default]
    Auto,
    /// RESP2 and RESP3 alone.
    Resp,
    /// The text protocol of memcached alone.
    Memcached,
}

/// A password that no message shows.
#[derive(Clone)]
pub struct Password(String);

impl From<String> for Password {
    fn from(password: String) -> Self {
        Password(password)
    }
}

impl Password {
    /// The password itself.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
