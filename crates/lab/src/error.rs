//! What can go wrong in an experiment, each with a line that says what to do.

use std::io;

use crate::target::TargetError;

/// An experiment that could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The arguments do not fit together.
    #[error("{0}")]
    Usage(String),
    /// The target is not one.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The value given with `--value` cannot be used.
    #[error(transparent)]
    Value(#[from] crate::value::source::ValueError),
    /// Nobody answers.
    #[error("cannot reach {target}: {cause}; is the server running there?")]
    Unreachable {
        /// The target, password masked.
        target: String,
        /// What the system said.
        cause: String,
    },
    /// TLS, and the server cannot show that it is the one.
    #[error(
        "the certificate of {target} is not accepted: {cause}; if it is right, put its authority's certificate in a file and name the file in SSL_CERT_FILE"
    )]
    Certificate {
        /// The target, password masked.
        target: String,
        /// What the TLS library said.
        cause: String,
    },
    /// The server wants another password, or one at all.
    #[error(
        "{target} refuses the login: {cause}; give the password in the URL (redis://:PASSWORD@HOST:PORT)"
    )]
    Login {
        /// The target, password masked.
        target: String,
        /// What the server said.
        cause: String,
    },
    /// The key that should be read does not exist.
    #[error(
        "there is no key {key:?} on {target}; check the name and the database number in the URL"
    )]
    MissingKey {
        /// The key.
        key: String,
        /// The target, password masked.
        target: String,
    },
    /// The key holds something that `GET` does not read.
    #[error(
        "key {key:?} holds a {kind}, which GET does not read; use --command, for example {example:?}"
    )]
    WrongType {
        /// The key.
        key: String,
        /// Its type, as the server names it.
        kind: String,
        /// A command that reads it.
        example: String,
    },
    /// The value is not what `--decode` says.
    #[error(
        "the value does not decode as {format}: {cause}; choose another --decode (json, msgpack, none)"
    )]
    Undecodable {
        /// The expected format.
        format: &'static str,
        /// What the decoder said.
        cause: String,
    },
    /// The server refused or broke off.
    #[error("{doing} failed: {cause}")]
    Store {
        /// What was being done.
        doing: String,
        /// What the server or the connection said.
        cause: String,
    },
    /// A server of our own could not be started.
    #[error("cannot start {command:?}: {cause}")]
    Spawn {
        /// The command line.
        command: String,
        /// Why.
        cause: String,
    },
    /// A row's process failed.
    #[error("{row}: {cause}")]
    Row {
        /// Which row.
        row: String,
        /// Why.
        cause: String,
    },
    /// The system refused something that should always work.
    #[error("{doing}: {source}")]
    System {
        /// What was being done.
        doing: String,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// Whether the user has to write the command differently (exit code 2) or something outside
    /// has to change (exit code 1).
    pub fn is_usage(&self) -> bool {
        matches!(self, Error::Usage(_) | Error::Target(_))
    }

    pub(crate) fn system(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let doing = doing.into();
        move |source| Error::System { doing, source }
    }
}
