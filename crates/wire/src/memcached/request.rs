//! Lines as requests.

use super::error::LineError;
use super::number::{signed, unsigned};

/// Longest key.
pub const MAX_KEY_BYTES: usize = 250;

/// Longest data block that a line can announce: memcached counts it, with its line end, in a C integer.
const MAX_DATA_BYTES: u32 = i32::MAX as u32 - 2;

/// Most words of a line, but of one that names any number of keys.
const MAX_WORDS: usize = 7;

/// What a line asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request<'a> {
    /// `get`, `gets`, `gat`, `gats`.
    Get(Get<'a>),
    /// `set` and its relatives; a data block follows.
    Store(Store<'a>),
    /// `incr`, `decr`.
    Arithmetic(Arithmetic<'a>),
    /// `delete`.
    #[expect(missing_docs, reason = "the names say it")]
    Delete { key: &'a [u8], noreply: bool },
    /// `touch`.
    #[expect(missing_docs, reason = "the names say it")]
    Touch {
        key: &'a [u8],
        exptime: i64,
        noreply: bool,
    },
    /// `flush_all`, with the seconds after which it takes effect.
    #[expect(missing_docs, reason = "the names say it")]
    FlushAll { delay: i64, noreply: bool },
    /// `stats` and what of them.
    Stats(Option<&'a [u8]>),
    /// `verbosity`.
    #[expect(missing_docs, reason = "the names say it")]
    Verbosity { noreply: bool },
    /// `version`.
    Version,
    /// `mn`, which marks the end of a pipeline.
    NoOp,
    /// `quit`.
    Quit,
}

/// A request for values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Get<'a> {
    /// What is asked for.
    pub keys: Keys<'a>,
    /// Whether the reply tells what `cas` compares.
    pub with_cas: bool,
    /// When the entries shall expire from now on, if that is to change.
    pub exptime: Option<i64>,
}

/// Keys in a line, separated by spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keys<'a>(&'a [u8]);

impl<'a> Keys<'a> {
    fn new(rest: &'a [u8]) -> Result<Self, LineError> {
        words(rest).try_for_each(|key| checked(key).map(drop))?;
        Ok(Keys(rest))
    }

    /// The keys in order.
    pub fn iter(self) -> impl Iterator<Item = &'a [u8]> {
        words(self.0)
    }

    /// Keys that were written with spaces between them.
    #[must_use]
    pub fn of(line: &'a [u8]) -> Self {
        Keys(line)
    }

    /// Takes the next key.
    pub fn take_next(&mut self) -> Option<&'a [u8]> {
        let (key, rest) = first_word(self.0);
        self.0 = rest;
        (!key.is_empty()).then_some(key)
    }

    /// The keys as they are in the line.
    #[must_use]
    pub fn as_line(self) -> &'a [u8] {
        self.0
    }
}

/// When a data block is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreMode {
    /// In any case.
    Set,
    /// Where no entry is.
    Add,
    /// Where an entry is.
    Replace,
    /// Behind the value that is there.
    Append,
    /// Before the value that is there.
    Prepend,
    /// Where the entry is still the one of which `gets` told this.
    Cas(u64),
}

/// A request that stores the data block that follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Store<'a> {
    pub mode: StoreMode,
    pub key: &'a [u8],
    pub flags: u32,
    pub exptime: i64,
    /// Length of the data block, without the line end behind it.
    pub len: usize,
    pub noreply: bool,
}

/// A request that adds to a number, or subtracts from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Arithmetic<'a> {
    pub key: &'a [u8],
    pub delta: u64,
    pub subtracts: bool,
    pub noreply: bool,
}

impl Request<'_> {
    /// Whether the client wants no reply, whatever comes of it.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        match *self {
            Request::Store(Store { noreply, .. })
            | Request::Arithmetic(Arithmetic { noreply, .. })
            | Request::Delete { noreply, .. }
            | Request::Touch { noreply, .. }
            | Request::FlushAll { noreply, .. }
            | Request::Verbosity { noreply } => noreply,
            Request::Get(_)
            | Request::Stats(_)
            | Request::Version
            | Request::NoOp
            | Request::Quit => false,
        }
    }
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty())
}

