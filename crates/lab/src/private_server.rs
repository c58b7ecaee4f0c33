//! Private servers: started for one experiment on a free loopback port, without persistence, and
//! ended with it.

use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::child::{BoundChild, spawn_bound};
use crate::connect::connect_blocking;
use crate::error::Error;
use crate::inspect;
use crate::target::{RedisUrl, program_name};

/// A server that is not ready after so long will not become ready.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// A running private server.
#[derive(Debug)]
pub(crate) struct PrivateServer {
    url: RedisUrl,
    child: BoundChild,
}

impl PrivateServer {
    /// Our own server, from this very executable.
    pub(crate) fn embedded() -> Result<Self, Error> {
        let program = std::env::current_exe().map_err(Error::system("finding our own program"))?;
        Self::start_hotcopy(&[program.to_string_lossy().into_owned()])
    }

    /// The server of a command line: redis-server, valkey-server or hotcopy.
    pub(crate) fn spawn(words: &[String]) -> Result<Self, Error> {
        let program = words.first().map_or("", |word| program_name(word));
        if program.starts_with("hotcopy") {
            Self::start_hotcopy(words)
        } else {
            Self::start_redis(words)
        }
    }

    pub(crate) fn url(&self) -> &RedisUrl {
        &self.url
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.0.id()
    }

    /// hotcopy picks a free port itself and says which.
    fn start_hotcopy(words: &[String]) -> Result<Self, Error> {
        let mut command = Command::new(&words[0]);
        if words.get(1).is_none_or(|word| word != "serve") {
            command.arg("serve");
        }
        command.args(&words[1..]).args(["--port", "0"]);
        // Meant for a server of the user's; nobody gives this one a password.
        command.env_remove("HOTCOPY_PASSWORD");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = start(&mut command, words)?;
        let stdout = child.0.stdout.take().expect("stdout is piped");
        let Some(port) = announced_port(stdout) else {
            return Err(failed(
                words,
                &last_words(&mut child, "it did not say that it is ready"),
            ));
        };
        // Nobody reads its messages from here on; a full pipe would block it.
        if let Some(mut stderr) = child.0.stderr.take() {
            std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        }
        Ok(PrivateServer {
            url: loopback_url(port),
            child,
        })
    }

    /// redis-server and its relatives need a port chosen for them, and arguments that keep them
    /// from reading or writing a dump.
    fn start_redis(words: &[String]) -> Result<Self, Error> {
        let port = free_port()?;
        let directory = std::env::temp_dir();
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", "", "--appendonly", "no", "--daemonize", "no"])
            .args(["--dbfilename", &format!("hotcopy-lab-{port}.rdb")])
            .arg("--dir")
            .arg(&directory);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = start(&mut command, words)?;
        let started = Instant::now();
        loop {
            if child
                .0
                .try_wait()
                .map_err(Error::system("waiting for the server"))?
                .is_some()
            {
                return Err(failed(words, &last_words(&mut child, "it ended at once")));
            }
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
                break;
            }
            if started.elapsed() > START_TIMEOUT {
                return Err(failed(words, "it does not listen on the port it was given"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let url = loopback_url(port);
        if !is_answered_by(&url, child.0.id())? {
            return Err(failed(
                words,
                "another server took the port that was meant for it; try again",
            ));
        }
        if let Some(mut stdout) = child.0.stdout.take() {
            std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
        }
        if let Some(mut stderr) = child.0.stderr.take() {
            std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        }
        Ok(PrivateServer { url, child })
    }
}

/// Whether the server there is the process that we started: nothing may be written to another.
fn is_answered_by(url: &RedisUrl, pid: u32) -> Result<bool, Error> {
    let info = inspect::info(&mut connect_blocking(url)?);
    Ok(info
        .get("process_id")
        .is_some_and(|id| *id == pid.to_string()))
}

fn start(command: &mut Command, words: &[String]) -> Result<BoundChild, Error> {
    spawn_bound(command).map(BoundChild).map_err(|error| {
        let hint = match error.kind() {
            std::io::ErrorKind::NotFound if !Path::new(&words[0]).exists() => {
                "; install it or give its path"
            }
            _ => "",
        };
        failed(words, &format!("{error}{hint}"))
    })
}

fn failed(words: &[String], cause: &str) -> Error {
    Error::Spawn {
        command: shell_words::join(words),
        cause: cause.into(),
    }
}

fn loopback_url(port: u16) -> RedisUrl {
    format!("redis://127.0.0.1:{port}")
        .parse()
        .expect("a well-formed URL")
}

/// A port nobody listens on now. Another process may take it before our server does; then the
/// server says so and ends.
fn free_port() -> Result<u16, Error> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(Error::system("looking for a free port"))
}

/// The port in `… ready: tcp 127.0.0.1:PORT, …`, or nothing if the line does not come in time.
fn announced_port(stdout: ChildStdout) -> Option<u16> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut lines = BufReader::new(stdout).lines();
        let _ = sender.send(lines.next().and_then(Result::ok));
        lines.for_each(drop);
    });
    let line = receiver.recv_timeout(START_TIMEOUT).ok()??;
    let (_, address) = line.split_once("ready: tcp ")?;
    let (address, _) = address.split_once(',').unwrap_or((address, ""));
    address.rsplit(':').next()?.parse().ok()
}

/// The last line the server wrote before it gave up.
fn last_words(child: &mut BoundChild, otherwise: &str) -> String {
    let _ = child.0.kill();
    let mut text = String::new();
    if let Some(mut stdout) = child.0.stdout.take() {
        let _ = stdout.read_to_string(&mut text);
    }
    if let Some(mut stderr) = child.0.stderr.take() {
        let _ = stderr.read_to_string(&mut text);
    }
    text.lines()
        .rfind(|line| !line.trim().is_empty())
        .unwrap_or(otherwise)
        .trim()
        .to_owned()
}
