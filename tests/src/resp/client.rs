//! The connection: commands out, replies in, over TCP or a Unix socket.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use super::Reply;

/// How long a reply may take before the test fails: far above anything but a hang, also on a busy machine.
const REPLY_TIMEOUT: Duration = Duration::from_secs(20);

/// Where a server listens.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Address {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// The protocol that a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Protocol {
    Resp2,
    Resp3,
}

/// Why there is no reply.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ClientError {
    #[error("the server closed the connection")]
    Closed,
    #[error("no reply in time")]
    Timeout,
    #[error("not RESP: {0}")]
    NotResp(String),
    #[error(transparent)]
    Io(io::Error),
}

impl From<io::Error> for ClientError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Self::Timeout,
            // A server that closes while bytes of ours are unread resets the connection.
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Io(error),
        }
    }
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// One connection.
pub struct Client {
    input: BufReader<Stream>,
}

impl Client {
    /// Connects and, for RESP3, says `HELLO 3`.
    ///
    /// # Errors
    ///
    /// When there is no connection or no RESP3.
    pub fn connect(address: &Address, protocol: Protocol) -> Result<Self, ClientError> {
        let stream = match address {
            Address::Tcp(address) => {
                let stream = TcpStream::connect(address)?;
                stream.set_nodelay(true)?;
                Stream::Tcp(stream)
            }
            Address::Unix(path) => Stream::Unix(UnixStream::connect(path)?),
        };
        let mut client = Self {
            input: BufReader::new(stream),
        };
        client.set_timeout(REPLY_TIMEOUT)?;
        if protocol == Protocol::Resp3 {
            match client.command(&["HELLO", "3"])? {
                Reply::Map(_) => {}
                other => return Err(ClientError::NotResp(format!("HELLO 3 got {other}"))),
            }
        }
        Ok(client)
    }

    /// Sends a command and reads its reply.
    ///
    /// # Errors
    ///
    /// When no reply comes or what comes is not a reply.
    pub fn command<A: AsRef<[u8]>>(&mut self, arguments: &[A]) -> Result<Reply, ClientError> {
        self.send(arguments)?;
        self.read_reply()
    }

