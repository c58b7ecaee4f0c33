//! RESP, the Redis serialization protocol, versions 2 and 3.
//!
//! | side | reads | writes |
//! |---|---|---|
//! | server | [`RequestParser`], arguments as slices of the input ([`Args`]) | [`Encoder`], which falls back to RESP2 forms by itself |
//! | client | [`ReplyDecoder`], replies as [`Frame`]s that share the input's memory | [`encode_command`] |
//!
//! Both readers are incremental (a message may arrive in any pieces, and no byte of a value is
//! looked at twice), keep their place without recursion, and are bounded by [`Limits`]. A declared
//! length is only ever compared, never allocated: what they hold grows with the bytes that did
//! arrive.
//!
//! # Where this differs from Redis 7.0
//! - A terminator must be CR LF. Redis looks for the CR and skips whatever follows it, and does not
//!   look at the two bytes after a bulk.
//! - A line's bound holds wherever the line happens to be cut by the network. Redis checks it only
//!   while the line is incomplete.
//! - An argument that does not start with `$` is refused at its first byte, not at the end of its
//!   line.
//! - More than [`Limits::max_args`] arguments are refused. Redis 7 takes any 31-bit count.
//! - A NUL in an inline request is an ordinary byte. Redis stops there and waits for ever.

mod args;
mod command;
mod decode;
mod encode;
mod error;
mod frame;
mod inline;
mod limits;
mod line;
mod number;
mod open;
mod request;

pub use args::{Args, ArgsIter};
pub use command::encode_command;
pub use decode::ReplyDecoder;
pub use encode::Encoder;
pub use error::{ProtocolError, ReplyError};
pub use frame::Frame;
pub use limits::Limits;
pub use request::RequestParser;

pub use crate::progress::Progress;

/// The protocol version that a connection has agreed on (`HELLO 2` or `HELLO 3`; without `HELLO` it
/// is 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Version {
    /// RESP2, where every connection starts.
    #[default]
    Resp2,
    /// RESP3, with maps, sets, doubles, booleans and pushes of their own.
    Resp3,
}
