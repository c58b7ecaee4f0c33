//! What a reply must look like: written as replies are printed, with wildcards where servers may differ.

use super::scanner::{Scanner, SyntaxError};
use crate::resp::{Protocol, Reply};

/// A pattern for one reply. Maps, pushes, sets and texts match the form that the protocol in use gives them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern {
    /// `any`
    Any,
    /// `+OK`, in which `*` stands for any characters.
    Simple(Glob),
    /// `-ERR no such *`
    Error(Glob),
    /// `:1`, `:0..60`, `:*`
    Integer(i64, i64),
    /// `"exact"`
    Bulk(Vec<u8>),
    /// `like "glob*"`
    BulkLike(Glob),
    /// `text like "glob*"`: verbatim in RESP3, bulk in RESP2.
    TextLike(Glob),
    /// `nil`
    Null,
    /// `[a, b]`; with `...` at its end more may follow.
    Array(List),
    /// `unordered [a, b]`
    Unordered(Vec<Pattern>),
    /// `set [a, b]`: a set in RESP3, an array in RESP2, in any order.
    Set(Vec<Pattern>),
    /// `push [a, b]`: a push in RESP3, an array in RESP2.
    Push(List),
    /// `map { "key": value, ... }`: a map in RESP3, a flat array in RESP2, in any order.
    Map {
        /// Entries that must be there.
        entries: Vec<(Vec<u8>, Pattern)>,
        /// Whether there may be others.
        open: bool,
    },
}

/// Patterns in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    items: Vec<Pattern>,
    open: bool,
}

/// Text in which `*` stands for any bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(Vec<u8>);

impl Glob {
    pub(super) fn new(text: Vec<u8>) -> Self {
        Self(text)
    }

