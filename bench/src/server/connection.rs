//! A connection that speaks as little of a protocol as the comparison needs, and costs the client the same for each.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::Failure;

/// Longer than any answer may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes that one system call reads or writes. Not more, because on few cores a client that has the kernel copy
/// much at once keeps the other clients from running, which is nothing that a server does to them.
const BUFFER_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    Resp,
    Memcached,
}

pub(super) struct Connection {
    stream: BufReader<TcpStream>,
    protocol: Protocol,
    request: Vec<u8>,
    line: Vec<u8>,
}

impl Connection {
    pub(super) fn open(address: SocketAddr, protocol: Protocol) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        Ok(Connection {
            stream: BufReader::with_capacity(BUFFER_BYTES, stream),
            protocol,
            request: Vec::new(),
            line: Vec::new(),
        })
    }

    /// Adds a read to the requests that are sent next.
    pub(super) fn add_get(&mut self, key: &str) {
        let len = key.len();
        let written = match self.protocol {
            Protocol::Resp => write!(self.request, "*2\r\n$3\r\nGET\r\n${len}\r\n{key}\r\n"),
            Protocol::Memcached => write!(self.request, "get {key}\r\n"),
        };
        written.expect("a vector takes everything");
    }

    /// Adds a write to the requests that are sent next.
    pub(super) fn add_set(&mut self, key: &str, value: &[u8]) {
        self.add_set_header(key, value.len());
        self.request.extend_from_slice(value);
        self.request.extend_from_slice(b"\r\n");
    }

    fn add_set_header(&mut self, key: &str, len: usize) {
        let key_len = key.len();
        let written = match self.protocol {
            Protocol::Resp => write!(
                self.request,
                "*3\r\n$3\r\nSET\r\n${key_len}\r\n{key}\r\n${len}\r\n"
            ),
            Protocol::Memcached => write!(self.request, "set {key} 0 0 {len}\r\n"),
        };
        written.expect("a vector takes everything");
    }

    pub(super) fn send(&mut self) -> Result<(), Failure> {
        self.stream.get_mut().write_all(&self.request)?;
        self.request.clear();
        Ok(())
    }

    /// Reads the answer of a read: the length of the value, if there is one.
    pub(super) fn take_value(&mut self) -> Result<Option<usize>, Failure> {
        self.read_line()?;
        let len = match self.protocol {
            Protocol::Resp => self.line.strip_prefix(b"$").and_then(number),
            Protocol::Memcached if self.line == b"END" => return Ok(None),
            Protocol::Memcached => self
                .line
                .rsplit(|byte| *byte == b' ')
                .next()
                .and_then(number),
        };
        let len = match len {
            Some(-1) => return Ok(None),
            Some(len) => usize::try_from(len).ok(),
            None => None,
        };
        let len = len.ok_or_else(|| self.unexpected())?;
        self.skip(len + 2)?;
        if self.protocol == Protocol::Memcached {
            self.read_line()?;
        }
        Ok(Some(len))
    }

    /// Reads the answer of a write.
    pub(super) fn take_stored(&mut self) -> Result<(), Failure> {
        self.read_line()?;
        let expected: &[u8] = match self.protocol {
            Protocol::Resp => b"+OK",
            Protocol::Memcached => b"STORED",
        };
        if self.line != expected {
            return Err(self.unexpected());
        }
        Ok(())
    }

    pub(super) fn get(&mut self, key: &str) -> Result<Option<usize>, Failure> {
        self.add_get(key);
        self.send()?;
        self.take_value()
    }

    pub(super) fn set(&mut self, key: &str, value: &[u8]) -> Result<(), Failure> {
        self.add_set_header(key, value.len());
        self.send()?;
        for piece in value.chunks(BUFFER_BYTES) {
            self.stream.get_mut().write_all(piece)?;
        }
        self.stream.get_mut().write_all(b"\r\n")?;
        self.take_stored()
    }

    fn read_line(&mut self) -> io::Result<()> {
        self.line.clear();
        self.stream.read_until(b'\n', &mut self.line)?;
        if self.line.pop() != Some(b'\n') {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.line.pop();
        Ok(())
    }

    fn skip(&mut self, len: usize) -> io::Result<()> {
        let mut rest = (&mut self.stream).take(len as u64);
        while rest.limit() > 0 {
            let piece = rest.fill_buf()?.len();
            if piece == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            rest.consume(piece);
        }
        Ok(())
    }

    fn unexpected(&self) -> Failure {
        Failure::Answer {
            line: String::from_utf8_lossy(&self.line).into_owned(),
        }
    }
}

fn number(digits: &[u8]) -> Option<i64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}
