//! The client's side of reading: replies as they arrive, cut anywhere.

use bytes::{Buf as _, Bytes, BytesMut};

use super::error::ReplyError;
use super::frame::Frame;
use super::limits::Limits;
use super::line::{LengthError, LineError, LineScanner};
use super::number::integer;
use super::open::{Kind, Open};

/// Takes replies of both protocol versions off the front of a buffer.
///
/// Values are not copied: they are split off the buffer. Attributes (`|`) are decoded and dropped,
/// wherever they stand. Streamed strings and aggregates are refused, as no server sends them.
///
/// ```
/// use bytes::BytesMut;
/// use hotcopy_wire::resp::{Frame, Limits, ReplyDecoder};
///
/// let mut decoder = ReplyDecoder::new(Limits::default());
/// let mut input = BytesMut::from(&b"$5\r\nval"[..]);
/// assert_eq!(decoder.decode(&mut input)?, None);
/// assert_eq!(decoder.wanted(&input), 4);
/// input.extend_from_slice(b"ue\r\n:1\r\n");
/// assert_eq!(decoder.decode(&mut input)?, Some(Frame::Bulk("value".into())));
/// assert_eq!(decoder.decode(&mut input)?, Some(Frame::Integer(1)));
/// # Ok::<_, hotcopy_wire::resp::ReplyError>(())
/// ```
#[derive(Debug)]
pub struct ReplyDecoder {
    limits: Limits,
    line: LineScanner,
    bulk: Option<PendingBulk>,
    open: Vec<Open>,
    /// Elements that the current reply has announced so far, on all levels.
    elements: usize,
    failed: Option<ReplyError>,
}

/// A bulk whose header has been taken off the buffer.
#[derive(Clone, Copy, Debug)]
struct PendingBulk {
    /// Its type byte.
    kind: u8,
    len: usize,
}

/// What one step took off the buffer.
enum Step {
    /// A frame that is no aggregate, or an aggregate without elements.
    Frame(Frame),
    /// The header of an aggregate or bulk, or an attribute without elements.
    Header,
    /// Nothing, because the next part has not wholly arrived.
    Starved,
}

