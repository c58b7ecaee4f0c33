//! Exit codes, and the one line that a failure prints.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | something outside the command line failed |
//! | 2 | the command line has to be written differently |
//! | 130 | ended by Ctrl-C; what was measured until then was printed |

use std::fmt::Display;
use std::process::ExitCode;

/// What the shell sees after Ctrl-C: 128 + SIGINT.
pub(crate) const INTERRUPTED: u8 = 130;

/// A command that did not do what it should.
pub(crate) struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    pub(crate) fn usage(error: impl Display) -> Self {
        Failure {
            code: 2,
            message: error.to_string(),
        }
    }

    pub(crate) fn run(error: impl Display) -> Self {
        Failure {
            code: 1,
            message: error.to_string(),
        }
    }

    /// Prints the line.
    pub(crate) fn tell(self) -> ExitCode {
        // Server texts may hold line ends; a failure is one line.
        let line = self
            .message
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        anstream::eprintln!("hotcopy: {line}");
        ExitCode::from(self.code)
    }
}

impl From<hotcopy_lab::Error> for Failure {
    fn from(error: hotcopy_lab::Error) -> Self {
        if error.is_usage() {
            Failure::usage(error)
        } else {
            Failure::run(error)
        }
    }
}
