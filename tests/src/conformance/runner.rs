//! Cases in RESP: how they are written, and running them against one server over one protocol and transport.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

use super::case::{Action, Case, Notation, Step, cases};
use super::pattern::Pattern;
use super::scanner::{SyntaxError, arguments};
use crate::resp::{Address, Client, ClientError, Protocol};
use crate::servers::{Kind, Server};
use crate::skip::require;

/// How long a connection must stay quiet to count as `silent`.
const SILENCE: Duration = Duration::from_millis(50);

/// Cases with commands as words, and replies as they are printed.
#[derive(Debug)]
pub struct Resp;

impl Notation for Resp {
    type Command = Vec<Vec<u8>>;
    /// Behind `2|` or `3|` it holds for that protocol only.
    type Reply = (Option<Protocol>, Pattern);

    const FOLDER: &'static str = "";

    fn command(text: &str) -> Result<Self::Command, SyntaxError> {
        arguments(text)
    }

    fn reply(text: &str) -> Result<Self::Reply, SyntaxError> {
        let (protocol, pattern) = match text.split_once('|') {
            Some(("2", pattern)) => (Some(Protocol::Resp2), pattern),
            Some(("3", pattern)) => (Some(Protocol::Resp3), pattern),
            _ => (None, text),
        };
        Ok((protocol, Pattern::parse(pattern)?))
    }
}

/// How a server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Transport {
    Tcp,
    Unix,
}

/// A server and a way to speak to it.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Configuration {
    pub server: Kind,
    pub protocol: Protocol,
    pub transport: Transport,
}

impl Configuration {
    /// Starts the server, if this machine has it.
    ///
    /// # Panics
    ///
    /// When the server does not come up.
    #[must_use]
    pub fn start(self) -> Option<Server> {
        require(Server::start(self.server))
    }

    /// Connects to a server that [`start`](Self::start) started.
    ///
    /// # Errors
    ///
    /// When the server does not accept the connection or the protocol.
    pub fn connect(self, server: &Server) -> Result<Client, ClientError> {
        Client::connect(&self.transport.address(server), self.protocol)
    }
}

impl Transport {
    pub(super) fn address(self, server: &Server) -> Address {
        match self {
            Self::Tcp => server.tcp(),
            Self::Unix => server.unix(),
        }
    }
}

/// Starts the configured server and runs every case that is for it.
///
/// # Panics
///
/// With a list of all cases that failed.
pub fn run(configuration: Configuration) {
    if let Some(server) = configuration.start() {
        run_on(&server, configuration.protocol, configuration.transport);
    }
}

/// Runs every case that is for this server.
///
/// # Panics
///
/// With a list of all cases that failed.
pub fn run_on(server: &Server, protocol: Protocol, transport: Transport) {
    let address = transport.address(server);
    let mut keeper = server.connect();
    let label = label(&mut keeper);
    let cases: Vec<Case<Resp>> = cases()
        .into_iter()
        .filter(|case| case.is_for(&label))
        .collect();
    assert!(!cases.is_empty(), "no case is for {label}");
    let mut failures = Vec::new();
    for case in &cases {
        keeper.command(&["FLUSHALL"]).expect("the server is alive");
        let mut connections = Connections {
            address: &address,
            protocol,
            open: HashMap::new(),
        };
        if let Err((step, mismatch)) = connections.run(case) {
            failures.push(format!(
                "{}:{} {}\n    {mismatch}",
                case.file, step.line, case.title
            ));
        }
    }
    assert!(
        failures.is_empty(),
        "{label}: {} of {} cases failed\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
    eprintln!("{label}: {} cases passed", cases.len());
}

/// `redis-7.0.15`, `valkey-9.1.2`, `hotcopy-0.1.0`: what `@not` and `@only` compare with.
fn label(client: &mut Client) -> String {
    let reply = client
        .command(&["INFO", "server"])
        .expect("the server has INFO");
    let text = String::from_utf8_lossy(reply.bytes().expect("INFO is text")).into_owned();
    // Valkey and hotcopy state a redis_version too, for clients that choose by it.
    ["hotcopy", "valkey", "redis"]
        .iter()
        .find_map(|name| {
            let field = format!("{name}_version:");
            let version = text.lines().find_map(|line| line.strip_prefix(&field))?;
            Some(format!("{name}-{version}"))
        })
        .expect("INFO states a version")
}

/// The connections of one case, opened when they are first named.
struct Connections<'a> {
    address: &'a Address,
    protocol: Protocol,
    open: HashMap<&'a str, Connection>,
}

struct Connection {
    client: Client,
    /// What the connection speaks now: a case may change it.
    protocol: Protocol,
}

impl<'a> Connections<'a> {
    fn run(&mut self, case: &'a Case<Resp>) -> Result<(), (&'a Step<Resp>, String)> {
        for step in &case.steps {
            self.step(step).map_err(|mismatch| (step, mismatch))?;
        }
        let Some(last) = case.steps.last() else {
            return Ok(());
        };
        for connection in self.open.values_mut() {
            // What a closed connection or a reply too many would say belongs to no step of the next case.
            if let Ok(false) = connection.client.is_silent(Duration::from_millis(1)) {
                let reply = connection.client.read_reply();
                return Err((last, format!("a reply that nobody asked for: {reply:?}")));
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &'a Step<Resp>) -> Result<(), String> {
        let connection = self.connection(&step.connection).map_err(text)?;
        let client = &mut connection.client;
        match &step.action {
            Action::Command(arguments) => {
                client.send(arguments).map_err(text)?;
                connection.follow_protocol(arguments);
                Ok(())
            }
            Action::Raw(bytes) => client.send_raw(bytes).map_err(text),
            Action::Sleep(duration) => {
                std::thread::sleep(*duration);
                Ok(())
            }
            Action::Expect((Some(only), _)) if *only != connection.protocol => Ok(()),
            Action::Expect((_, pattern)) => match client.read_reply() {
                Ok(reply) if pattern.matches(&reply, connection.protocol) => Ok(()),
                Ok(reply) => Err(format!("got {reply}")),
                Err(error) => Err(text(error)),
            },
            Action::Closed => match client.read_reply() {
                Err(ClientError::Closed) => Ok(()),
                Err(error) => Err(text(error)),
                Ok(reply) => Err(format!("the connection is not closed, but got {reply}")),
            },
            Action::Silent => match client.is_silent(SILENCE) {
                Ok(true) => Ok(()),
                Ok(false) => Err(format!("got {:?}", client.read_reply())),
                Err(error) => Err(text(error)),
            },
        }
    }

    fn connection(&mut self, name: &'a str) -> Result<&mut Connection, ClientError> {
        match self.open.entry(name) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => Ok(entry.insert(Connection {
                client: Client::connect(self.address, self.protocol)?,
                protocol: self.protocol,
            })),
        }
    }
}

impl Connection {
    fn follow_protocol(&mut self, command: &[Vec<u8>]) {
        let words: Vec<&[u8]> = command.iter().map(Vec::as_slice).collect();
        match words.as_slice() {
            [b"HELLO", b"2", ..] | [b"RESET"] => self.protocol = Protocol::Resp2,
            [b"HELLO", b"3", ..] => self.protocol = Protocol::Resp3,
            _ => {}
        }
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "used as a function for `map_err`"
)]
fn text(error: ClientError) -> String {
    error.to_string()
}
