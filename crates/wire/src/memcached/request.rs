//! Lines as requests.

use super::error::LineError;
use super::number::{signed, unsigned};

/// Longest key.
pub const MAX_KEY_BYTES: usize = 250;

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

/// Keys in a line, each of them short enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keys<'a>(&'a [u8]);

impl<'a> Keys<'a> {
    fn new(rest: &'a [u8]) -> Result<Self, LineError> {
        let keys = Keys(rest);
        if keys.iter().any(|key| key.len() > MAX_KEY_BYTES) {
            return Err(LineError::BadFormat);
        }
        Ok(keys)
    }

    /// The keys in order.
    pub fn iter(self) -> impl Iterator<Item = &'a [u8]> {
        words(self.0)
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

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty())
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
            [key] | [key, b"0" | b"noreply"] | [key, b"0", b"noreply"] => {
                let key = checked(key)?;
                Ok(Request::Delete { key, noreply })
            }
            _ => Err(LineError::BadDelete),
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
                [delay] | [delay, b"noreply"] => signed(delay).ok_or(LineError::BadExptime)?,
                _ => return Err(LineError::Unknown),
            };
            Ok(Request::FlushAll { delay, noreply })
        }
        b"verbosity" => match arguments {
            [] => Err(LineError::Unknown),
            [level, ..] => {
                unsigned::<u32>(level).ok_or(LineError::BadFormat)?;
                Ok(Request::Verbosity { noreply })
            }
        },
        b"stats" => Ok(Request::Stats(arguments.first().copied())),
        b"version" => Ok(Request::Version),
        b"mn" => Ok(Request::NoOp),
        b"quit" => Ok(Request::Quit),
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
        len: unsigned::<u32>(len).ok_or(LineError::BadFormat)? as usize,
        noreply,
    }))
}

fn checked(key: &[u8]) -> Result<&[u8], LineError> {
    if key.len() > MAX_KEY_BYTES {
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
            ("touch k x", LineError::BadExptime),
            ("flush_all x", LineError::BadExptime),
            ("flush_all 1 2 3", LineError::Unknown),
            ("verbosity", LineError::Unknown),
            ("verbosity x", LineError::BadFormat),
            ("1 2 3 4 5 6 7 8 9", LineError::Unknown),
            (&format!("get a {long}"), LineError::BadFormat),
            (&format!("set {long} 0 0 1"), LineError::BadFormat),
            (&format!("incr {long} 1"), LineError::BadFormat),
        ] {
            assert_eq!(parse(line.as_bytes()), Err(error), "{line:?}");
        }
    }
}
