//! The server's side of reading: requests as they arrive, cut anywhere.

use memchr::memchr;

use super::args::{Args, Span};
use super::error::ProtocolError;
use super::inline::{self, Held};
use super::limits::Limits;
use super::line::{LengthError, LineError, LineScanner};
use crate::progress::Progress;

/// How many arguments' places, and how many unescaped bytes, a parser keeps room for between
/// requests. Above it, one large request would leave its memory with every connection that ever
/// sent one.
const KEPT_ARGS: usize = 256;
const KEPT_UNESCAPED: usize = 4096;

/// Finds requests in a growing buffer: arrays of bulks, and inline commands.
///
/// Arguments are not copied (but for the words of an inline request with quotes): the parser
/// remembers where they lie. It allocates nothing once it has seen a request of the usual number of
/// arguments.
///
/// ```
/// use hotcopy_wire::resp::{Limits, Progress, RequestParser};
///
/// let mut parser = RequestParser::new(Limits::default());
/// assert_eq!(parser.parse(b"*2\r\n$3\r\nGET\r\n$3\r\nk")?, Progress::Incomplete { wanted: 4 });
///
/// let input = b"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n*1\r\n";
/// assert_eq!(parser.parse(input)?, Progress::Complete { consumed: 22 });
/// assert_eq!(&parser.args(input)[1], b"key");
/// parser.reset();
/// # Ok::<_, hotcopy_wire::resp::ProtocolError>(())
/// ```
#[derive(Debug)]
pub struct RequestParser {
    limits: Limits,
    state: State,
    /// Up to here the request has been understood.
    position: usize,
    line: LineScanner,
    spans: Vec<Span>,
    unescaped: Vec<u8>,
    held: Held,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Nothing is known yet, or only part of the first line.
    Start,
    /// So many arguments are missing, and the next one's length has not been read.
    Length {
        missing: usize,
    },
    /// So many arguments are missing, and the next one has this length.
    Bulk {
        missing: usize,
        len: usize,
    },
    Complete,
    Failed(ProtocolError),
}

