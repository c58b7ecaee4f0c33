//! How far a parser has come with a request.

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The request goes on after the end of the input.
    Incomplete {
        /// How many more bytes it takes at the least: the exact remainder (with its terminator) of
        /// an argument or a data block that is being received, otherwise 1. It follows a length that the
        /// peer declared: read up to so much, but do not allocate it in advance of the bytes.
        wanted: usize,
    },
    /// The request is whole.
    Complete {
        /// How many bytes of the input it takes; the next request starts there.
        consumed: usize,
    },
}
