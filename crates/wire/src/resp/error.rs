//! What can be wrong with bytes that should be RESP.

use thiserror::Error;

/// A request that cannot be understood. The connection is out of step for good: answer with this
/// text after `ERR `, then close.
///
/// Every text but the last is the one Redis sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ProtocolError {
    /// The count after `*` is not a canonical decimal number, ends in something other than CR LF,
    /// or is above the bound.
    #[error("Protocol error: invalid multibulk length")]
    InvalidMultibulkLength,
    /// An argument starts with this byte.
    #[error("Protocol error: expected '$', got '{}'", Shown(*.0))]
    ExpectedBulk(u8),
    /// The length after `$` is not a canonical decimal number, ends in something other than CR LF,
    /// is negative or above the bound.
    #[error("Protocol error: invalid bulk length")]
    InvalidBulkLength,
    /// An inline request is longer than the bound.
    #[error("Protocol error: too big inline request")]
    TooBigInline,
    /// A quote of an inline request is not closed, or is closed in the middle of a word.
    #[error("Protocol error: unbalanced quotes in request")]
    UnbalancedQuotes,
    /// The line with the count of arguments does not end within the bound.
    #[error("Protocol error: too big mbulk count string")]
    TooBigMultibulkCount,
    /// The line with the length of an argument does not end within the bound.
    #[error("Protocol error: too big bulk count string")]
    TooBigBulkCount,
    /// The bytes after an argument are not CR LF. Redis does not look at them.
    #[error("Protocol error: expected CRLF after bulk")]
    UnterminatedBulk,
}

/// A reply that cannot be understood. What follows in the stream means nothing any more: close the
/// connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReplyError {
    /// A reply or an element starts with this byte.
    #[error("malformed reply: no type starts with '{}'", Shown(*.0))]
    UnknownType(u8),
    /// A length or count that is not a canonical decimal number, or is negative where there is no
    /// null. Streamed strings and aggregates (`$?`, `*?`), which no server sends, are among
    /// them.
    #[error("malformed reply: invalid length after '{}'", Shown(*.0))]
    InvalidLength(u8),
    /// The rest of the line is not what this type is written as.
    #[error("malformed reply: invalid value after '{}'", Shown(*.0))]
    InvalidValue(u8),
    /// A line or bulk ends in something other than CR LF.
    #[error("malformed reply: expected CRLF after '{}'", Shown(*.0))]
    BadTerminator(u8),
    /// A line does not end within [`Limits::max_inline`](super::Limits::max_inline).
    #[error("reply refused: a line is longer than {longest} bytes")]
    LineTooLong {
        /// The bound in bytes.
        longest: usize,
    },
    /// A bulk is longer than [`Limits::max_bulk`](super::Limits::max_bulk).
    #[error("reply refused: a value is longer than {longest} bytes")]
    BulkTooLong {
        /// The bound in bytes.
        longest: usize,
    },
    /// A reply announces more elements than [`Limits::max_args`](super::Limits::max_args).
    #[error("reply refused: it has more than {most} elements")]
    TooManyElements {
        /// The bound.
        most: usize,
    },
    /// A reply is nested deeper than [`Limits::max_depth`](super::Limits::max_depth).
    #[error("reply refused: it is nested deeper than {deepest} levels")]
    TooDeep {
        /// The bound.
        deepest: usize,
    },
}

/// A byte as it may stand in an error line: as it is, a line end as a space (as Redis shows it),
/// other unprintable bytes escaped.
struct Shown(u8);

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            b'\r' | b'\n' => f.write_str(" "),
            byte @ b' '..=b'~' => write!(f, "{}", char::from(byte)),
            byte => write!(f, "\\x{byte:02x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unexpected_byte_is_shown_without_breaking_the_error_line() {
        let shown = |byte| ProtocolError::ExpectedBulk(byte).to_string();
        assert_eq!(shown(b':'), "Protocol error: expected '$', got ':'");
        assert_eq!(shown(b'\r'), "Protocol error: expected '$', got ' '");
        assert_eq!(shown(0xff), "Protocol error: expected '$', got '\\xff'");
    }
}
