//! The conformance cases: one list, in `tests/conformance/*.txt`, that every server and protocol is held to.
//! `docs/testing.md` describes the notation.

mod case;
pub mod memcached;
mod pattern;
mod runner;
mod scanner;

pub use case::{Action, Case, Notation, Step, cases, parse};
pub use pattern::Pattern;
pub use runner::{Configuration, Resp, Transport, run, run_on};
pub use scanner::SyntaxError;
