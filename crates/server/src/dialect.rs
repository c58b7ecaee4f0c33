//! What a connection speaks: which protocol its first bytes tell, and the parser of its requests.

use hotcopy_wire::memcached::{self, Beginning, beginning};
use hotcopy_wire::resp::{self, Limits, Progress};

use crate::command::{self, Context};
use crate::config::Protocol;
use crate::memcached as memcached_commands;
use crate::output::Output;
use crate::session::Session;

/// What a client may send before it has presented the password, as in Redis.
const UNAUTHENTICATED: Limits = Limits {
    max_inline: 16 * 1024,
    max_args: 10,
    max_bulk: 16 * 1024,
    max_depth: 1,
};

/// The first byte of a TLS handshake, and that of memcached's binary protocol.
const TLS: u8 = 0x16;
const BINARY: u8 = 0x80;

/// The protocol of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Resp,
    Memcached,
}

/// What a connection's first bytes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    Speaks(Dialect),
    /// More has to arrive.
    Nothing,
    /// It speaks what is not served: it gets this line, and ends.
    Refused(&'static str),
}

/// Tells the protocol by a connection's first bytes, if none is prescribed.
pub(crate) fn tell(prescribed: Protocol, is_authenticated: bool, bytes: &[u8]) -> Told {
    let told = match (prescribed, bytes) {
        (Protocol::Resp, _) => Told::Speaks(Dialect::Resp),
        (_, [TLS, ..]) => Told::Refused("CLIENT_ERROR this port does not speak TLS"),
        (_, [BINARY, ..]) => Told::Refused(
            "CLIENT_ERROR the binary protocol of memcached is not served, use the text protocol",
        ),
        (Protocol::Memcached, _) => Told::Speaks(Dialect::Memcached),
        (Protocol::Auto, _) => match beginning(bytes) {
            Beginning::Verb => Told::Speaks(Dialect::Memcached),
            Beginning::Other => Told::Speaks(Dialect::Resp),
            Beginning::Unclear => Told::Nothing,
        },
    };
    match told {
        Told::Speaks(Dialect::Memcached) if !is_authenticated => Told::Refused(
            "CLIENT_ERROR authentication is needed, which the memcached text protocol has none for",
        ),
        told => told,
    }
}

/// Finds the requests of a connection.
#[derive(Debug)]
pub(crate) enum Parser {
    /// The protocol is not told yet.
    Unknown,
    Resp(Box<resp::RequestParser>),
    Memcached(memcached::RequestParser),
}

/// Why nothing that follows can be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error(transparent)]
    Resp(#[from] resp::ProtocolError),
    #[error(transparent)]
    Memcached(#[from] memcached::LineTooLong),
}

impl Parser {
    /// A parser for a request's first byte, perhaps a spare one.
    pub(crate) fn new(
        dialect: Dialect,
        is_authenticated: bool,
        spare: &mut Option<Box<resp::RequestParser>>,
    ) -> Self {
        let new = |limits| Box::new(resp::RequestParser::new(limits));
        match dialect {
            Dialect::Memcached => {
                Parser::Memcached(memcached::RequestParser::new(memcached::Limits::default()))
            }
            Dialect::Resp if is_authenticated => {
                Parser::Resp(spare.take().unwrap_or_else(|| new(Limits::default())))
            }
            Dialect::Resp => Parser::Resp(new(UNAUTHENTICATED)),
        }
    }

    pub(crate) fn parse(&mut self, input: &[u8]) -> Result<Progress, Unreadable> {
        match self {
            Parser::Unknown => Ok(Progress::Incomplete { wanted: 1 }),
            Parser::Resp(parser) => Ok(parser.parse(input)?),
            Parser::Memcached(parser) => Ok(parser.parse(input)?),
        }
    }

    /// Executes the request that [`parse`](Self::parse) completed.
    pub(crate) fn execute(&self, context: &mut Context<'_>, request: &[u8]) {
        match self {
            Parser::Unknown => {}
            Parser::Resp(parser) => {
                let args = parser.args(request);
                if !args.is_empty() {
                    command::dispatch(context, args);
                }
            }
            Parser::Memcached(parser) => {
                memcached_commands::dispatch(context, parser.message(request));
            }
        }
    }

    pub(crate) fn reset(&mut self) {
        match self {
            Parser::Unknown => {}
            Parser::Resp(parser) => parser.reset(),
            Parser::Memcached(parser) => parser.reset(),
        }
    }

    /// Memory held beside the parser itself.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Parser::Unknown | Parser::Memcached(_) => 0,
            Parser::Resp(parser) => parser.heap_bytes(),
        }
    }
}

/// Whose fault it is that a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Client,
    Server,
}

/// Appends the line after which a connection ends.
pub(crate) fn reply_fault(output: &mut Output, session: &Session, fault: Fault, text: &str) {
    if session.dialect != Some(Dialect::Memcached) {
        let mut reply = output.encoder(session.version);
        return reply.error(&format!("ERR {text}"));
    }
    let kind = match fault {
        Fault::Client => "CLIENT_ERROR",
        Fault::Server => "SERVER_ERROR",
    };
    let line = format!("{kind} {text}\r\n");
    output.text().extend_from_slice(line.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell_the_protocol() {
        let told = |bytes: &[u8]| tell(Protocol::Auto, true, bytes);
        for bytes in [
            &b"*"[..],
            b"*1\r\n",
            b"PING\r\n",
            b"ping\r\n",
            b"getx",
            b" get k",
            b"\r\n",
        ] {
            assert_eq!(told(bytes), Told::Speaks(Dialect::Resp), "{bytes:?}");
        }
        for bytes in [&b"get k"[..], b"version\r\n", b"quit\n", b"mg k v\r\n"] {
            assert_eq!(told(bytes), Told::Speaks(Dialect::Memcached), "{bytes:?}");
        }
        for bytes in [&b"g"[..], b"get", b"version", b"flush_al"] {
            assert_eq!(told(bytes), Told::Nothing, "{bytes:?}");
        }
        for bytes in [&b"\x16\x03\x01"[..], b"\x80\x00"] {
            assert!(matches!(told(bytes), Told::Refused(_)), "{bytes:?}");
        }
    }

    #[test]
    fn a_protocol_can_be_prescribed() {
        let told = |protocol| tell(protocol, true, b"get k\r\n");
        assert_eq!(told(Protocol::Resp), Told::Speaks(Dialect::Resp));
        assert_eq!(told(Protocol::Memcached), Told::Speaks(Dialect::Memcached));
        let told = tell(Protocol::Memcached, true, b"*");
        assert_eq!(told, Told::Speaks(Dialect::Memcached));
    }

    #[test]
    fn memcached_is_refused_where_there_is_a_password() {
        let told = |bytes| tell(Protocol::Auto, false, bytes);
        assert!(matches!(told(b"get k\r\n"), Told::Refused(_)));
        assert_eq!(told(b"AUTH"), Told::Speaks(Dialect::Resp));
    }
}