/// Whether a line begins with a verb that reads values.
pub(super) fn reads(line: &[u8]) -> bool {
    matches!(first_word(line).0, b"get" | b"gets" | b"gat" | b"gats")
}

/// The length of the data block behind a line, if it is a good one that stores.
pub(super) fn data_len(line: &[u8]) -> Option<usize> {
    match first_word(line).0 {
        b"set" | b"add" | b"replace" | b"append" | b"prepend" | b"cas" => match parse(line) {
            Ok(Request::Store(store)) => Some(store.len),
            _ => None,
        },
        _ => None,
    }
}

/// Splits the first word off.
fn first_word(line: &[u8]) -> (&[u8], &[u8]) {
    let start = line.iter().position(|byte| *byte != b' ');
    let line = &line[start.unwrap_or(line.len())..];
    let end = line.iter().position(|byte| *byte == b' ');
    line.split_at(end.unwrap_or(line.len()))
}

/// Reads a line.
///
/// # Errors
/// If it is no request.
pub fn parse(line: &[u8]) -> Result<Request<'_>, LineError> {
    let (verb, rest) = first_word(line);
    match verb {
        b"get" | b"gets" => {
            let keys = Keys::new(rest)?;
            keys.iter().next().ok_or(LineError::Unknown)?;
            return Ok(Request::Get(Get {
                keys,
                with_cas: verb == b"gets",
                exptime: None,
            }));
        }
        b"gat" | b"gats" => {
            let (exptime, rest) = first_word(rest);
            if exptime.is_empty() {
                return Err(LineError::Unknown);
            }
            return Ok(Request::Get(Get {
                exptime: Some(signed(exptime).ok_or(LineError::BadExptime)?),
                keys: Keys::new(rest)?,
                with_cas: verb == b"gats",
            }));
        }
        // Whatever else stands in these lines is no fault.
        b"stats" => return Ok(Request::Stats(words(rest).next())),
        b"version" => return Ok(Request::Version),
        b"mn" => return Ok(Request::NoOp),
        b"quit" => return Ok(Request::Quit),
        _ => {}
    }
    let mut arguments = [&b""[..]; MAX_WORDS];
    let mut count = 0;
    for word in words(rest) {
        *arguments.get_mut(count).ok_or(LineError::Unknown)? = word;
        count += 1;
    }
    parse_arguments(verb, &arguments[..count])
}

/// Whether a line that [`parse`] refused asks not to be told so. memcached looks for that before it looks at
/// the rest of a line, if it is one of a verb that knows `noreply` and has about as many words as that takes.
pub(super) fn is_refused_silently(line: &[u8], error: LineError) -> bool {
    error != LineError::Unknown && !reads(line) && words(line).last() == Some(b"noreply")
}

fn parse_arguments<'a>(verb: &[u8], arguments: &[&'a [u8]]) -> Result<Request<'a>, LineError> {
    let noreply = arguments.last().is_some_and(|last| *last == b"noreply");
    match verb {
        b"set" => store(StoreMode::Set, arguments, noreply),
        b"add" => store(StoreMode::Add, arguments, noreply),
        b"replace" => store(StoreMode::Replace, arguments, noreply),
        b"append" => store(StoreMode::Append, arguments, noreply),
        b"prepend" => store(StoreMode::Prepend, arguments, noreply),
        b"cas" => match arguments {
            [key, flags, exptime, len, unique] | [key, flags, exptime, len, unique, _] => {
                let unique = unsigned(unique).ok_or(LineError::BadFormat)?;
                store(StoreMode::Cas(unique), &[key, flags, exptime, len], noreply)
            }
            _ => Err(LineError::Unknown),
        },
        b"incr" | b"decr" => match arguments {
            [key, delta] | [key, delta, _] => Ok(Request::Arithmetic(Arithmetic {
                key: checked(key)?,
                delta: unsigned(delta).ok_or(LineError::BadDelta)?,
                subtracts: verb == b"decr",
                noreply,
            })),
            _ => Err(LineError::Unknown),
        },
        b"delete" => match arguments {
            [] => Err(LineError::Unknown),
            [key] | [key, b"0" | b"noreply"] | [key, b"0", b"noreply"] => Ok(Request::Delete {
                key: checked(key)?,
                // A key may be called so.
                noreply: noreply && arguments.len() > 1,
            }),
            [_, _] | [_, _, _] => Err(LineError::BadDelete),
            _ => Err(LineError::Unknown),
        },
        b"touch" => match arguments {
            [key, exptime] | [key, exptime, _] => Ok(Request::Touch {
                key: checked(key)?,
                exptime: signed(exptime).ok_or(LineError::BadExptime)?,
                noreply,
            }),
            _ => Err(LineError::Unknown),
        },
        b"flush_all" => {
            let delay = match arguments {
                [] | [b"noreply"] => 0,
                [delay] | [delay, _] => signed(delay).ok_or(LineError::BadExptime)?,
                _ => return Err(LineError::Unknown),
            };
            Ok(Request::FlushAll { delay, noreply })
        }
        b"verbosity" => match arguments {
            [level] | [level, _] => {
                unsigned::<u32>(level).ok_or(LineError::BadFormat)?;
                Ok(Request::Verbosity { noreply })
            }
            _ => Err(LineError::Unknown),
        },
        _ => Err(LineError::Unknown),
    }
}

