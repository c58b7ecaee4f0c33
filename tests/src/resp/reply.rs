//! A reply as the wire has it, down to which of the two nulls it was, printed in the notation of the cases.

use std::fmt;

/// One reply. The names are those of the protocol's types.
#[derive(Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the protocol's own")]
pub enum Reply {
    Simple(Vec<u8>),
    Error(Vec<u8>),
    Integer(i64),
    Bulk(Vec<u8>),
    /// `$-1` in RESP2, `_` in RESP3.
    Null,
    /// `*-1`, in RESP2 only.
    NullArray,
    Array(Vec<Reply>),
    Map(Vec<(Reply, Reply)>),
    Set(Vec<Reply>),
    Push(Vec<Reply>),
    Double(String),
    Boolean(bool),
    BigNumber(String),
    /// The text without its three-letter format.
    Verbatim(Vec<u8>),
}

impl Reply {
    /// The bytes of a string of any kind.
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Simple(bytes) | Self::Bulk(bytes) | Self::Verbatim(bytes) => Some(bytes),
            _ => None,
        }
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simple(text) => write!(formatter, "+{}", escaped(text)),
            Self::Error(text) => write!(formatter, "-{}", escaped(text)),
            Self::Integer(number) => write!(formatter, ":{number}"),
            Self::Bulk(bytes) => write_string(formatter, bytes),
            Self::Null => write!(formatter, "nil"),
            Self::NullArray => write!(formatter, "nil-array"),
            Self::Array(items) => write_list(formatter, "", items),
            Self::Set(items) => write_list(formatter, "set ", items),
            Self::Push(items) => write_list(formatter, "push ", items),
            Self::Map(pairs) => {
                write!(formatter, "map {{ ")?;
                for (key, value) in pairs {
                    write!(formatter, "{key}: {value}, ")?;
                }
                write!(formatter, "}}")
            }
            Self::Double(digits) => write!(formatter, ",{digits}"),
            Self::Boolean(true) => write!(formatter, "#t"),
            Self::Boolean(false) => write!(formatter, "#f"),
            Self::BigNumber(digits) => write!(formatter, "({digits}"),
            Self::Verbatim(text) => {
                write!(formatter, "text ")?;
                write_string(formatter, text)
            }
        }
    }
}

/// As the cases write it: an apostrophe stands for itself.
fn escaped(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string().replace(r"\'", "'")
}

/// A value of megabytes would bury the message.
const SHOWN_BYTES: usize = 2_000;

fn write_string(formatter: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    let shown = &bytes[..bytes.len().min(SHOWN_BYTES)];
    write!(formatter, "\"{}\"", escaped(shown))?;
    if shown.len() < bytes.len() {
        write!(formatter, " (first of {} bytes)", bytes.len())?;
    }
    Ok(())
}

fn write_list(formatter: &mut fmt::Formatter<'_>, kind: &str, items: &[Reply]) -> fmt::Result {
    write!(formatter, "{kind}[")?;
    for (index, item) in items.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        write!(formatter, "{comma}{item}")?;
    }
    write!(formatter, "]")
}
