//! Numbers in lines: decimal digits, with a sign if need be.

/// A number without a minus.
pub(super) fn unsigned<N: std::str::FromStr>(token: &[u8]) -> Option<N> {
    let digits = token.strip_prefix(b"+").unwrap_or(token);
    parse(digits).filter(|_| digits.first().is_some_and(u8::is_ascii_digit))
}

pub(super) fn signed(token: &[u8]) -> Option<i64> {
    let digits = token.strip_prefix(b"-").or(token.strip_prefix(b"+"));
    let first = digits.unwrap_or(token).first();
    parse(token).filter(|_| first.is_some_and(u8::is_ascii_digit))
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
}