fn store<'a>(
    mode: StoreMode,
    arguments: &[&'a [u8]],
    noreply: bool,
) -> Result<Request<'a>, LineError> {
    let [key, flags, exptime, len] = match *arguments {
        [key, flags, exptime, len] | [key, flags, exptime, len, _] => [key, flags, exptime, len],
        _ => return Err(LineError::Unknown),
    };
    Ok(Request::Store(Store {
        mode,
        key: checked(key)?,
        flags: unsigned(flags).ok_or(LineError::BadFormat)?,
        exptime: signed(exptime).ok_or(LineError::BadFormat)?,
        len: unsigned::<u32>(len)
            .filter(|len| *len <= MAX_DATA_BYTES)
            .ok_or(LineError::BadFormat)? as usize,
        noreply,
    }))
}

fn checked(key: &[u8]) -> Result<&[u8], LineError> {
    if key.len() > MAX_KEY_BYTES || key.iter().any(u8::is_ascii_control) {
        return Err(LineError::BadFormat);
    }
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(line: &str) -> (Vec<&[u8]>, bool, Option<i64>) {
        match parse(line.as_bytes()) {
            Ok(Request::Get(get)) => (get.keys.iter().collect(), get.with_cas, get.exptime),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_read_names_keys_between_any_number_of_spaces() {
        assert_eq!(get("get a"), (vec![&b"a"[..]], false, None));
        assert_eq!(get("  gets  a   b "), (vec![&b"a"[..], b"b"], true, None));
        assert_eq!(get("gat 10 a"), (vec![&b"a"[..]], false, Some(10)));
        assert_eq!(get("gats -1 a b"), (vec![&b"a"[..], b"b"], true, Some(-1)));
        assert_eq!(get("gat 10"), (vec![], false, Some(10)));
        let mut keys = Keys::of(b"  a b ");
        assert_eq!(keys.take_next(), Some(&b"a"[..]));
        assert_eq!(keys.as_line(), b" b ");
        assert_eq!(
            (keys.take_next(), keys.take_next()),
            (Some(&b"b"[..]), None)
        );
    }

    #[test]
    fn a_write_tells_the_length_of_what_follows() {
        let store = |line: &'static str| match parse(line.as_bytes()) {
            Ok(Request::Store(store)) => store,
            other => panic!("{other:?}"),
        };
        let expected = Store {
            mode: StoreMode::Set,
            key: b"k",
            flags: 7,
            exptime: -1,
            len: 5,
            noreply: false,
        };
        assert_eq!(store("set k 7 -1 5"), expected);
        assert_eq!(store("set k 7 -1 5 whatever"), expected);
        let silent = Store {
            noreply: true,
            mode: StoreMode::Cas(9),
            ..expected
        };
        assert_eq!(store("cas k 7 -1 5 9 noreply"), silent);
    }

    #[test]
    fn what_is_wrong_is_said_as_memcached_says_it() {
        let long = "k".repeat(MAX_KEY_BYTES + 1);
        for (line, error) in [
            ("", LineError::Unknown),
            ("GET a", LineError::Unknown),
            ("get", LineError::Unknown),
            ("gat", LineError::Unknown),
            ("gat x k", LineError::BadExptime),
            ("set k 0 0", LineError::Unknown),
            ("set k 0 0 1 noreply more", LineError::Unknown),
            ("set k x 0 1", LineError::BadFormat),
            ("set k 0 0 -1", LineError::BadFormat),
            ("cas k 0 0 1", LineError::Unknown),
            ("cas k 0 0 1 -1", LineError::BadFormat),
            ("incr k", LineError::Unknown),
            ("incr k -1", LineError::BadDelta),
            ("delete", LineError::Unknown),
            ("delete k 1", LineError::BadDelete),
            ("delete k 0 x", LineError::BadDelete),
            ("delete k 0 noreply x", LineError::Unknown),
            ("set k 0 0 2147483646", LineError::BadFormat),
            ("touch noreply k", LineError::BadExptime),
            ("flush_all noreply noreply", LineError::BadExptime),
            ("verbosity 1 2 3", LineError::Unknown),
            ("touch k x", LineError::BadExptime),
            ("flush_all x", LineError::BadExptime),
            ("flush_all 1 2 3", LineError::Unknown),
            ("verbosity", LineError::Unknown),
            ("verbosity x", LineError::BadFormat),
            ("1 2 3 4 5 6 7 8 9", LineError::Unknown),
            (&format!("get a {long}"), LineError::BadFormat),
            (&format!("set {long} 0 0 1"), LineError::BadFormat),
            (&format!("incr {long} 1"), LineError::BadFormat),
            ("get a\tb", LineError::BadFormat),
            ("delete a\r", LineError::BadFormat),
        ] {
            assert_eq!(parse(line.as_bytes()), Err(error), "{line:?}");
        }
    }
    #[test]
    fn a_key_may_be_called_like_the_word_that_silences() {
        let delete = |line: &'static str| match parse(line.as_bytes()) {
            Ok(Request::Delete { key, noreply }) => (key, noreply),
            other => panic!("{other:?}"),
        };
        assert_eq!(delete("delete noreply"), (&b"noreply"[..], false));
        assert_eq!(delete("delete noreply noreply"), (&b"noreply"[..], true));
        assert_eq!(delete("delete k 0 noreply"), (&b"k"[..], true));
        assert_eq!(get("get noreply").0, [b"noreply"]);
    }

    #[test]
    fn words_too_many_are_no_fault_where_memcached_does_not_look_at_them() {
        let many = "x ".repeat(100);
        assert_eq!(
            parse(format!("version {many}").as_bytes()),
            Ok(Request::Version)
        );
        assert_eq!(parse(format!("quit {many}").as_bytes()), Ok(Request::Quit));
        let stats = format!("stats items {many}");
        assert_eq!(parse(stats.as_bytes()), Ok(Request::Stats(Some(b"items"))));
        let (delay, noreply) = (10, false);
        let flush = Request::FlushAll { delay, noreply };
        assert_eq!(parse(b"flush_all 10 x"), Ok(flush));
        assert_eq!(parse(b"verbosity 1 x"), Ok(Request::Verbosity { noreply }));
    }

    #[test]
    fn a_refusal_is_silenced_like_a_reply() {
        let long = "k".repeat(MAX_KEY_BYTES + 1);
        for (line, is_silent) in [
            ("set k 0 x 1 noreply", true),
            ("set k 0 0 noreply", true),
            ("incr k noreply", true),
            ("touch k x noreply", true),
            ("delete k x noreply", true),
            ("flush_all x noreply", true),
            ("verbosity noreply", true),
            ("set k 0 x 1", false),
            ("set k 0 0 1 x noreply", false),
            ("incr k 1 2 noreply", false),
            ("nothing noreply", false),
            (&format!("delete {long} noreply"), true),
            (&format!("get {long} noreply"), false),
            (&format!("gat 0 {long} noreply"), false),
        ] {
            let error = parse(line.as_bytes()).expect_err(line);
            assert_eq!(
                is_refused_silently(line.as_bytes(), error),
                is_silent,
                "{line}"
            );
        }
    }
}
