//! Decimal numbers as RESP writes them.

/// Reads digits and their CR LF from the start of `bytes`: the number, and how many bytes it took
/// with its terminator.
///
/// This is the short way for what well-behaved peers send: at most nine digits, no sign, no leading
/// zero, all there. `None` says nothing about the input; the caller then looks at the line
/// properly.
#[inline]
pub(super) fn short_length(bytes: &[u8]) -> Option<(u32, usize)> {
    const MOST_DIGITS: usize = 9;
    let mut value = 0u32;
    for (at, &byte) in bytes.iter().enumerate().take(MOST_DIGITS + 1) {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 && at < MOST_DIGITS {
            value = value * 10 + u32::from(digit);
            continue;
        }
        let canonical = at == 1 || (at > 1 && bytes[0] != b'0');
        return (canonical && byte == b'\r' && bytes.get(at + 1) == Some(&b'\n'))
            .then_some((value, at + 2));
    }
    None
}

/// A length or count: canonical decimal only, so no plus sign, no leading zero and no `-0` (as
/// Redis reads its own).
pub(super) fn canonical(digits: &[u8]) -> Option<i64> {
    let magnitude = digits.strip_prefix(b"-").unwrap_or(digits);
    let canonical = match magnitude {
        [b'0'] => digits.len() == 1,
        [first, ..] => *first != b'0' && *first != b'+',
        [] => false,
    };
    if canonical { integer(digits) } else { None }
}

/// An integer reply: an optional sign, then digits, within 64 bits.
pub(super) fn integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    // Counted downwards, because the smallest number has no positive counterpart.
    let mut value = 0i64;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_sub(i64::from(digit))?;
    }
    if negative {
        Some(value)
    } else {
        value.checked_neg()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_length_is_read_with_its_terminator() {
        assert_eq!(short_length(b"0\r\nrest"), Some((0, 3)));
        assert_eq!(short_length(b"41083\r\n"), Some((41_083, 7)));
        assert_eq!(short_length(b"999999999\r\n"), Some((999_999_999, 11)));
    }

    #[test]
    fn a_short_length_leaves_everything_unusual_to_the_long_way() {
        for odd in [
            "",
            "1",
            "12\r",
            "\r\n",
            "01\r\n",
            "00\r\n",
            "-1\r\n",
            "+1\r\n",
            "1\n",
            "1\rx",
            "1x\r\n",
            "1234567890\r\n",
            "1234567890",
        ] {
            assert_eq!(short_length(odd.as_bytes()), None, "{odd:?}");
        }
    }

    #[test]
    fn a_canonical_number_has_one_spelling() {
        for (text, value) in [
            ("0", 0),
            ("7", 7),
            ("-1", -1),
            ("-9223372036854775808", i64::MIN),
            ("9223372036854775807", i64::MAX),
        ] {
            assert_eq!(canonical(text.as_bytes()), Some(value), "{text}");
        }
        for bad in [
            "",
            "-",
            "+1",
            "-+1",
            "01",
            "-01",
            "-0",
            " 1",
            "1 ",
            "1x",
            "9223372036854775808",
            "-9223372036854775809",
            "--1",
        ] {
            assert_eq!(canonical(bad.as_bytes()), None, "{bad:?}");
        }
    }

    #[test]
    fn an_integer_may_carry_a_plus_sign_and_leading_zeros() {
        assert_eq!(integer(b"+05"), Some(5));
        assert_eq!(integer(b"-007"), Some(-7));
        for bad in ["", "+", "+-1", "1.0", "9223372036854775808"] {
            assert_eq!(integer(bad.as_bytes()), None, "{bad:?}");
        }
    }
}
