//! Numbers in lines and in values: decimal digits, with a sign if need be.

/// A number without a minus.
pub(super) fn unsigned<N: std::str::FromStr>(token: &[u8]) -> Option<N> {
    let digits = match token {
        // The C library reads a zero in this too.
        b"-0" => b"0",
        [b'+', digits @ ..] => digits,
        digits => digits,
    };
    parse(digits).filter(|_| digits.first().is_some_and(u8::is_ascii_digit))
}

pub(super) fn signed(token: &[u8]) -> Option<i64> {
    let digits = token.strip_prefix(b"-").or(token.strip_prefix(b"+"));
    let first = digits.unwrap_or(token).first();
    parse(token).filter(|_| first.is_some_and(u8::is_ascii_digit))
}

/// The number that a stored value begins with, as `incr` and `decr` understand it: behind spaces, and up to a
/// space or a NUL.
///
/// ```
/// use hotcopy_wire::memcached::leading_number;
/// assert_eq!(leading_number(b"41   "), Some(41));
/// assert_eq!(leading_number(b"41a"), None);
/// ```
#[must_use]
pub fn leading_number(value: &[u8]) -> Option<u64> {
    // The standard library counts the vertical tab to no spaces, the C library does.
    let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'\x0b';
    let start = value.iter().position(|byte| !is_space(byte))?;
    let text = &value[start..];
    let end = text.iter().position(|byte| is_space(byte) || *byte == 0);
    unsigned(&text[..end.unwrap_or(text.len())])
}

fn parse<N: std::str::FromStr>(token: &[u8]) -> Option<N> {
    std::str::from_utf8(token).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_digits_and_at_most_one_sign() {
        assert_eq!(unsigned::<u32>(b"4294967295"), Some(u32::MAX));
        assert_eq!(unsigned::<u64>(b"+1"), Some(1));
        assert_eq!(signed(b"-1"), Some(-1));
        assert_eq!(signed(b"+10"), Some(10));
        for wrong in [
            &b""[..],
            b"-",
            b"+",
            b"++1",
            b"+-1",
            b"1x",
            b"0x1",
            b" 1",
            b"\xff",
        ] {
            assert_eq!(unsigned::<u64>(wrong), None, "{wrong:?}");
            assert_eq!(signed(wrong), None, "{wrong:?}");
        }
        assert_eq!(unsigned::<u64>(b"-1"), None);
        assert_eq!(unsigned::<u32>(b"4294967296"), None);
    }
    #[test]
    fn a_value_is_a_number_up_to_the_first_space() {
        for (value, number) in [
            ("1", Some(1)),
            (" \t13", Some(13)),
            ("1 3", Some(1)),
            ("1\r3", Some(1)),
            ("1\x003", Some(1)),
            ("1\x0b", Some(1)),
            ("+13", Some(13)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("-13", None),
            ("1a3", None),
            ("", None),
            ("   ", None),
            ("\x001", None),
        ] {
            assert_eq!(leading_number(value.as_bytes()), number, "{value:?}");
        }
    }
}
