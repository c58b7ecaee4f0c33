//! The memcached text protocol: a request is a line, which for a storage command says how long the data block is
//! that follows.
//!
//! Lines are looked at whole, so what is kept of an unfinished request is what has arrived of its line.
//! The wording of errors is memcached's, since clients look at it.

mod error;
mod frame;
mod number;
mod request;

pub use error::LineError;
pub use frame::{Frame, LONG_LINE_BYTES, SHORT_LINE_BYTES, is_verb, next_line};
pub use request::{Arithmetic, Get, Keys, MAX_KEY_BYTES, Request, Store, StoreMode, parse};
