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

use clap::error::ErrorKind;

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

/// What clap has to say: help and versions as they are, a fault on one line like any other failure.
pub(crate) fn tell_usage(error: &clap::Error) -> ExitCode {
    let is_help = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if is_help || !error.use_stderr() {
        error.exit();
    }
    Failure::usage(usage_fault(&error.render().to_string())).tell()
}

/// The fault and clap's advice, without the usage and the pointer to the help that follow them.
fn usage_fault(rendered: &str) -> String {
    let told: Vec<&str> = rendered
        .split("\n\n")
        .map(str::trim)
        .take_while(|part| !part.starts_with("Usage:") && !part.starts_with("For more information"))
        .collect();
    let told = told.join("; ");
    format!(
        "{}; see --help",
        told.strip_prefix("error: ").unwrap_or(&told)
    )
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

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::usage_fault;
    use crate::args::Args;

    fn fault(arguments: &[&str]) -> String {
        let error = Args::try_parse_from(arguments).expect_err("a wrong command line");
        usage_fault(&error.render().to_string())
    }

    #[test]
    fn a_wrong_command_line_is_told_without_usage_and_with_advice() {
        assert_eq!(
            fault(&["hotcopy", "cost", "--rate", "-1"]),
            "invalid value '-1' for '--rate <PER_SECOND>': must be above zero; see --help"
        );
        let unknown = fault(&["hotcopy", "cost", "--rates", "1"]);
        assert!(unknown.contains("'--rates' found; tip:"), "{unknown}");
        assert!(unknown.ends_with("'--rate'; see --help"), "{unknown}");
    }
}
