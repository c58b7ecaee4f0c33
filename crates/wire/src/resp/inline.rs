//! Inline requests: one line of words, with the quoting rules of redis-cli and of Redis's own
//! configuration files.
//!
//! Between words any C white space counts; a bare word ends only at space, tab, CR or LF, so a form
//! feed inside one belongs to it. A double quote opens a part with escapes (`\xHH`, `\n`, `\r`,
//! `\t`, `\b`, `\a`, and any other byte for itself), a single quote one in which only `\'` means
//! something; either may start in the middle of a word, and after it the word must end.

use memchr::memchr2;

use super::args::Span;
use super::error::ProtocolError;

/// Which bytes the spans of a line's words refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// No word is quoted: the words stand in the line as they are.
    InLine,
    /// Some word is quoted: all words were written to the unescaped bytes.
    Unescaped,
}

/// Splits a line (without its LF) into words. Spans of words that stand in the line are relative to
/// the line's start.
pub(super) fn split(
    line: &[u8],
    spans: &mut Vec<Span>,
    unescaped: &mut Vec<u8>,
) -> Result<Held, ProtocolError> {
    if memchr2(b'"', b'\'', line).is_none() {
        split_bare(line, spans);
        return Ok(Held::InLine);
    }
    let mut rest = skip_space(line);
    while !rest.is_empty() {
        let start = unescaped.len();
        rest = skip_space(word(rest, unescaped)?);
        spans.push(Span {
            start,
            end: unescaped.len(),
        });
    }
    Ok(Held::Unescaped)
}

fn split_bare(line: &[u8], spans: &mut Vec<Span>) {
    let mut at = 0;
    loop {
        at += line[at..]
            .iter()
            .take_while(|byte| is_space(**byte))
            .count();
        if at == line.len() {
            return;
        }
        let len = line[at..]
            .iter()
            .take_while(|byte| !ends_bare_word(**byte))
            .count();
        spans.push(Span {
            start: at,
            end: at + len,
        });
        at += len;
    }
}

/// Writes the word at the start of `rest` to `out` and returns what follows it.
fn word<'a>(mut rest: &'a [u8], out: &mut Vec<u8>) -> Result<&'a [u8], ProtocolError> {
    loop {
        match rest {
            [b'"', tail @ ..] => return after_quote(double_quoted(tail, out)?),
            [b'\'', tail @ ..] => return after_quote(single_quoted(tail, out)?),
            [byte, tail @ ..] if !ends_bare_word(*byte) => {
                out.push(*byte);
                rest = tail;
            }
            _ => return Ok(rest),
        }
    }
}

fn after_quote(rest: &[u8]) -> Result<&[u8], ProtocolError> {
    match rest.first() {
        Some(byte) if !is_space(*byte) => Err(ProtocolError::UnbalancedQuotes),
        _ => Ok(rest),
    }
}

fn double_quoted<'a>(mut rest: &'a [u8], out: &mut Vec<u8>) -> Result<&'a [u8], ProtocolError> {
    loop {
        rest = match rest {
            [b'"', tail @ ..] => return Ok(tail),
            [b'\\', b'x', high, low, tail @ ..]
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                out.push(hex_value(*high) << 4 | hex_value(*low));
                tail
            }
            [b'\\', escaped, tail @ ..] => {
                out.push(match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 0x08,
                    b'a' => 0x07,
                    other => *other,
                });
                tail
            }
            // A lone backslash at the end is a byte of its own, as in Redis; the quote is
            // unbalanced then anyway.
            [byte, tail @ ..] => {
                out.push(*byte);
                tail
            }
            [] => return Err(ProtocolError::UnbalancedQuotes),
        };
    }
}

fn single_quoted<'a>(mut rest: &'a [u8], out: &mut Vec<u8>) -> Result<&'a [u8], ProtocolError> {
    loop {
        rest = match rest {
            [b'\'', tail @ ..] => return Ok(tail),
            [b'\\', b'\'', tail @ ..] => {
                out.push(b'\'');
                tail
            }
            [byte, tail @ ..] => {
                out.push(*byte);
                tail
            }
            [] => return Err(ProtocolError::UnbalancedQuotes),
        };
    }
}

fn hex_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

fn skip_space(bytes: &[u8]) -> &[u8] {
    &bytes[bytes.iter().take_while(|byte| is_space(**byte)).count()..]
}

/// C's `isspace`, which is ASCII's white space and the vertical tab.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn ends_bare_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &[u8]) -> Result<Vec<Vec<u8>>, ProtocolError> {
        let (mut spans, mut unescaped) = (Vec::new(), Vec::new());
        let bytes = match split(line, &mut spans, &mut unescaped)? {
            Held::InLine => line,
            Held::Unescaped => &unescaped,
        };
        Ok(spans
            .iter()
            .map(|span| bytes[span.start..span.end].to_vec())
            .collect())
    }

    /// Each line was given to a redis-server 7.0, with `ECHO` before the last word.
    #[test]
    fn a_line_is_split_as_redis_splits_it() {
        let cases: [(&[u8], &[&[u8]]); 17] = [
            (b"", &[]),
            (b" \t\x0b\x0c\r", &[]),
            (b"  PING  ", &[b"PING"]),
            (b"ECHO\tabc", &[b"ECHO", b"abc"]),
            (b"ECHO \x0babc", &[b"ECHO", b"abc"]),
            (b"ECHO\x0cabc\x0b", &[b"ECHO\x0cabc\x0b"]),
            (b"ECHO a\rb", &[b"ECHO", b"a", b"b"]),
            (b"ECHO a\\nb", &[b"ECHO", b"a\\nb"]),
            (b"ECHO \xff\xa0\x85", &[b"ECHO", b"\xff\xa0\x85"]),
            (
                br#"ECHO "a\x41\n\r\t\b\a\q\"b""#,
                &[b"ECHO", b"aA\n\r\t\x08\x07q\"b"],
            ),
            (br#"ECHO "a\x4g\xFf""#, &[b"ECHO", b"ax4g\xff"]),
            (br"ECHO 'a\'b\nc'", &[b"ECHO", br"a'b\nc"]),
            (br#"ECHO ab"c d""#, &[b"ECHO", b"abc d"]),
            (br#"ECHO """#, &[b"ECHO", b""]),
            (b"''", &[b""]),
            (br#"ECHO 'a"b'"#, &[b"ECHO", br#"a"b"#]),
            (br#"ECHO "a'b" c"#, &[b"ECHO", b"a'b", b"c"]),
        ];
        for (line, expected) in cases {
            assert_eq!(words(line).unwrap(), expected, "{}", line.escape_ascii());
        }
    }

    #[test]
    fn a_quote_must_be_closed_at_the_end_of_its_word() {
        let cases: [&[u8]; 8] = [
            br#"ECHO "abc"#,
            b"ECHO 'abc",
            br#"ECHO "abc"d"#,
            br#"ECHO ab"c"d"#,
            br#"ECHO "a\x4"#,
            br#"ECHO "a\"#,
            br#""\""#,
            br#""a""b""#,
        ];
        for line in cases {
            assert_eq!(
                words(line),
                Err(ProtocolError::UnbalancedQuotes),
                "{}",
                line.escape_ascii()
            );
        }
    }
}
