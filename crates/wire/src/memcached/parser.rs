//! Finding requests in bytes that arrive cut anywhere.

use memchr::memchr;

use super::error::{LineError, LineTooLong, Refused};
use super::limits::Limits;
use super::request::{self, Request};
use crate::progress::Progress;

const LINE_END: &[u8] = b"\r\n";

/// Finds requests in a growing buffer. Nothing is copied, and nothing kept but some numbers.
///
/// ```
/// use hotcopy_wire::memcached::{Limits, Progress, RequestParser};
///
/// let mut parser = RequestParser::new(Limits::default());
/// assert_eq!(parser.parse(b"set k 0 0 5\r\nhel")?, Progress::Incomplete { wanted: 4 });
///
/// let input = b"set k 0 0 5\r\nhello\r\nget k\r\n";
/// assert_eq!(parser.parse(input)?, Progress::Complete { consumed: 20 });
/// assert_eq!(parser.message(input).unwrap().data, b"hello");
/// parser.reset();
/// # Ok::<_, hotcopy_wire::memcached::LineTooLong>(())
/// ```
#[derive(Clone, Debug)]
pub struct RequestParser {
    limits: Limits,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// So many bytes have been searched for the line's end.
    Line {
        searched: usize,
    },
    /// The line is whole, and the data block behind it is not.
    Data {
        line_end: usize,
        len: usize,
    },
    Complete {
        line_end: usize,
        /// None: no block follows.
        data_len: Option<usize>,
    },
    Failed(LineTooLong),
}

/// A whole request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// What the line says.
    pub request: Request<'a>,
    /// The data block of a request that stores; empty for others.
    pub data: &'a [u8],
}

/// Where the data block of an incomplete request lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announced {
    /// Where it begins in the input.
    pub start: usize,
    /// Its length without the line end behind it.
    pub len: usize,
}

impl RequestParser {
    /// A parser that waits for a request's first byte.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            state: State::Line { searched: 0 },
        }
    }

    /// Goes on with a request.
    ///
    /// `input` starts at the request's first byte and holds everything received since. After
    /// [`Progress::Incomplete`], call again with the same bytes and more after them; they may
    /// have moved. After [`Progress::Complete`], look at the [`message`](Self::message), then
    /// [`reset`](Self::reset).
    ///
    /// # Errors
    /// When a line does not end within its bound. The parser stays failed until it is reset.
    pub fn parse(&mut self, input: &[u8]) -> Result<Progress, LineTooLong> {
        match self.state {
            State::Line { searched } => self.line(input, searched),
            State::Data { line_end, len } => Ok(self.data(input, line_end, len)),
            State::Complete { line_end, data_len } => Ok(complete(line_end, data_len)),
            State::Failed(error) => Err(error),
        }
    }

    fn line(&mut self, input: &[u8], searched: usize) -> Result<Progress, LineTooLong> {
        let Limits {
            max_line,
            max_keys_line,
        } = self.limits;
        let longest = max_keys_line.max(max_line);
        let window = &input[..input.len().min(longest.saturating_add(1))];
        let unsearched = window.get(searched..).unwrap_or_default();
        let found = memchr(b'\n', unsearched).map(|at| searched + at);
        let len = found.unwrap_or(input.len());
        if len > max_line {
            // Judged by no more than this, so that it does not depend on how much has arrived.
            let reads = request::reads(&input[..=max_line]);
            let max = if reads { longest } else { max_line };
            if len > max {
                let error = LineTooLong { max };
                self.state = State::Failed(error);
                return Err(error);
            }
        }
        let Some(end) = found else {
            let searched = window.len();
            self.state = State::Line { searched };
            return Ok(Progress::Incomplete { wanted: 1 });
        };
        let line_end = end + 1;
        match request::data_len(without_end(&input[..line_end])) {
            Some(len) => Ok(self.data(input, line_end, len)),
            None => {
                let data_len = None;
                self.state = State::Complete { line_end, data_len };
                Ok(complete(line_end, data_len))
            }
        }
    }

    fn data(&mut self, input: &[u8], line_end: usize, len: usize) -> Progress {
        let end = line_end + len + LINE_END.len();
        if let Some(wanted) = end.checked_sub(input.len()).filter(|wanted| *wanted > 0) {
            self.state = State::Data { line_end, len };
            return Progress::Incomplete { wanted };
        }
        let data_len = Some(len);
        self.state = State::Complete { line_end, data_len };
        complete(line_end, data_len)
    }

    /// The data block that the request lacks a part of, if it does.
    #[must_use]
    pub fn announced(&self) -> Option<Announced> {
        match self.state {
            State::Data { line_end, len } => Some(Announced {
                start: line_end,
                len,
            }),
            _ => None,
        }
    }

    /// Takes the [`announced`](Self::announced) block out of the input, which shall go on with the line end
    /// behind it. The message will say that the data is empty.
    pub fn take_out_data(&mut self) {
        if let State::Data { len, .. } = &mut self.state {
            *len = 0;
        }
    }

    /// The line of the request, if that is here.
    #[must_use]
    pub fn request<'a>(&self, input: &'a [u8]) -> Option<Result<Request<'a>, Refused>> {
        let (State::Data { line_end, .. } | State::Complete { line_end, .. }) = self.state else {
            return None;
        };
        let line = without_end(&input[..line_end]);
        Some(request::parse(line).map_err(|error| Refused {
            error,
            is_silent: request::is_refused_silently(line, error),
        }))
    }

    /// What [`parse`](Self::parse) completed, as slices of the same `input`.
    ///
    /// # Errors
    /// What is to be answered in its place. Of a request that is not complete nothing is known.
    pub fn message<'a>(&self, input: &'a [u8]) -> Result<Message<'a>, Refused> {
        let unknown = Refused {
            error: LineError::Unknown,
            is_silent: false,
        };
        let State::Complete { line_end, data_len } = self.state else {
            return Err(unknown);
        };
        let request = self.request(input).unwrap_or(Err(unknown))?;
        let Some(len) = data_len else {
            let data = &[];
            return Ok(Message { request, data });
        };
        let (data, end) = input[line_end..].split_at(len);
        if !end.starts_with(LINE_END) {
            return Err(Refused {
                error: LineError::BadChunk,
                is_silent: request.is_silent(),
            });
        }
        Ok(Message { request, data })
    }

    /// Forgets the request, so that the next one's first byte is `input[0]` again.
    pub fn reset(&mut self) {
        self.state = State::Line { searched: 0 };
    }
}

fn complete(line_end: usize, data_len: Option<usize>) -> Progress {
    let data = data_len.map_or(0, |len| len + LINE_END.len());
    Progress::Complete {
        consumed: line_end + data,
    }
}

/// A line may end in LF or in CR LF.
fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests;
