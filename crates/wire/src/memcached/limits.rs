//! The bounds on a line.

/// How long lines may be, in bytes without their LF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest line of any verb but those that read values.
    pub max_line: usize,
    /// Longest line of a verb that reads values, which can name any number of keys.
    pub max_keys_line: usize,
}

impl Default for Limits {
    /// 2 KiB, as in memcached, and 16 MiB where memcached has no bound.
    fn default() -> Self {
        Self {
            max_line: 2048,
            max_keys_line: 16 * 1024 * 1024,
        }
    }
}
