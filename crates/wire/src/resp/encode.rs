//! The server's side of writing: replies in the form that the connection's protocol version has for
//! them.

use std::io::Write as _;

use super::Version;

const CRLF: &[u8] = b"\r\n";

/// Appends replies to a buffer.
///
/// What RESP2 has no form for is written as Redis writes it there: a map as a flat array, a set or
/// push as an array, a double, big number or verbatim string as a bulk, a boolean as 0 or 1.
///
/// ```
/// use hotcopy_wire::resp::{Encoder, Version};
/// let mut out = Vec::new();
/// let mut reply = Encoder::new(&mut out, Version::Resp3);
/// reply.map(1);
/// reply.bulk(b"proto");
/// reply.integer(3);
/// assert_eq!(out, b"%1\r\n$5\r\nproto\r\n:3\r\n");
/// ```
#[derive(Debug)]
pub struct Encoder<'b> {
    out: &'b mut Vec<u8>,
    version: Version,
}

impl<'b> Encoder<'b> {
    /// Replies of this version, to be appended to `out`.
    pub fn new(out: &'b mut Vec<u8>, version: Version) -> Self {
        Self { out, version }
    }

    /// The version that replies are written in.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// A status such as `OK`. CR and LF in it become spaces, because the line cannot hold them.
    pub fn simple(&mut self, text: &str) {
        line(self.out, b'+', text.as_bytes());
    }

    /// An error, its code first (`ERR unknown command`). CR and LF in it become spaces, so that an
    /// echoed argument cannot forge a reply.
    pub fn error(&mut self, text: &str) {
        line(self.out, b'-', text.as_bytes());
    }

    /// An integer.
    pub fn integer(&mut self, n: i64) {
        self.out.push(b':');
        self.out
            .extend_from_slice(itoa::Buffer::new().format(n).as_bytes());
        self.out.extend_from_slice(CRLF);
    }

    /// A binary-safe string.
    pub fn bulk(&mut self, bytes: &[u8]) {
        blob(self.out, b'$', bytes);
    }

    /// The header of a string of `len` bytes, which the caller sends from elsewhere;
    /// [`bulk_end`](Self::bulk_end) must follow them.
    pub fn bulk_header(&mut self, len: usize) {
        header(self.out, b'$', len);
    }

    /// What follows the bytes announced by [`bulk_header`](Self::bulk_header).
    pub fn bulk_end(&mut self) {
        self.out.extend_from_slice(CRLF);
    }

    /// The answer for a value that is not there.
    pub fn null(&mut self) {
        self.out.extend_from_slice(match self.version {
            Version::Resp2 => b"$-1\r\n",
            Version::Resp3 => b"_\r\n",
        });
    }

    /// The answer for a list that is not there (an aborted `EXEC`, a `BLPOP` that timed out).
    pub fn null_array(&mut self) {
        self.out.extend_from_slice(match self.version {
            Version::Resp2 => b"*-1\r\n",
            Version::Resp3 => b"_\r\n",
        });
    }

    /// The header of an array; its `len` elements must follow.
    pub fn array(&mut self, len: usize) {
        header(self.out, b'*', len);
    }

    /// The header of a map; `pairs` times a key and a value must follow.
    pub fn map(&mut self, pairs: usize) {
        match self.version {
            Version::Resp2 => header(self.out, b'*', 2 * pairs),
            Version::Resp3 => header(self.out, b'%', pairs),
        }
    }

    /// The header of a set; its `len` elements must follow.
    pub fn set(&mut self, len: usize) {
        self.aggregate(b'~', len);
    }

    /// The header of a message that answers no request (pub/sub, invalidation); its `len` elements
    /// must follow.
    pub fn push(&mut self, len: usize) {
        self.aggregate(b'>', len);
    }

    /// A floating point number, in the shortest form that reads back as the same number.
    pub fn double(&mut self, x: f64) {
        // No finite double takes more: a sign, 17 digits, a point, `e`, a sign and three digits;
        // plain notation is used up to 17 places.
        let mut text = [0u8; 32];
        let written = {
            let mut free = &mut text[..];
            let magnitude = x.abs();
            let fits = if x.is_nan() {
                free.write_all(b"nan")
            } else if magnitude.is_infinite() {
                free.write_all(if x > 0.0 { b"inf" } else { b"-inf" })
            } else if magnitude == 0.0 || (1e-5..1e17).contains(&magnitude) {
                write!(free, "{x}")
            } else {
                write!(free, "{x:e}")
            };
            debug_assert!(fits.is_ok());
            32 - free.len()
        };
        self.scalar(b',', &text[..written]);
    }

    /// A truth value; in RESP2 the integer 1 or 0.
    pub fn boolean(&mut self, b: bool) {
        self.out.extend_from_slice(match (self.version, b) {
            (Version::Resp2, true) => b":1\r\n",
            (Version::Resp2, false) => b":0\r\n",
            (Version::Resp3, true) => b"#t\r\n",
            (Version::Resp3, false) => b"#f\r\n",
        });
    }

    /// An integer of any size: an optional minus sign and decimal digits.
    pub fn big_number(&mut self, digits: &str) {
        self.scalar(b'(', digits.as_bytes());
    }

    /// A text for people to read; `kind` is `txt` or `mkd`. In RESP2 a bulk without the kind.
    pub fn verbatim(&mut self, kind: &[u8; 3], text: &str) {
        self.verbatim_bytes(*kind, text.as_bytes());
    }

    pub(super) fn verbatim_bytes(&mut self, kind: [u8; 3], text: &[u8]) {
        match self.version {
            Version::Resp2 => self.bulk(text),
            Version::Resp3 => {
                header(self.out, b'=', text.len() + 4);
                self.out.extend_from_slice(&kind);
                self.out.push(b':');
                self.out.extend_from_slice(text);
                self.out.extend_from_slice(CRLF);
            }
        }
    }

