//! The conformance cases: one list, in `tests/conformance/*.txt`, that every server and protocol is held to.
//! `docs/testing.md` describes the notation.

mod case;
mod pattern;
mod runner;
mod scanner;

pub use case::{Action, Case, Step, cases, parse};
pub use pattern::Pattern;
pub use runner::{Configuration, Transport, run, run_on};
pub use scanner::SyntaxError;
