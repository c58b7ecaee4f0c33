//! A whole reply as a value, for clients and for tests.

use bytes::Bytes;

use super::encode::Encoder;

/// One reply or push. Texts and values are slices of the buffer that they were received in: cheap
/// to make and to clone, but each keeps that buffer alive; copy what is to be kept for long.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// A status such as `OK`.
    Simple(Bytes),
    /// An error, its code first (`ERR unknown command`).
    Error(Bytes),
    /// An integer.
    Integer(i64),
    /// A binary-safe string.
    Bulk(Bytes),
    /// Nothing: RESP3's null, and RESP2's null bulk and null array, which clients treat alike.
    Null,
    /// Elements in order.
    Array(Vec<Frame>),
    /// Keys with their values, in the order received; a repeated key is kept.
    Map(Vec<(Frame, Frame)>),
    /// Elements that the server says are distinct; nobody checked.
    Set(Vec<Frame>),
    /// A message that answers no request.
    Push(Vec<Frame>),
    /// A floating point number.
    Double(f64),
    /// A truth value.
    Boolean(bool),
    /// An integer of any size in decimal digits.
    BigNumber(Bytes),
    /// An error that may hold line ends.
    BulkError(Bytes),
    /// A text for people to read.
    Verbatim {
        /// `txt` or `mkd`.
        kind: [u8; 3],
        /// The text without the kind.
        text: Bytes,
    },
}

impl Encoder<'_> {
    /// A whole reply. Recurses once per level of nesting.
    ///
    /// In RESP2 a bulk error becomes an error line, with its line ends as spaces.
    pub fn frame(&mut self, frame: &Frame) {
        match frame {
            Frame::Simple(text) => self.line(b'+', text),
            Frame::Error(text) => self.line(b'-', text),
            Frame::Integer(n) => self.integer(*n),
            Frame::Bulk(bytes) => self.bulk(bytes),
            Frame::Null => self.null(),
            Frame::Array(elements) => {
                self.array(elements.len());
                self.frames(elements);
            }
            Frame::Map(pairs) => {
                self.map(pairs.len());
                for (key, value) in pairs {
                    self.frame(key);
                    self.frame(value);
                }
            }
            Frame::Set(elements) => {
                self.set(elements.len());
                self.frames(elements);
            }
            Frame::Push(elements) => {
                self.push(elements.len());
                self.frames(elements);
            }
            Frame::Double(x) => self.double(*x),
            Frame::Boolean(b) => self.boolean(*b),
            Frame::BigNumber(digits) => self.scalar(b'(', digits),
            Frame::BulkError(text) => self.bulk_error(text),
            Frame::Verbatim { kind, text } => self.verbatim_bytes(*kind, text),
        }
    }

    fn frames(&mut self, frames: &[Frame]) {
        for frame in frames {
            self.frame(frame);
        }
    }
}
