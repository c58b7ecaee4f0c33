//! The names of the verbs, by which a connection's first bytes tell its protocol.

/// All verbs that are served, which are in lower case.
pub const VERBS: [&str; 20] = [
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
    "incr",
    "decr",
    "delete",
    "touch",
    "flush_all",
    "stats",
    "version",
    "verbosity",
    "mn",
    "quit",
];

/// Verbs that memcached has beside, and Redis has not.
const OTHER_VERBS: [&str; 5] = ["mg", "ms", "md", "ma", "me"];

/// Whether a connection begins with a verb of this protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// It does.
    Verb,
    /// It begins otherwise.
    Other,
    /// What has arrived may become a verb.
    Unclear,
}

/// Whether `bytes` begin with a verb, up to a space or the end of the line.
#[must_use]
pub fn beginning(bytes: &[u8]) -> Beginning {
    let mut verbs = VERBS.iter().chain(&OTHER_VERBS).map(|verb| verb.as_bytes());
    let end = bytes.iter().position(|byte| b" \r\n".contains(byte));
    match end {
        Some(end) if verbs.any(|verb| *verb == bytes[..end]) => Beginning::Verb,
        None if verbs.any(|verb| verb.starts_with(bytes)) => Beginning::Unclear,
        _ => Beginning::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verb_is_known_when_its_word_has_ended() {
        for bytes in ["get k", "get\r", "quit\n", "flush_all ", "mg k"] {
            assert_eq!(beginning(bytes.as_bytes()), Beginning::Verb, "{bytes:?}");
        }
        for bytes in ["", "g", "get", "gets", "flush_a"] {
            assert_eq!(beginning(bytes.as_bytes()), Beginning::Unclear, "{bytes:?}");
        }
        for bytes in [
            "getx", "GET k", "get\tk", " get k", "ping", "*1", "\r\n", "q ",
        ] {
            assert_eq!(beginning(bytes.as_bytes()), Beginning::Other, "{bytes:?}");
        }
    }
}
