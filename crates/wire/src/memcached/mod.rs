//! The text protocol of memcached: a request is a line, which for a storage command says how long the data block is
//! that follows.
//!
//! [`RequestParser`] finds where a request ends, however its bytes arrive. What a line says are slices of the
//! input; what is wrong with one is said in memcached's words, since clients look at them, and the connection goes on
//! behind it.
//!
//! # Where this differs from memcached 1.6
//! - A key must not contain control characters, as the description of the protocol says. The program takes them.
//! - Flags above 32 bits and lengths above 31 bits are refused. Version 1.6.18 takes the lower bits of them.
//! - A line's bound holds wherever the line happens to be cut by the network. memcached checks it only while the line is
//!   incomplete, and never for lines of `get` and `gets`.
//! - A NUL is a byte like any other. memcached ends the line there.

mod error;
mod limits;
mod number;
mod parser;
mod request;
mod verbs;

pub use error::{LineError, LineTooLong, Refused};
pub use limits::Limits;
pub use number::leading_number;
pub use parser::{Announced, Message, RequestParser};
pub use request::{Arithmetic, Get, Keys, MAX_KEY_BYTES, Request, Store, StoreMode, parse};
pub use verbs::{Beginning, VERBS, beginning};

pub use crate::progress::Progress;