impl RequestParser {
    /// A parser that waits for a request's first byte.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits: limits.effective(),
            state: State::Start,
            position: 0,
            line: LineScanner::default(),
            spans: Vec::new(),
            unescaped: Vec::new(),
            held: Held::InLine,
        }
    }

    /// Goes on with a request.
    ///
    /// `input` starts at the request's first byte and holds everything received since. After
    /// [`Progress::Incomplete`], call again with the same bytes and more after them; they may
    /// have moved. After [`Progress::Complete`], read [`args`](Self::args), then
    /// [`reset`](Self::reset). An empty line and an array without arguments (`*0`, `*-1`) are
    /// complete requests of no arguments.
    ///
    /// # Errors
    /// When no continuation can make this a request. The parser stays failed until it is reset.
    pub fn parse(&mut self, input: &[u8]) -> Result<Progress, ProtocolError> {
        let progress = match self.state {
            State::Start => self.first_line(input),
            State::Length { missing } => self.arguments(input, missing, None),
            State::Bulk { missing, len } => self.arguments(input, missing, Some(len)),
            State::Complete => Ok(Progress::Complete {
                consumed: self.position,
            }),
            State::Failed(error) => Err(error),
        };
        if let Err(error) = progress {
            self.state = State::Failed(error);
        }
        progress
    }

    /// The arguments of the request that [`parse`](Self::parse) completed, as slices of the same
    /// `input`; while it is incomplete, those found so far. Words of an inline request that had
    /// to be unescaped are slices of the parser's own memory.
    #[must_use]
    pub fn args<'a>(&'a self, input: &'a [u8]) -> Args<'a> {
        match self.held {
            Held::InLine => Args::new(input, &self.spans),
            Held::Unescaped => Args::new(&self.unescaped, &self.spans),
        }
    }

    /// Forgets the request, so that the next one's first byte is `input[0]` again, and gives back
    /// the memory that an unusually large request needed.
    #[inline]
    pub fn reset(&mut self) {
        self.state = State::Start;
        self.position = 0;
        self.line = LineScanner::default();
        self.spans.clear();
        self.unescaped.clear();
        self.held = Held::InLine;
        if self.spans.capacity() > KEPT_ARGS {
            self.spans.shrink_to(KEPT_ARGS);
        }
        if self.unescaped.capacity() > KEPT_UNESCAPED {
            self.unescaped.shrink_to(KEPT_UNESCAPED);
        }
    }

    /// The bytes that the parser holds on the heap, for a server that counts what a connection
    /// costs. Beyond the little that is kept between requests they are at most 16 times the bytes
    /// it was given (for a line of one-letter words), whatever lengths those declare.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.spans.capacity() * size_of::<Span>() + self.unescaped.capacity()
    }

    fn first_line(&mut self, input: &[u8]) -> Result<Progress, ProtocolError> {
        match input.first() {
            None => Ok(Progress::Incomplete { wanted: 1 }),
            Some(b'*') => self.multibulk(input),
            Some(_) => self.inline(input),
        }
    }

    fn multibulk(&mut self, input: &[u8]) -> Result<Progress, ProtocolError> {
        let (count, taken) = match self.line.length(input, self.limits.max_inline) {
            Ok(Some(length)) => length,
            Ok(None) => return Ok(Progress::Incomplete { wanted: 1 }),
            Err(LengthError::Line(LineError::TooLong)) => {
                return Err(ProtocolError::TooBigMultibulkCount);
            }
            Err(_) => return Err(ProtocolError::InvalidMultibulkLength),
        };
        let count = usize::try_from(count.max(0))
            .ok()
            .filter(|count| *count <= self.limits.max_args)
            .ok_or(ProtocolError::InvalidMultibulkLength)?;
        self.position = taken;
        self.arguments(input, count, None)
    }

    /// Takes the arguments that are still missing; `bulk` is the length of the one that `position`
    /// is at, if it is known.
    fn arguments(
        &mut self,
        input: &[u8],
        mut missing: usize,
        mut bulk: Option<usize>,
    ) -> Result<Progress, ProtocolError> {
        while missing > 0 {
            let rest = input.get(self.position..).unwrap_or_default();
            let len = match bulk.take() {
                Some(len) => len,
                None => match self.bulk_length(rest)? {
                    Some((len, taken)) => {
                        self.position += taken;
                        len
                    }
                    None => {
                        self.state = State::Length { missing };
                        return Ok(Progress::Incomplete { wanted: 1 });
                    }
                },
            };
            // The sum does not overflow: one part is bounded by bytes in memory, the other by
            // `Limits::effective`.
            let end = self.position + len;
            match input.get(end..end + 2) {
                Some(b"\r\n") => {
                    self.spans.push(Span {
                        start: self.position,
                        end,
                    });
                    self.position = end + 2;
                    missing -= 1;
                }
                Some(_) => return Err(ProtocolError::UnterminatedBulk),
                None => {
                    self.state = State::Bulk { missing, len };
                    return Ok(Progress::Incomplete {
                        wanted: end + 2 - input.len(),
                    });
                }
            }
        }
        self.state = State::Complete;
        Ok(Progress::Complete {
            consumed: self.position,
        })
    }

    /// The length of the bulk whose `$` should be at the start of `rest`, and the bytes that its
    /// line takes.
    #[inline]
    fn bulk_length(&mut self, rest: &[u8]) -> Result<Option<(usize, usize)>, ProtocolError> {
        match rest.first() {
            None => return Ok(None),
            Some(b'$') => {}
            Some(other) => return Err(ProtocolError::ExpectedBulk(*other)),
        }
        let (len, taken) = match self.line.length(rest, self.limits.max_inline) {
            Ok(Some(length)) => length,
            Ok(None) => return Ok(None),
            Err(LengthError::Line(LineError::TooLong)) => {
                return Err(ProtocolError::TooBigBulkCount);
            }
            Err(_) => return Err(ProtocolError::InvalidBulkLength),
        };
        let len = usize::try_from(len)
            .ok()
            .filter(|len| *len <= self.limits.max_bulk)
            .ok_or(ProtocolError::InvalidBulkLength)?;
        Ok(Some((len, taken)))
    }

    fn inline(&mut self, input: &[u8]) -> Result<Progress, ProtocolError> {
        // In this state `position` is how far the line has been searched for its end.
        let window = &input[..input.len().min(self.limits.max_inline.saturating_add(1))];
        let unsearched = window.get(self.position..).unwrap_or_default();
        let Some(at) = memchr(b'\n', unsearched) else {
            if input.len() > self.limits.max_inline {
                return Err(ProtocolError::TooBigInline);
            }
            self.position = window.len();
            return Ok(Progress::Incomplete { wanted: 1 });
        };
        let end = self.position + at;
        self.held = inline::split(&input[..end], &mut self.spans, &mut self.unescaped)?;
        if self.spans.len() > self.limits.max_args {
            return Err(ProtocolError::InvalidMultibulkLength);
        }
        self.position = end + 1;
        self.state = State::Complete;
        Ok(Progress::Complete {
            consumed: self.position,
        })
    }
}

#[cfg(test)]
mod tests;
