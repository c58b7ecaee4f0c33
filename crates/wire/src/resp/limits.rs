//! The bounds that keep hostile input from costing more than the bytes it sends.

/// Bounds of what the parsers accept. Lengths are in bytes.
///
/// ```
/// use hotcopy_wire::resp::Limits;
/// let strict = Limits { max_bulk: 1 << 20, ..Limits::default() };
/// assert_eq!(strict.max_inline, 64 * 1024);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest line: an inline request up to its LF, a length with its type byte, a simple string,
    /// an error, a number. Values below [`Limits::SHORTEST_LINE`] count as that.
    pub max_inline: usize,
    /// Most arguments of one request; most elements of one reply, those of its inner aggregates
    /// and attributes included.
    pub max_args: usize,
    /// Longest bulk (Redis: `proto-max-bulk-len`).
    pub max_bulk: usize,
    /// Deepest nesting of aggregates in a reply; values above [`Limits::DEEPEST`] count as that.
    pub max_depth: usize,
}

impl Limits {
    /// The deepest nesting that can be configured. Dropping, comparing and printing a
    /// [`Frame`](super::Frame) recurse once per level, so this is what keeps them far from the
    /// end of a 2 MiB thread stack.
    pub const DEEPEST: usize = 1024;

    /// The smallest bound on a line that can be configured: room for any 64-bit number, so that a
    /// length is never cut off by it.
    pub const SHORTEST_LINE: usize = 32;

    /// The bounds with the values that count in place of those that cannot be configured.
    pub(super) fn effective(self) -> Self {
        Self {
            max_inline: self.max_inline.max(Self::SHORTEST_LINE),
            // Far above what can be received, and offsets cannot overflow.
            max_bulk: self.max_bulk.min(isize::MAX as usize / 2),
            max_depth: self.max_depth.min(Self::DEEPEST),
            ..self
        }
    }
}

impl Default for Limits {
    /// Redis's own bounds where it has them: 64 KiB lines, bulks of 512 MiB. Redis 7 takes up to
    /// 2^31 arguments; here it is 1,048,576 arguments, as in Redis before 7. Depth 64 is far
    /// above what any command answers with.
    fn default() -> Self {
        Self {
            max_inline: 64 * 1024,
            max_args: 1_048_576,
            max_bulk: 512 * 1024 * 1024,
            max_depth: 64,
        }
    }
}
