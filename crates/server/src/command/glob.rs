//! Patterns of `KEYS`, `SCAN MATCH`, `PSUBSCRIBE` and `CONFIG GET`.
//!
//! `*` any bytes, `?` one byte, `[abc]` `[a-z]` `[^a]` one of a set, `\` the next byte as it is. The
//! time is bounded by the product of both lengths, also for patterns made to be slow: on a mismatch
//! only the last `*` is tried again, because an earlier one could not do better.

/// Whether the whole of `text` matches `pattern`.
pub(crate) fn matches(pattern: &[u8], text: &[u8]) -> bool {
    matches_folded(pattern, text, |byte| byte)
}

/// [`matches()`] without regard to the case of ASCII letters.
pub(crate) fn matches_ignoring_case(pattern: &[u8], text: &[u8]) -> bool {
    matches_folded(pattern, text, |byte| byte.to_ascii_lowercase())
}

fn matches_folded(pattern: &[u8], text: &[u8], fold: impl Fn(u8) -> u8) -> bool {
    let (mut pattern_at, mut text_at) = (0, 0);
    // Where the last star is, and where in the text the rest was last tried.
    let mut star = None;
    loop {
        match pattern.get(pattern_at) {
            Some(b'*') => {
                star = Some((pattern_at, text_at));
                pattern_at += 1;
                continue;
            }
            None if text_at == text.len() => return true,
            Some(_) if text_at < text.len() => {
                let (fits, element) = match_one(&pattern[pattern_at..], text[text_at], &fold);
                if fits {
                    pattern_at += element;
                    text_at += 1;
                    continue;
                }
            }
            _ => {}
        }
        match star {
            Some((star_at, tried_at)) if tried_at < text.len() => {
                star = Some((star_at, tried_at + 1));
                pattern_at = star_at + 1;
                text_at = tried_at + 1;
            }
            _ => return false,
        }
    }
}

/// Whether one byte fits the first element of a pattern that does not start with `*`; and the
/// element's length.
fn match_one(pattern: &[u8], byte: u8, fold: &impl Fn(u8) -> u8) -> (bool, usize) {
    let same = |wanted: u8| fold(wanted) == fold(byte);
    match pattern {
        [b'?', ..] => (true, 1),
        [b'\\', escaped, ..] => (same(*escaped), 2),
        [b'[', set @ ..] => {
            let (fits, len) = match_set(set, byte, fold);
            (fits, len + 1)
        }
        [literal, ..] => (same(*literal), 1),
        [] => (false, 0),
    }
}

/// `set` starts behind the `[`. A set that is not closed ends with the pattern, as in Redis.
fn match_set(set: &[u8], byte: u8, fold: &impl Fn(u8) -> u8) -> (bool, usize) {
    let is_negated = set.first() == Some(&b'^');
    let mut at = usize::from(is_negated);
    let mut found = false;
    let byte = fold(byte);
    while let Some(&first) = set.get(at) {
        match (first, &set[at + 1..]) {
            (b']', _) => return (found != is_negated, at + 1),
            (b'\\', [escaped, ..]) => {
                found |= fold(*escaped) == byte;
                at += 2;
            }
            (low, [b'-', high, ..]) => {
                let (low, high) = (fold(low.min(*high)), fold(low.max(*high)));
                found |= (low..=high).contains(&byte);
                at += 3;
            }
            (single, _) => {
                found |= fold(single) == byte;
                at += 1;
            }
        }
    }
    (found != is_negated, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_redis() {
        let cases: &[(&str, &str, bool)] = &[
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "anything", true),
            ("a*c", "abbc", true),
            ("a*c", "abbd", false),
            ("a**c", "ac", true),
            ("*a*b*", "xxaxxbxx", true),
            ("*ab", "aab", true),
            ("h?llo", "hello", true),
            ("h?llo", "hllo", false),
            ("h[ae]llo", "hallo", true),
            ("h[ae]llo", "hillo", false),
            ("h[^e]llo", "hallo", true),
            ("h[^e]llo", "hello", false),
            ("h[a-c]llo", "hbllo", true),
            ("h[c-a]llo", "hbllo", true),
            ("h[a-c]llo", "hdllo", false),
            ("[a-z0-9]", "5", true),
            (r"[\]]", "]", true),
            (r"\*", "*", true),
            (r"\*", "a", false),
            (r"a\?b", "a?b", true),
            ("[abc", "c", true),
            ("a", "A", false),
            ("news.*", "news.art.figurative", true),
            ("*.*.x", "a.b.c.x", true),
        ];
        for &(pattern, text, expected) in cases {
            let found = matches(pattern.as_bytes(), text.as_bytes());
            assert_eq!(found, expected, "{pattern:?} on {text:?}");
        }
        assert!(matches_ignoring_case(b"MAX[A-Z]*", b"maxmemory"));
    }

    #[test]
    fn a_pattern_made_to_be_slow_takes_no_longer_than_the_product_of_the_lengths() {
        let pattern = b"*a".repeat(1_000);
        let text = b"a".repeat(20_000);
        assert!(matches(&pattern, &text));
        let no_match = [&pattern[..], b"b"].concat();
        assert!(!matches(&no_match, &text));
    }
}
