//! Finding the end of a line that arrives in pieces, within a bound, without looking at a byte
//! twice.

use memchr::memchr2;

use super::number::{canonical, short_length};

/// Why a line can never become a good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineError {
    /// No terminator within the bound.
    TooLong,
    /// A CR without LF, or an LF without CR.
    BadTerminator,
}

/// Why a line can never become a good length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LengthError {
    /// The line itself is wrong.
    Line(LineError),
    /// Something other than a canonical decimal number follows the type byte.
    NotCanonical,
}

/// Remembers how far the current line has been searched.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LineScanner {
    searched: usize,
}

impl LineScanner {
    /// The length without CR LF of the line at the start of `bytes`, or `None` while its end has
    /// not arrived. `bytes` must start with what the last call saw, unless that call found the
    /// end.
    ///
    /// The answer does not depend on how the bytes were cut: a line longer than `longest` fails
    /// even if its end is already there.
    pub(super) fn find(
        &mut self,
        bytes: &[u8],
        longest: usize,
    ) -> Result<Option<usize>, LineError> {
        let window = &bytes[..bytes.len().min(longest.saturating_add(1))];
        let unsearched = window.get(self.searched..).unwrap_or_default();
        let Some(at) = memchr2(b'\r', b'\n', unsearched).map(|at| self.searched + at) else {
            if bytes.len() > longest {
                return Err(LineError::TooLong);
            }
            self.searched = window.len();
            return Ok(None);
        };
        match (bytes[at], bytes.get(at + 1)) {
            (b'\r', Some(b'\n')) => {
                self.searched = 0;
                Ok(Some(at))
            }
            (b'\r', None) => {
                self.searched = at;
                Ok(None)
            }
            _ => Err(LineError::BadTerminator),
        }
    }

    /// The length on the line at the start of `bytes`, which has a type byte before it, and how
    /// many bytes the line takes with its terminator. Otherwise as [`find`](Self::find).
    #[inline]
    pub(super) fn length(
        &mut self,
        bytes: &[u8],
        longest: usize,
    ) -> Result<Option<(i64, usize)>, LengthError> {
        match self.short_length(bytes) {
            Some((length, taken)) => Ok(Some((i64::from(length), taken))),
            None => self.long_length(bytes, longest),
        }
    }

    /// As [`length`](Self::length), for the common case alone: a whole line with a small number.
    #[inline]
    pub(super) fn short_length(&mut self, bytes: &[u8]) -> Option<(u32, usize)> {
        let (length, taken) = short_length(bytes.get(1..)?)?;
        // Part of the line may have been searched before the rest of it arrived.
        self.searched = 0;
        Some((length, 1 + taken))
    }

    #[cold]
    fn long_length(
        &mut self,
        bytes: &[u8],
        longest: usize,
    ) -> Result<Option<(i64, usize)>, LengthError> {
        match self.find(bytes, longest) {
            Ok(None) => Ok(None),
            Ok(Some(end)) => match bytes.get(1..end).and_then(canonical) {
                Some(length) => Ok(Some((length, end + 2))),
                None => Err(LengthError::NotCanonical),
            },
            Err(error) => Err(LengthError::Line(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_line_is_found_wherever_the_line_is_cut() {
        let line = b"+some text\r\nnext";
        for cut in 0..line.len() {
            let mut scanner = LineScanner::default();
            let first = scanner.find(&line[..cut], 64).unwrap();
            assert_eq!(first, (cut >= 12).then_some(10), "cut at {cut}");
            if first.is_none() {
                assert_eq!(scanner.find(line, 64), Ok(Some(10)), "cut at {cut}");
            }
        }
    }

    #[test]
    fn the_bound_holds_whether_or_not_the_end_has_arrived() {
        assert_eq!(LineScanner::default().find(b"1234\r\n", 4), Ok(Some(4)));
        assert_eq!(
            LineScanner::default().find(b"12345\r\n", 4),
            Err(LineError::TooLong)
        );
        assert_eq!(LineScanner::default().find(b"1234", 4), Ok(None));
        assert_eq!(
            LineScanner::default().find(b"12345", 4),
            Err(LineError::TooLong)
        );
        assert_eq!(LineScanner::default().find(b"12345", usize::MAX), Ok(None));
    }

    #[test]
    fn a_length_that_was_cut_leaves_no_trace_in_the_search_for_the_next_line() {
        let mut scanner = LineScanner::default();
        assert_eq!(scanner.length(b"*1\r", 64), Ok(None));
        assert_eq!(scanner.length(b"*1\r\n$\n", 64), Ok(Some((1, 4))));
        let next = scanner.length(b"$\n", 64);
        assert_eq!(next, Err(LengthError::Line(LineError::BadTerminator)));
    }

    #[test]
    fn a_length_is_read_the_short_way_or_the_long_way_alike() {
        let length = |line: &str| LineScanner::default().length(line.as_bytes(), 64);
        assert_eq!(length("$999999999\r\n"), Ok(Some((999_999_999, 12))));
        assert_eq!(length("$1000000000\r\n"), Ok(Some((1_000_000_000, 13))));
        assert_eq!(length("$-1\r\n"), Ok(Some((-1, 5))));
        assert_eq!(length("$\r\n"), Err(LengthError::NotCanonical));
        assert_eq!(length("$01\r\n"), Err(LengthError::NotCanonical));
        assert_eq!(length(""), Ok(None));
    }

    #[test]
    fn half_a_terminator_is_an_error() {
        for bad in ["ab\n", "ab\rc", "ab\r\r\n"] {
            assert_eq!(
                LineScanner::default().find(bad.as_bytes(), 64),
                Err(LineError::BadTerminator),
                "{bad:?}"
            );
        }
    }
}
