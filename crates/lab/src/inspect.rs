//! Who the server is, and how its CPU time can be read from here.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use crate::error::Error;
use crate::meters::cpu::ProcessCpu;
use crate::results::ServerStamp;
use crate::results::cost::ServerCpuSource;
use crate::target::RedisUrl;

/// Settings that change what a read costs.
const SETTINGS: [&str; 7] = [
    "save",
    "appendonly",
    "io-threads",
    "maxmemory",
    "maxmemory-policy",
    "databases",
    "hz",
];

/// The fields of `INFO`, or nothing where the server does not allow it.
pub(crate) fn info(connection: &mut redis::Connection) -> HashMap<String, String> {
    let text: String = redis::cmd("INFO").query(connection).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.trim_end().split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Who the server says it is. `private_pid` is its process if we started it.
pub(crate) fn server_stamp(
    connection: &mut redis::Connection,
    url: &RedisUrl,
    target: String,
    private_pid: Option<u32>,
) -> Result<ServerStamp, Error> {
    // The first command of the run: a server that talks nonsense is found out here.
    redis::cmd("PING")
        .query::<redis::Value>(connection)
        .map_err(|error| Error::Store {
            doing: format!("PING on {url}"),
            cause: error.to_string(),
        })?;
    let info = info(connection);
    let field = |name: &str| info.get(name).cloned();
    let (name, version) = if let Some(version) = field("hotcopy_version") {
        ("hotcopy", Some(version))
    } else if let Some(version) = field("valkey_version") {
        ("valkey", Some(version))
    } else {
        ("redis", field("redis_version"))
    };
    let local = url.is_local();
    let mut settings = BTreeMap::new();
    for name in SETTINGS {
        let mut get = redis::cmd("CONFIG");
        let found = get
            .arg("GET")
            .arg(name)
            .query::<BTreeMap<String, String>>(connection);
        let Ok(found) = found else { break };
        settings.extend(found);
    }
    Ok(ServerStamp {
        name: name.into(),
        version: version.unwrap_or_else(|| "unknown".into()),
        target,
        local,
        pid: private_pid.or_else(|| local.then(|| local_process(&info)).flatten()),
        settings,
    })
}

/// The server's process on this machine.
///
/// `INFO` tells a process id, but a container or a tunnel on loopback gives one of another
/// namespace. So the process must also have used as much CPU time as the server says it has.
fn local_process(info: &HashMap<String, String>) -> Option<u32> {
    let pid = info.get("process_id")?.parse().ok()?;
    let said = info_cpu(info)?;
    let read = ProcessCpu::of(pid).ok()?.read().ok()?;
    (read.abs_diff(said) < Duration::from_millis(50)).then_some(pid)
}

fn info_cpu(info: &HashMap<String, String>) -> Option<Duration> {
    let seconds = |name: &str| info.get(name)?.parse::<f64>().ok();
    Duration::try_from_secs_f64(seconds("used_cpu_user")? + seconds("used_cpu_sys")?).ok()
}

/// Reads the CPU time of the server.
pub(crate) enum ServerCpuMeter {
    /// From the kernel: all threads, in nanoseconds.
    Process(ProcessCpu),
    /// From `INFO`, over a connection of its own.
    Info(Box<redis::Connection>),
}

impl ServerCpuMeter {
    /// The best way there is, or `None` if the server tells nothing.
    pub(crate) fn new(pid: Option<u32>, mut connection: redis::Connection) -> Option<Self> {
        if let Some(process) = pid.and_then(|pid| ProcessCpu::of(pid).ok()) {
            return Some(ServerCpuMeter::Process(process));
        }
        info_cpu(&info(&mut connection))?;
        Some(ServerCpuMeter::Info(Box::new(connection)))
    }

    pub(crate) fn source(&self) -> ServerCpuSource {
        match self {
            ServerCpuMeter::Process(_) => ServerCpuSource::ProcessClock,
            ServerCpuMeter::Info(_) => ServerCpuSource::Info,
        }
    }

    /// CPU time used until now.
    pub(crate) fn read(&mut self) -> Option<Duration> {
        match self {
            ServerCpuMeter::Process(process) => process.read().ok(),
            ServerCpuMeter::Info(connection) => info_cpu(&info(connection)),
        }
    }
}
