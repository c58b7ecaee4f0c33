//! A server in this process and a client that compares replies byte for byte.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hotcopy_server::{Config, Server, ServerError, StopHandle};

/// Longer than anything that is waited for in a test that passes.
const PATIENCE: Duration = Duration::from_secs(20);

/// Two loops on a free port.
pub(crate) fn config() -> Config {
    Config {
        port: Some(0),
        threads: 2,
        ..Config::default()
    }
}

pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    stop: StopHandle,
    running: Option<JoinHandle<Result<(), ServerError>>>,
}

impl TestServer {
    pub(crate) fn start(config: Config) -> Self {
        let server = Server::bind(config).unwrap();
        TestServer {
            address: server.tcp_addr().unwrap(),
            stop: server.stop_handle(),
            running: Some(std::thread::spawn(|| server.run())),
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(TcpStream::connect(self.address).unwrap())
    }

    /// One number of `INFO`.
    pub(crate) fn info(&self, field: &str) -> u64 {
        let text = self.client().text(&["INFO"]);
        let mut lines = text.lines();
        let value = lines.find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        value.unwrap().parse().unwrap()
    }

    pub(crate) fn stop(&mut self) {
        self.stop.stop();
        if let Some(running) = self.running.take() {
            running.join().unwrap().unwrap();
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

pub(crate) fn request(args: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let mut request = format!("*{}\r\n", args.len()).into_bytes();
    for arg in args {
        let arg = arg.as_ref();
        request.extend_from_slice(format!("${}\r\n", arg.len()).as_bytes());
        request.extend_from_slice(arg);
        request.extend_from_slice(b"\r\n");
    }
    request
}

/// Waits until `condition` holds.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) struct Client<S = TcpStream> {
    pub(crate) stream: S,
}

impl Client<TcpStream> {
    pub(crate) fn new(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client { stream }
    }

    /// Whether nothing arrives for a short while.
    pub(crate) fn is_silent(&mut self) -> bool {
        let short = Duration::from_millis(50);
        self.stream.set_read_timeout(Some(short)).unwrap();
        let read = self.stream.read(&mut [0; 1]);
        self.stream.set_read_timeout(Some(PATIENCE)).unwrap();
        read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }
}

impl<S: Read + Write> Client<S> {
    pub(crate) fn send(&mut self, args: &[impl AsRef<[u8]>]) {
        self.stream.write_all(&request(args)).unwrap();
    }

    /// Sends a request and compares the reply.
    #[track_caller]
    pub(crate) fn expect(&mut self, args: &[impl AsRef<[u8]>], reply: &str) {
        self.send(args);
        self.expect_reply(reply);
    }

    #[track_caller]
    pub(crate) fn expect_reply(&mut self, reply: &str) {
        let mut received = vec![0; reply.len()];
        let read = self.stream.read_exact(&mut received);
        let received = String::from_utf8_lossy(&received).into_owned();
        assert!(read.is_ok(), "{read:?} after {received:?}");
        assert_eq!(received, reply);
    }

    /// One line without its end.
    pub(crate) fn line(&mut self) -> String {
        let mut line = Vec::new();
        let mut byte = [0];
        while !line.ends_with(b"\r\n") {
            self.stream.read_exact(&mut byte).unwrap();
            line.push(byte[0]);
        }
        line.truncate(line.len() - 2);
        String::from_utf8(line).unwrap()
    }

    /// Reads a bulk string.
    pub(crate) fn bulk(&mut self) -> Vec<u8> {
        let header = self.line();
        let len: usize = header.strip_prefix('$').unwrap().parse().unwrap();
        let mut bulk = vec![0; len + 2];
        self.stream.read_exact(&mut bulk).unwrap();
        bulk.truncate(len);
        bulk
    }

    pub(crate) fn text(&mut self, args: &[impl AsRef<[u8]>]) -> String {
        self.send(args);
        String::from_utf8(self.bulk()).unwrap()
    }

    pub(crate) fn array_len(&mut self) -> usize {
        self.line().strip_prefix('*').unwrap().parse().unwrap()
    }

    /// What arrives until the server ends the connection.
    pub(crate) fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
            Err(error) => panic!("the connection goes on: {error}"),
        }
        String::from_utf8_lossy(&rest).into_owned()
    }
}
