//! What is wrong with a line.

/// Why a line is no request. Its text is the whole error reply, without the line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// No such command, or not so many arguments.
    #[error("ERROR")]
    Unknown,
    /// A key is too long, or a number is none.
    #[error("CLIENT_ERROR bad command line format")]
    BadFormat,
    /// The arguments of `delete`.
    #[error("CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]")]
    BadDelete,
    /// What shall be added is no number of 64 bits.
    #[error("CLIENT_ERROR invalid numeric delta argument")]
    BadDelta,
    /// A time is no number.
    #[error("CLIENT_ERROR invalid exptime argument")]
    BadExptime,
}