impl ReplyDecoder {
    /// A decoder that waits for a reply's first byte.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits: limits.effective(),
            line: LineScanner::default(),
            bulk: None,
            open: Vec::new(),
            elements: 0,
            failed: None,
        }
    }

    /// The next reply, or `None` when it has not wholly arrived; then call again with more bytes at
    /// the end of `input`.
    ///
    /// What has been understood is taken off `input` at once, so that nothing is looked at twice:
    /// between calls only append to it.
    ///
    /// # Errors
    /// When the bytes are no reply, or one beyond the limits. The decoder then stays failed, for
    /// the stream has lost its step.
    pub fn decode(&mut self, input: &mut BytesMut) -> Result<Option<Frame>, ReplyError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let decoded = self.advance(input);
        if let Err(error) = decoded {
            self.failed = Some(error);
            self.open = Vec::new();
        }
        decoded
    }

    /// How many bytes more than `input` the next reply takes at the least, given what
    /// [`decode`](Self::decode) left of it: the exact remainder of a value that is being
    /// received, otherwise 1. It follows a length that the peer declared: read up to so much, but
    /// do not allocate it in advance of the bytes.
    #[must_use]
    pub fn wanted(&self, input: &[u8]) -> usize {
        self.bulk
            .map_or(1, |bulk| (bulk.len + 2).saturating_sub(input.len()).max(1))
    }

    fn advance(&mut self, input: &mut BytesMut) -> Result<Option<Frame>, ReplyError> {
        loop {
            match self.step(input)? {
                Step::Starved => return Ok(None),
                Step::Header => {}
                Step::Frame(frame) => {
                    if let Some(reply) = self.place(frame) {
                        self.elements = 0;
                        return Ok(Some(reply));
                    }
                }
            }
        }
    }

    /// Puts a frame where it belongs: into the innermost open aggregate, which may complete that
    /// one, and so on. A frame that belongs into none is the reply.
    fn place(&mut self, mut frame: Frame) -> Option<Frame> {
        while let Some(innermost) = self.open.last_mut() {
            innermost.add(frame);
            if !innermost.is_whole() {
                return None;
            }
            frame = self.open.pop().and_then(Open::close)?;
        }
        Some(frame)
    }

    fn step(&mut self, input: &mut BytesMut) -> Result<Step, ReplyError> {
        if let Some(bulk) = self.bulk {
            return self.bulk_body(bulk, input);
        }
        let Some(&kind) = input.first() else {
            return Ok(Step::Starved);
        };
        match kind {
            b'$' | b'!' | b'=' => self.bulk_header(kind, input),
            b'*' => self.aggregate(kind, Kind::Array, input),
            b'%' => self.aggregate(kind, Kind::Map, input),
            b'~' => self.aggregate(kind, Kind::Set, input),
            b'>' => self.aggregate(kind, Kind::Push, input),
            b'|' => self.aggregate(kind, Kind::Attribute, input),
            b'+' | b'-' | b':' | b',' | b'#' | b'(' | b'_' => self.scalar(kind, input),
            unknown => Err(ReplyError::UnknownType(unknown)),
        }
    }

    fn scalar(&mut self, kind: u8, input: &mut BytesMut) -> Result<Step, ReplyError> {
        if kind == b':'
            && let Some((n, taken)) = self.line.short_length(input)
        {
            input.advance(taken);
            return Ok(Step::Frame(Frame::Integer(n.into())));
        }
        let Some(end) = self.line_end(kind, input)? else {
            return Ok(Step::Starved);
        };
        let text = &input[1..end];
        let value = match kind {
            b':' => integer(text).map(Frame::Integer),
            b',' => double(text).map(Frame::Double),
            b'#' => boolean(text).map(Frame::Boolean),
            // The commonest line of all needs no share in the buffer.
            b'+' if text == b"OK" => Some(Frame::Simple(Bytes::from_static(b"OK"))),
            b'_' => text.is_empty().then_some(Frame::Null),
            b'(' if !is_decimal(text) => None,
            _ => {
                let mut line = input.split_to(end).freeze();
                line.advance(1);
                input.advance(2);
                return Ok(Step::Frame(match kind {
                    b'+' => Frame::Simple(line),
                    b'-' => Frame::Error(line),
                    _ => Frame::BigNumber(line),
                }));
            }
        };
        let frame = value.ok_or(ReplyError::InvalidValue(kind))?;
        input.advance(end + 2);
        Ok(Step::Frame(frame))
    }

    fn bulk_header(&mut self, kind: u8, input: &mut BytesMut) -> Result<Step, ReplyError> {
        let Some(len) = self.length(kind, input)? else {
            return Ok(Step::Starved);
        };
        let len = match usize::try_from(len) {
            Ok(len) => len,
            Err(_) if kind == b'$' && len == -1 => return Ok(Step::Frame(Frame::Null)),
            Err(_) => return Err(ReplyError::InvalidLength(kind)),
        };
        let longest = self.limits.max_bulk;
        if len > longest {
            return Err(ReplyError::BulkTooLong { longest });
        }
        self.bulk = Some(PendingBulk { kind, len });
        Ok(Step::Header)
    }

    fn bulk_body(
        &mut self,
        PendingBulk { kind, len }: PendingBulk,
        input: &mut BytesMut,
    ) -> Result<Step, ReplyError> {
        match input.get(len..len + 2) {
            Some(b"\r\n") => {}
            Some(_) => return Err(ReplyError::BadTerminator(kind)),
            None => return Ok(Step::Starved),
        }
        // An empty slice would keep the buffer alive for nothing.
        let mut body = if len == 0 {
            Bytes::new()
        } else {
            input.split_to(len).freeze()
        };
        input.advance(2);
        self.bulk = None;
        Ok(Step::Frame(match kind {
            b'$' => Frame::Bulk(body),
            b'!' => Frame::BulkError(body),
            _ => match body[..] {
                [a, b, c, b':', ..] => {
                    body.advance(4);
                    Frame::Verbatim {
                        kind: [a, b, c],
                        text: body,
                    }
                }
                _ => return Err(ReplyError::InvalidValue(kind)),
            },
        }))
    }

    fn aggregate(
        &mut self,
        byte: u8,
        kind: Kind,
        input: &mut BytesMut,
    ) -> Result<Step, ReplyError> {
        let Some(count) = self.length(byte, input)? else {
            return Ok(Step::Starved);
        };
        let count = match usize::try_from(count) {
            Ok(count) => count,
            Err(_) if kind == Kind::Array && count == -1 => return Ok(Step::Frame(Frame::Null)),
            Err(_) => return Err(ReplyError::InvalidLength(byte)),
        };
        if self.open.len() >= self.limits.max_depth {
            return Err(ReplyError::TooDeep {
                deepest: self.limits.max_depth,
            });
        }
        let most = self.limits.max_args;
        let elements = kind
            .elements(count)
            .filter(|elements| *elements <= most - self.elements);
        let elements = elements.ok_or(ReplyError::TooManyElements { most })?;
        self.elements += elements;
        let aggregate = Open::new(kind, elements);
        if aggregate.is_whole() {
            return Ok(aggregate.close().map_or(Step::Header, Step::Frame));
        }
        self.open.push(aggregate);
        Ok(Step::Header)
    }

    /// Takes a type byte and the length after it off the buffer.
    #[inline]
    fn length(&mut self, kind: u8, input: &mut BytesMut) -> Result<Option<i64>, ReplyError> {
        match self.line.length(input, self.limits.max_inline) {
            Ok(Some((length, taken))) => {
                input.advance(taken);
                Ok(Some(length))
            }
            Ok(None) => Ok(None),
            Err(LengthError::NotCanonical) => Err(ReplyError::InvalidLength(kind)),
            Err(LengthError::Line(error)) => Err(self.line_error(kind, error)),
        }
    }

    fn line_end(&mut self, kind: u8, input: &[u8]) -> Result<Option<usize>, ReplyError> {
        let found = self.line.find(input, self.limits.max_inline);
        found.map_err(|error| self.line_error(kind, error))
    }

    fn line_error(&self, kind: u8, error: LineError) -> ReplyError {
        match error {
            LineError::TooLong => ReplyError::LineTooLong {
                longest: self.limits.max_inline,
            },
            LineError::BadTerminator => ReplyError::BadTerminator(kind),
        }
    }
}

fn boolean(text: &[u8]) -> Option<bool> {
    match text {
        b"t" => Some(true),
        b"f" => Some(false),
        _ => None,
    }
}

/// Rust's own parser also takes words such as `Infinity`, which RESP does not know; so letters
/// other than an exponent's are looked at first.
fn double(text: &[u8]) -> Option<f64> {
    match text {
        b"inf" => Some(f64::INFINITY),
        b"-inf" => Some(f64::NEG_INFINITY),
        b"nan" | b"-nan" => Some(f64::NAN),
        _ if text
            .iter()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) =>
        {
            std::str::from_utf8(text).ok()?.parse().ok()
        }
        _ => None,
    }
}

fn is_decimal(text: &[u8]) -> bool {
    let digits = text
        .strip_prefix(b"-")
        .or_else(|| text.strip_prefix(b"+"))
        .unwrap_or(text);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests;
