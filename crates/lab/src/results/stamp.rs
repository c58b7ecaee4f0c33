//! On what a result was measured: without it a number means nothing.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machine that ran the client. What cannot be read is `None`, printed as "unknown".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MachineStamp {
    /// Processor model.
    pub cpu: Option<String>,
    /// Cores this process may use.
    pub cores: usize,
    /// Memory of the machine.
    pub memory_bytes: Option<u64>,
    /// Frequency governor of the first core.
    pub governor: Option<String>,
    /// Hypervisor, "none" on bare metal.
    pub hypervisor: Option<String>,
    /// Operating system.
    pub os: String,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Source of the kernel's clock.
    pub clocksource: Option<String>,
    /// The allocator of the measured process.
    pub allocator: String,
    /// The compiler that built this binary.
    pub rustc: String,
    /// `release` or `debug`.
    pub profile: String,
}

/// The server that owned the value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerStamp {
    /// `hotcopy`, `redis` or `valkey`.
    pub name: String,
    /// Its own version.
    pub version: String,
    /// The target as given, passwords masked.
    pub target: String,
    /// Reached over loopback or a Unix socket.
    pub local: bool,
    /// Its process, where it could be identified on this machine.
    pub pid: Option<u32>,
    /// Settings that change what a read costs (`save`, `appendonly`, `io-threads`, `maxmemory`, …);
    /// empty where the server does not tell.
    pub settings: BTreeMap<String, String>,
}