    /// Sends a command.
    ///
    /// # Errors
    ///
    /// When the connection is gone.
    pub fn send<A: AsRef<[u8]>>(&mut self, arguments: &[A]) -> Result<(), ClientError> {
        let mut bytes = format!("*{}\r\n", arguments.len()).into_bytes();
        for argument in arguments {
            let argument = argument.as_ref();
            bytes.extend(format!("${}\r\n", argument.len()).as_bytes());
            bytes.extend(argument);
            bytes.extend(b"\r\n");
        }
        self.send_raw(&bytes)
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    ///
    /// When the connection is gone.
    pub fn send_raw(&mut self, bytes: &[u8]) -> Result<(), ClientError> {
        Ok(self.input.get_mut().write_all(bytes)?)
    }

    /// Sets how long a reading, and a writing, may wait.
    ///
    /// # Errors
    ///
    /// When the system refuses the timeout.
    pub fn set_timeout(&mut self, timeout: Duration) -> Result<(), ClientError> {
        match self.input.get_mut() {
            Stream::Tcp(stream) => {
                stream.set_read_timeout(Some(timeout))?;
                stream.set_write_timeout(Some(timeout))?;
            }
            Stream::Unix(stream) => {
                stream.set_read_timeout(Some(timeout))?;
                stream.set_write_timeout(Some(timeout))?;
            }
        }
        Ok(())
    }

    /// Whether nothing arrives within `timeout`.
    ///
    /// # Errors
    ///
    /// When the connection is gone.
    pub fn is_silent(&mut self, timeout: Duration) -> Result<bool, ClientError> {
        self.set_timeout(timeout)?;
        let silent = match self.input.fill_buf().map(<[u8]>::is_empty) {
            Ok(true) => Err(ClientError::Closed),
            Ok(false) => Ok(false),
            Err(error) => match error.into() {
                ClientError::Timeout => Ok(true),
                other => Err(other),
            },
        };
        self.set_timeout(REPLY_TIMEOUT)?;
        silent
    }

    /// Reads one reply.
    ///
    /// # Errors
    ///
    /// When no reply comes or what comes is not a reply.
    pub fn read_reply(&mut self) -> Result<Reply, ClientError> {
        let line = self.read_line()?;
        let (kind, rest) = line
            .split_first()
            .ok_or_else(|| ClientError::NotResp("an empty line".into()))?;
        match kind {
            b'+' => Ok(Reply::Simple(rest.to_vec())),
            b'-' => Ok(Reply::Error(rest.to_vec())),
            b':' => number(rest).map(Reply::Integer),
            b'$' if rest == b"-1" => Ok(Reply::Null),
            b'$' => self.read_bulk(rest).map(Reply::Bulk),
            b'_' => Ok(Reply::Null),
            b'*' if rest == b"-1" => Ok(Reply::NullArray),
            b'*' => self.read_items(rest, 1).map(Reply::Array),
            b'~' => self.read_items(rest, 1).map(Reply::Set),
            b'>' => self.read_items(rest, 1).map(Reply::Push),
            b'%' => Ok(Reply::Map(pairs(self.read_items(rest, 2)?))),
            b',' => text(rest).map(Reply::Double),
            b'(' => text(rest).map(Reply::BigNumber),
            b'#' => Ok(Reply::Boolean(rest == b"t")),
            b'=' => {
                let bulk = self.read_bulk(rest)?;
                let text = bulk.get(4..).filter(|_| bulk[3] == b':');
                text.map(|text| Reply::Verbatim(text.to_vec()))
                    .ok_or_else(|| ClientError::NotResp("a verbatim string without format".into()))
            }
            _ => Err(not_resp(&line)),
        }
    }

    fn read_items(&mut self, count: &[u8], per_entry: usize) -> Result<Vec<Reply>, ClientError> {
        let count = length(count)? * per_entry;
        (0..count).map(|_| self.read_reply()).collect()
    }

    fn read_bulk(&mut self, announced: &[u8]) -> Result<Vec<u8>, ClientError> {
        let mut bytes = vec![0; length(announced)? + 2];
        self.input.read_exact(&mut bytes)?;
        if bytes.ends_with(b"\r\n") {
            bytes.truncate(bytes.len() - 2);
            Ok(bytes)
        } else {
            Err(ClientError::NotResp(
                "a bulk without CR LF behind it".into(),
            ))
        }
    }

    /// Reads one line; returns it without its end.
    ///
    /// # Errors
    ///
    /// When no line comes.
    pub fn read_line(&mut self) -> Result<Vec<u8>, ClientError> {
        let mut line = Vec::new();
        self.input.read_until(b'\n', &mut line)?;
        match line.strip_suffix(b"\r\n") {
            Some(text) => Ok(text.to_vec()),
            None if line.is_empty() => Err(ClientError::Closed),
            None => Err(not_resp(&line)),
        }
    }
}

fn pairs(items: Vec<Reply>) -> Vec<(Reply, Reply)> {
    let mut items = items.into_iter();
    std::iter::from_fn(|| items.next().zip(items.next())).collect()
}

fn number(digits: &[u8]) -> Result<i64, ClientError> {
    let text = str::from_utf8(digits).map_err(|_| not_resp(digits))?;
    text.parse().map_err(|_| not_resp(digits))
}

fn length(digits: &[u8]) -> Result<usize, ClientError> {
    usize::try_from(number(digits)?).map_err(|_| not_resp(digits))
}

fn text(bytes: &[u8]) -> Result<String, ClientError> {
    String::from_utf8(bytes.to_vec()).map_err(|_| not_resp(bytes))
}

fn not_resp(line: &[u8]) -> ClientError {
    ClientError::NotResp(line.escape_ascii().to_string())
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(buffer),
            Self::Unix(stream) => stream.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
