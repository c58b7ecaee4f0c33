//! What is wrong with a request.

/// Why a line is no request. Its text is the whole error reply, without the line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// No such command, or not so many arguments.
    #[error("ERROR")]
    Unknown,
    /// A key is too long or has control characters, or a number is none.
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
    /// The data block does not end where the line said.
    #[error("CLIENT_ERROR bad data chunk")]
    BadChunk,
}

/// A request that is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub error: LineError,
    /// The client wants to hear nothing, not even that.
    pub is_silent: bool,
}

/// A line that goes on beyond its bound. Where the next one would begin is not known: close.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line is longer than {max} bytes")]
pub struct LineTooLong {
    /// The bound in bytes.
    pub max: usize,
}