    pub(super) fn matches(&self, text: &[u8]) -> bool {
        let mut parts = self.0.split(|&byte| byte == b'*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = text.strip_prefix(first) else {
            return false;
        };
        let mut parts: Vec<&[u8]> = parts.collect();
        let Some(last) = parts.pop() else {
            return rest.is_empty();
        };
        for part in parts {
            match find(rest, part) {
                Some(position) => rest = &rest[position + part.len()..],
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    if part.is_empty() {
        return Some(0);
    }
    text.windows(part.len()).position(|window| window == part)
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// [`SyntaxError::End`] when the text stops too early, another when it is wrong.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let mut scanner = Scanner::new(text);
        // Statuses and errors may hold spaces and brackets, so at the outermost level they go up to the end of the line.
        if scanner.take("+") {
            return Ok(Self::Simple(Glob(scanner.take_rest().into())));
        }
        if scanner.take("-") {
            return Ok(Self::Error(Glob(scanner.take_rest().into())));
        }
        let pattern = parse_nested(&mut scanner)?;
        if scanner.at_end() {
            Ok(pattern)
        } else {
            Err(scanner.expected("the end of the pattern"))
        }
    }

    /// Whether `reply`, received over `protocol`, is as the pattern says.
    #[must_use]
    pub fn matches(&self, reply: &Reply, protocol: Protocol) -> bool {
        let resp3 = protocol == Protocol::Resp3;
        match (self, reply) {
            (Self::Any, _) | (Self::Null, Reply::Null) => true,
            (Self::Simple(glob), Reply::Simple(text)) | (Self::Error(glob), Reply::Error(text)) => {
                glob.matches(text)
            }
            (Self::Integer(least, most), Reply::Integer(number)) => {
                (least..=most).contains(&number)
            }
            (Self::Bulk(expected), Reply::Bulk(bytes)) => expected == bytes,
            (Self::BulkLike(glob), Reply::Bulk(bytes)) => glob.matches(bytes),
            (Self::TextLike(glob), Reply::Verbatim(text)) if resp3 => glob.matches(text),
            (Self::TextLike(glob), Reply::Bulk(text)) if !resp3 => glob.matches(text),
            (Self::Array(list), Reply::Array(items)) => list.matches(items, protocol),
            (Self::Unordered(expected), Reply::Array(items)) => {
                same_in_any_order(expected, items, protocol)
            }
            (Self::Set(expected), Reply::Set(items)) if resp3 => {
                same_in_any_order(expected, items, protocol)
            }
            (Self::Set(expected), Reply::Array(items)) if !resp3 => {
                same_in_any_order(expected, items, protocol)
            }
            (Self::Push(list), Reply::Push(items)) if resp3 => list.matches(items, protocol),
            (Self::Push(list), Reply::Array(items)) if !resp3 => list.matches(items, protocol),
            (Self::Map { entries, open }, Reply::Map(pairs)) if resp3 => {
                let pairs: Vec<_> = pairs.iter().map(|(key, value)| (key, value)).collect();
                has_entries(entries, *open, &pairs, protocol)
            }
            (Self::Map { entries, open }, Reply::Array(items)) if !resp3 => {
                let pairs = items.chunks_exact(2).map(|pair| (&pair[0], &pair[1]));
                items.len().is_multiple_of(2)
                    && has_entries(entries, *open, &pairs.collect::<Vec<_>>(), protocol)
            }
            _ => false,
        }
    }
}

impl List {
    fn matches(&self, items: &[Reply], protocol: Protocol) -> bool {
        let enough = if self.open {
            items.len() >= self.items.len()
        } else {
            items.len() == self.items.len()
        };
        let mut both = self.items.iter().zip(items);
        enough && both.all(|(pattern, item)| pattern.matches(item, protocol))
    }
}

/// Each pattern takes the first free item; enough for patterns that do not overlap.
fn same_in_any_order(patterns: &[Pattern], items: &[Reply], protocol: Protocol) -> bool {
    let mut free: Vec<&Reply> = items.iter().collect();
    let all = patterns.iter().all(|pattern| {
        let position = free.iter().position(|item| pattern.matches(item, protocol));
        position.map(|position| free.remove(position)).is_some()
    });
    all && free.is_empty()
}

fn has_entries(
    entries: &[(Vec<u8>, Pattern)],
    open: bool,
    pairs: &[(&Reply, &Reply)],
    protocol: Protocol,
) -> bool {
    let found = entries.iter().all(|(key, pattern)| {
        pairs
            .iter()
            .any(|(name, value)| name.bytes() == Some(key) && pattern.matches(value, protocol))
    });
    found && (open || pairs.len() == entries.len())
}

fn parse_nested(scanner: &mut Scanner<'_>) -> Result<Pattern, SyntaxError> {
    if scanner.take("[") {
        return parse_list(scanner).map(Pattern::Array);
    }
    if scanner.take("unordered [") {
        return Ok(Pattern::Unordered(parse_list(scanner)?.items));
    }
    if scanner.take("set [") {
        return Ok(Pattern::Set(parse_list(scanner)?.items));
    }
    if scanner.take("push [") {
        return parse_list(scanner).map(Pattern::Push);
    }
    if scanner.take("map {") {
        return parse_map(scanner);
    }
    if scanner.take("text like") {
        return scanner.string().map(Glob).map(Pattern::TextLike);
    }
    if scanner.take("like") {
        return scanner.string().map(Glob).map(Pattern::BulkLike);
    }
    if scanner.take("nil") {
        return Ok(Pattern::Null);
    }
    if scanner.take("any") {
        return Ok(Pattern::Any);
    }
    if scanner.take("+") {
        return Ok(Pattern::Simple(Glob(scanner.word().into())));
    }
    if scanner.take(":") {
        return parse_integer(scanner);
    }
    scanner.string().map(Pattern::Bulk)
}

fn parse_integer(scanner: &mut Scanner<'_>) -> Result<Pattern, SyntaxError> {
    let word = scanner.word();
    if word == "*" {
        return Ok(Pattern::Integer(i64::MIN, i64::MAX));
    }
    let (least, most) = word.split_once("..").unwrap_or((word, word));
    match (least.parse(), most.parse()) {
        (Ok(least), Ok(most)) => Ok(Pattern::Integer(least, most)),
        _ => Err(scanner.expected("an integer or a range of integers")),
    }
}

fn parse_list(scanner: &mut Scanner<'_>) -> Result<List, SyntaxError> {
    let mut list = List {
        items: Vec::new(),
        open: false,
    };
    while !scanner.take("]") {
        if scanner.take("...") {
            list.open = true;
        } else {
            list.items.push(parse_nested(scanner)?);
        }
        if !scanner.take(",") {
            scanner.expect("]")?;
            break;
        }
    }
    Ok(list)
}

fn parse_map(scanner: &mut Scanner<'_>) -> Result<Pattern, SyntaxError> {
    let mut entries = Vec::new();
    let mut open = false;
    while !scanner.take("}") {
        if scanner.take("...") {
            open = true;
        } else {
            let key = scanner.string()?;
            scanner.expect(":")?;
            entries.push((key, parse_nested(scanner)?));
        }
        if !scanner.take(",") {
            scanner.expect("}")?;
            break;
        }
    }
    Ok(Pattern::Map { entries, open })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, reply: &Reply, protocol: Protocol) -> bool {
        Pattern::parse(pattern)
            .expect("a well-formed pattern")
            .matches(reply, protocol)
    }

    fn bulk(text: &str) -> Reply {
        Reply::Bulk(text.into())
    }

    #[test]
    fn a_star_in_an_error_stands_for_any_characters() {
        let error = Reply::Error(b"ERR unknown command 'x', with args beginning with: ".to_vec());
        let resp2 = Protocol::Resp2;
        assert!(matches("-ERR unknown command *", &error, resp2));
        assert!(matches("-*'x'*", &error, resp2));
        assert!(!matches("-ERR unknown command", &error, resp2));
        assert!(!matches("+ERR*", &error, resp2));
    }

    #[test]
    fn a_star_does_not_match_overlapping_parts() {
        assert!(!Glob(b"ab*ba".to_vec()).matches(b"aba"));
        assert!(Glob(b"ab*ba".to_vec()).matches(b"abba"));
    }

    #[test]
    fn a_map_is_a_flat_array_in_resp2_and_a_map_in_resp3() {
        let flat = Reply::Array(vec![bulk("a"), Reply::Integer(1)]);
        let map = Reply::Map(vec![(bulk("a"), Reply::Integer(1))]);
        let pattern = r#"map { "a": :1 }"#;
        assert!(matches(pattern, &flat, Protocol::Resp2));
        assert!(matches(pattern, &map, Protocol::Resp3));
        assert!(!matches(pattern, &flat, Protocol::Resp3));
        assert!(!matches(pattern, &map, Protocol::Resp2));
    }

    #[test]
    fn a_closed_map_or_list_allows_no_more_than_it_names() {
        let map = Reply::Map(vec![
            (bulk("a"), Reply::Integer(1)),
            (bulk("b"), Reply::Null),
        ]);
        assert!(!matches(r#"map { "a": :1 }"#, &map, Protocol::Resp3));
        assert!(matches(r#"map { "a": :1, ... }"#, &map, Protocol::Resp3));
        let list = Reply::Array(vec![bulk("a"), bulk("b")]);
        assert!(!matches(r#"["a"]"#, &list, Protocol::Resp3));
        assert!(matches(r#"["a", ...]"#, &list, Protocol::Resp3));
    }

    #[test]
    fn an_unordered_list_wants_each_item_once() {
        let list = Reply::Array(vec![bulk("b"), bulk("a")]);
        assert!(matches(r#"unordered ["a", "b"]"#, &list, Protocol::Resp2));
        assert!(!matches(r#"unordered ["a", "a"]"#, &list, Protocol::Resp2));
        assert!(!matches(r#"["a", "b"]"#, &list, Protocol::Resp2));
    }

    #[test]
    fn an_integer_may_lie_in_a_range() {
        assert!(matches(":1..10", &Reply::Integer(10), Protocol::Resp2));
        assert!(!matches(":1..10", &Reply::Integer(11), Protocol::Resp2));
    }

    #[test]
    fn an_open_bracket_is_an_unexpected_end() {
        assert_eq!(Pattern::parse(r#"["a","#), Err(SyntaxError::End));
        assert!(matches!(
            Pattern::parse(r#""a" "b""#),
            Err(SyntaxError::Expected { .. })
        ));
    }
}