    /// An error whose text may hold line ends; in RESP2 an error line, with spaces in their place.
    pub fn bulk_error(&mut self, text: &[u8]) {
        match self.version {
            Version::Resp2 => self.line(b'-', text),
            Version::Resp3 => blob(self.out, b'!', text),
        }
    }

    pub(super) fn line(&mut self, kind: u8, text: &[u8]) {
        line(self.out, kind, text);
    }

    pub(super) fn scalar(&mut self, kind: u8, text: &[u8]) {
        match self.version {
            Version::Resp2 => self.bulk(text),
            Version::Resp3 => line(self.out, kind, text),
        }
    }

    fn aggregate(&mut self, kind: u8, len: usize) {
        match self.version {
            Version::Resp2 => header(self.out, b'*', len),
            Version::Resp3 => header(self.out, kind, len),
        }
    }
}

/// A type byte, a length and CR LF.
#[inline]
pub(super) fn header(out: &mut Vec<u8>, kind: u8, len: usize) {
    out.push(kind);
    out.extend_from_slice(itoa::Buffer::new().format(len).as_bytes());
    out.extend_from_slice(CRLF);
}

/// A string with its length before it.
#[inline]
pub(super) fn blob(out: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    // A type byte, at most 20 digits and twice CR LF: one growth instead of up to three.
    out.reserve(bytes.len() + 25);
    header(out, kind, bytes.len());
    out.extend_from_slice(bytes);
    out.extend_from_slice(CRLF);
}

fn line(out: &mut Vec<u8>, kind: u8, text: &[u8]) {
    out.push(kind);
    let start = out.len();
    out.extend_from_slice(text);
    for byte in &mut out[start..] {
        if matches!(byte, b'\r' | b'\n') {
            *byte = b' ';
        }
    }
    out.extend_from_slice(CRLF);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(version: Version, write: impl FnOnce(&mut Encoder<'_>)) -> String {
        let mut out = Vec::new();
        write(&mut Encoder::new(&mut out, version));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_version_gets_its_own_form() {
        type Write = fn(&mut Encoder<'_>);
        let cases: [(Write, &str, &str); 17] = [
            (|e| e.simple("OK"), "+OK\r\n", "+OK\r\n"),
            (|e| e.error("ERR no"), "-ERR no\r\n", "-ERR no\r\n"),
            (
                |e| e.integer(i64::MIN),
                ":-9223372036854775808\r\n",
                ":-9223372036854775808\r\n",
            ),
            (
                |e| e.bulk(b"a\r\nb"),
                "$4\r\na\r\nb\r\n",
                "$4\r\na\r\nb\r\n",
            ),
            (|e| e.bulk(b""), "$0\r\n\r\n", "$0\r\n\r\n"),
            (|e| e.null(), "$-1\r\n", "_\r\n"),
            (|e| e.null_array(), "*-1\r\n", "_\r\n"),
            (|e| e.array(3), "*3\r\n", "*3\r\n"),
            (|e| e.map(2), "*4\r\n", "%2\r\n"),
            (|e| e.set(2), "*2\r\n", "~2\r\n"),
            (|e| e.push(2), "*2\r\n", ">2\r\n"),
            (|e| e.double(0.1), "$3\r\n0.1\r\n", ",0.1\r\n"),
            (|e| e.boolean(true), ":1\r\n", "#t\r\n"),
            (|e| e.boolean(false), ":0\r\n", "#f\r\n"),
            (|e| e.big_number("-12"), "$3\r\n-12\r\n", "(-12\r\n"),
            (
                |e| e.verbatim(b"txt", "hi"),
                "$2\r\nhi\r\n",
                "=6\r\ntxt:hi\r\n",
            ),
            (|e| e.verbatim(b"mkd", ""), "$0\r\n\r\n", "=4\r\nmkd:\r\n"),
        ];
        for (write, resp2, resp3) in cases {
            assert_eq!(encoded(Version::Resp2, write), resp2);
            assert_eq!(encoded(Version::Resp3, write), resp3);
        }
    }

    #[test]
    fn a_line_end_in_a_text_cannot_start_another_reply() {
        assert_eq!(
            encoded(Version::Resp2, |e| e
                .error("ERR unknown command 'a\r\n+OK'")),
            "-ERR unknown command 'a  +OK'\r\n"
        );
        assert_eq!(encoded(Version::Resp3, |e| e.simple("a\nb")), "+a b\r\n");
    }

    #[test]
    fn a_double_reads_back_as_itself_in_few_bytes() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (3.0, "3"),
            (-1.5, "-1.5"),
            (1e-5, "0.00001"),
            (1.2e-6, "1.2e-6"),
            (99_999_999_999_999_984.0, "99999999999999980"),
            (1e17, "1e17"),
            (f64::MAX, "1.7976931348623157e308"),
            (-f64::MIN_POSITIVE, "-2.2250738585072014e-308"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
            (-f64::NAN, "nan"),
        ];
        for (x, text) in cases {
            assert_eq!(
                encoded(Version::Resp3, |e| e.double(x)),
                format!(",{text}\r\n")
            );
        }
    }

    #[test]
    fn a_value_sent_from_elsewhere_is_framed_like_any_other() {
        let framed = encoded(Version::Resp2, |e| {
            e.bulk_header(3);
            e.out.extend_from_slice(b"abc");
            e.bulk_end();
        });
        assert_eq!(framed, encoded(Version::Resp2, |e| e.bulk(b"abc")));
    }
}
