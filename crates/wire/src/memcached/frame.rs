//! Where a line ends, and whether a connection's first bytes are of this protocol.

/// Longest line of a command with a fixed number of arguments.
pub const SHORT_LINE_BYTES: usize = 2 * 1024;

/// Longest line of a command that names any number of keys.
pub const LONG_LINE_BYTES: usize = 64 * 1024;

/// What bytes begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A line, without its end, and how many bytes it takes with it.
    Line {
        /// The line.
        line: &'a [u8],
        /// Its length with its end.
        consumed: usize,
    },
    /// A line whose end has not arrived.
    Incomplete,
    /// A line that is longer than any request.
    TooLong,
}

/// The first line in `bytes`. It ends with a line feed, before which there may be a carriage return.
pub fn next_line(bytes: &[u8]) -> Frame<'_> {
    let max = if names_many_keys(bytes) {
        LONG_LINE_BYTES
    } else {
        SHORT_LINE_BYTES
    };
    let end = bytes.iter().take(max).position(|byte| *byte == b'\n');
    match end {
        Some(end) => Frame::Line {
            line: bytes[..end].strip_suffix(b"\r").unwrap_or(&bytes[..end]),
            consumed: end + 1,
        },
        None if bytes.len() < max => Frame::Incomplete,
        None => Frame::TooLong,
    }
}

fn names_many_keys(bytes: &[u8]) -> bool {
    let verb = bytes.split(|byte| *byte == b' ').next();
    verb.is_some_and(|verb| matches!(verb, b"get" | b"gets" | b"gat" | b"gats"))
}

/// Whether this is the name of a command of this protocol, which are all in lower case.
pub fn is_verb(word: &[u8]) -> bool {
    VERBS.iter().any(|verb| verb.as_bytes() == word)
}

const VERBS: [&str; 20] = [
    "get",
    "gets",
    "gat",
    "gats",
    "set",
    "add",
    "replace",
    "append",
    "prepend",
    "cas",
    "delete",
    "incr",
    "decr",
    "touch",
    "flush_all",
    "version",
    "verbosity",
    "quit",
    "stats",
    "mn",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_with_a_line_feed() {
        let line = |bytes| match next_line(bytes) {
            Frame::Line { line, consumed } => (line, consumed),
            other => panic!("{other:?}"),
        };
        assert_eq!(line(b"get a\r\nget b\r\n"), (&b"get a"[..], 7));
        assert_eq!(line(b"get a\n"), (&b"get a"[..], 6));
        assert_eq!(line(b"\r\n"), (&b""[..], 2));
        assert_eq!(next_line(b"get a\r"), Frame::Incomplete);
        assert_eq!(next_line(b""), Frame::Incomplete);
    }

    #[test]
    fn only_lines_of_many_keys_may_be_long() {
        assert_eq!(next_line(&[b'x'; SHORT_LINE_BYTES - 1]), Frame::Incomplete);
        assert_eq!(next_line(&[b'x'; SHORT_LINE_BYTES]), Frame::TooLong);
        let get = [&b"get "[..], &b"k ".repeat(30_000)].concat();
        assert_eq!(next_line(&get), Frame::Incomplete);
        let get = [&b"gats 1 "[..], &b"k ".repeat(40_000)].concat();
        assert_eq!(next_line(&get), Frame::TooLong);
    }
}
