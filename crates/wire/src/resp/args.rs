//! The arguments of one request, as a view of the bytes that hold them.

use std::fmt;
use std::iter::FusedIterator;
use std::ops::Index;

/// Where an argument lies in the bytes that hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The arguments of a complete request, the command's name first. Copying it copies two slices'
/// addresses, not the arguments.
#[derive(Clone, Copy)]
pub struct Args<'a> {
    bytes: &'a [u8],
    spans: &'a [Span],
}

impl<'a> Args<'a> {
    pub(super) fn new(bytes: &'a [u8], spans: &'a [Span]) -> Self {
        Self { bytes, spans }
    }

    /// How many arguments there are, the command's name included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether the request says nothing: an empty line, or an array of no arguments. A server skips
    /// it without an answer.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The argument at `index`, where 0 is the command's name.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&'a [u8]> {
        let span = self.spans.get(index)?;
        self.bytes.get(span.start..span.end)
    }

    /// The arguments in order.
    #[must_use]
    pub fn iter(&self) -> ArgsIter<'a> {
        ArgsIter {
            bytes: self.bytes,
            spans: self.spans.iter(),
        }
    }

    /// The arguments from `index` on (none, if there are not so many), for commands whose tail is a
    /// list.
    #[must_use]
    pub fn skip(&self, index: usize) -> Self {
        Self {
            bytes: self.bytes,
            spans: self.spans.get(index..).unwrap_or_default(),
        }
    }
}

impl Index<usize> for Args<'_> {
    type Output = [u8];

    /// # Panics
    /// When there is no such argument; [`Args::get`] asks.
    fn index(&self, index: usize) -> &[u8] {
        let Span { start, end } = self.spans[index];
        &self.bytes[start..end]
    }
}

impl<'a> IntoIterator for Args<'a> {
    type Item = &'a [u8];
    type IntoIter = ArgsIter<'a>;

    fn into_iter(self) -> ArgsIter<'a> {
        self.iter()
    }
}

impl fmt::Debug for Args<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(
                self.iter()
                    .map(<[u8]>::escape_ascii)
                    .map(|arg| arg.to_string()),
            )
            .finish()
    }
}

/// The arguments of a request one after the other; see [`Args::iter`].
#[derive(Clone, Debug)]
pub struct ArgsIter<'a> {
    bytes: &'a [u8],
    spans: std::slice::Iter<'a, Span>,
}

impl<'a> Iterator for ArgsIter<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let span = self.spans.next()?;
        Some(&self.bytes[span.start..span.end])
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.spans.size_hint()
    }
}

impl DoubleEndedIterator for ArgsIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let span = self.spans.next_back()?;
        Some(&self.bytes[span.start..span.end])
    }
}

impl ExactSizeIterator for ArgsIter<'_> {}
impl FusedIterator for ArgsIter<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    const SPANS: [Span; 3] = [
        Span { start: 0, end: 3 },
        Span { start: 4, end: 4 },
        Span { start: 4, end: 6 },
    ];

    #[test]
    fn arguments_are_reached_by_index_by_iteration_and_by_tail() {
        let args = Args::new(b"GET key", &SPANS);
        assert_eq!((args.len(), args.is_empty()), (3, false));
        assert_eq!(args.get(0), Some(&b"GET"[..]));
        assert_eq!(args.get(3), None);
        assert_eq!(&args[2], b"ke");
        assert_eq!(args.iter().collect::<Vec<_>>(), [&b"GET"[..], b"", b"ke"]);
        assert_eq!(args.iter().next_back(), Some(&b"ke"[..]));
        assert_eq!(args.skip(1).len(), 2);
        assert!(args.skip(4).is_empty());
        assert_eq!(format!("{args:?}"), r#"["GET", "", "ke"]"#);
    }
}
