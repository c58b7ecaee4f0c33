//! Patterns of `KEYS`, `SCAN MATCH`, `PSUBSCRIBE` and `CONFIG GET`.
//!
//! `*` any bytes, `?` one byte, `[abc]` `[a-z]` `[^a]` one of a set, `\` the next byte as it is.
//!
//! There are two ways of matching. The simple one compares byte by byte and on a mismatch tries only
//! the last `*` again, because an earlier one could not do better; its time is bounded by the product
//! of both lengths. Where that product is large, all positions in the pattern at which the text may
//! be are followed at once, a bit for each (Baeza-Yates and Gonnet, "A new approach to text
//! searching", 1992): 64 positions in each step, whatever pattern and text are made of.

use std::cell::OnceCell;

use super::error::CommandError;

/// Longest pattern that is accepted.
pub(crate) const MAX_PATTERN_BYTES: usize = 1024;

/// Up to this product of the lengths, the preparation for the second way costs more than it saves.
const SIMPLE_UP_TO: usize = 64 * 1024;

/// A pattern that is matched against many texts.
pub(crate) struct Pattern<'a> {
    pattern: &'a [u8],
    positions: OnceCell<Positions>,
}

impl<'a> Pattern<'a> {
    /// # Errors
    /// If it is longer than [`MAX_PATTERN_BYTES`].
    pub(super) fn new(pattern: &'a [u8]) -> Result<Self, CommandError> {
        check_len(pattern)?;
        Ok(Pattern::known(pattern))
    }

    /// A pattern whose length was checked before.
    pub(crate) fn known(pattern: &'a [u8]) -> Self {
        Pattern {
            pattern,
            positions: OnceCell::new(),
        }
    }

    /// Whether the whole of `text` matches.
    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        if self.pattern == b"*" {
            true
        } else if self.pattern.len() * text.len() <= SIMPLE_UP_TO {
            matches_folded(self.pattern, text, |byte| byte)
        } else {
            let positions = self.positions.get_or_init(|| Positions::of(self.pattern));
            positions.match_whole(text)
        }
    }
}

pub(super) fn check_len(pattern: &[u8]) -> Result<(), CommandError> {
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(CommandError::PatternTooLong);
    }
    Ok(())
}

/// Whether the whole of `text` matches, without regard to the case of ASCII letters.
pub(super) fn matches_ignoring_case(pattern: &[u8], text: &[u8]) -> bool {
    matches_folded(pattern, text, |byte| byte.to_ascii_lowercase())
}

/// The positions between the elements of a pattern, a bit for each, stars left out.
struct Positions {
    words: usize,
    /// For each byte the positions from which it leads to the next one; `words` words a byte.
    steps: Vec<u64>,
    /// Positions at which there is a star: any byte stays there.
    stays: Vec<u64>,
    last: usize,
}

impl Positions {
    fn of(pattern: &[u8]) -> Self {
        let words = pattern.len() / 64 + 1;
        let mut steps = vec![0; 256 * words];
        let mut stays = vec![0; words];
        let (mut at, mut position) = (0, 0);
        while let Some(&first) = pattern.get(at) {
            let bit = 1 << (position % 64);
            if first == b'*' {
                stays[position / 64] |= bit;
                at += 1;
                continue;
            }
            let mut element = 1;
            for byte in 0..=u8::MAX {
                let (fits, len) = match_one(&pattern[at..], byte, &|byte| byte);
                element = len;
                if fits {
                    steps[usize::from(byte) * words + position / 64] |= bit;
                }
            }
            at += element;
            position += 1;
        }
        Positions {
            words,
            steps,
            stays,
            last: position,
        }
    }

    fn match_whole(&self, text: &[u8]) -> bool {
        let mut reached = vec![0_u64; self.words];
        reached[0] = 1;
        for &byte in text {
            let steps = &self.steps[usize::from(byte) * self.words..][..self.words];
            // From the last position of one word to the first of the next.
            let mut carried = 0;
            for ((reached, steps), stays) in reached.iter_mut().zip(steps).zip(&self.stays) {
                let stepping = *reached & steps;
                *reached = stepping << 1 | carried | *reached & stays;
                carried = stepping >> 63;
            }
        }
        reached[self.last / 64] >> (self.last % 64) & 1 == 1
    }
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
            let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
            let simple = Pattern::known(pattern).matches(text);
            assert_eq!(simple, expected, "{pattern:?} on {text:?}");
            let by_positions = Positions::of(pattern).match_whole(text);
            assert_eq!(by_positions, expected, "{pattern:?} on {text:?}");
        }
        assert!(matches_ignoring_case(b"MAX[A-Z]*", b"maxmemory"));
    }

    #[test]
    fn both_ways_of_matching_agree() {
        let mut random = fastrand::Rng::with_seed(1992);
        let mut matching = 0;
        for _ in 0..20_000 {
            let mut some = |of: &[u8], most: usize| -> Vec<u8> {
                let len = random.usize(..most);
                (0..len).map(|_| *random.choice(of).unwrap()).collect()
            };
            let (pattern, text) = (some(br"aabb**?[]^-\", 12), some(b"aab]-", 9));
            let simple = matches_folded(&pattern, &text, |byte| byte);
            let by_positions = Positions::of(&pattern).match_whole(&text);
            let shown = (pattern.escape_ascii(), text.escape_ascii());
            assert_eq!(simple, by_positions, "{} on {}", shown.0, shown.1);
            matching += usize::from(simple);
        }
        assert!(matching > 500, "{matching}");
    }

    #[test]
    fn a_pattern_made_to_be_slow_is_fast_on_a_long_text() {
        let pattern = [&b"*"[..], &b"a".repeat(MAX_PATTERN_BYTES - 2), b"b"].concat();
        let pattern = Pattern::new(&pattern).unwrap();
        let started = std::time::Instant::now();
        // The product of the lengths is 2 * 10^9.
        assert!(!pattern.matches(&b"a".repeat(2_000_000)));
        assert!(pattern.matches(&[&b"a".repeat(100_000)[..], b"b"].concat()));
        assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
    }

    #[test]
    fn a_pattern_longer_than_the_bound_is_refused() {
        assert!(Pattern::new(&[b'*'; MAX_PATTERN_BYTES]).is_ok());
        assert!(Pattern::new(&[b'*'; MAX_PATTERN_BYTES + 1]).is_err());
    }
}
