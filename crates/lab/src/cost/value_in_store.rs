//! The value, found in the store or put there.

use redis::Value as Reply;

use super::options::{Encoding, Options, ValueChoice};
use super::reading::{Decoding, ReadError, Reading, payload_len};
use super::seed::{Document, Seed};
use crate::error::Error;
use crate::results::cost::ValueInfo;
use crate::target::RedisUrl;
use crate::value::{self, source};

/// What every row reads.
pub(super) struct ValueInStore {
    pub(super) reading: Reading,
    pub(super) info: ValueInfo,
    /// Present if this run wrote it.
    pub(super) seed: Option<(Seed, Document)>,
}

impl ValueInStore {
    /// Finds or writes the value and reads it once, so that whatever is wrong with it is known
    /// before anything is measured.
    pub(super) fn prepare(
        options: &Options,
        url: &RedisUrl,
        private: bool,
        connection: &mut redis::Connection,
    ) -> Result<Self, Error> {
        let (reading, source, seed) = match &options.value {
            ValueChoice::Generated | ValueChoice::File(_) => {
                let (source, document) = document(options)?;
                let typed = matches!(document, Document::Generated { .. });
                let seed = Seed::put(connection, private, &document.at_revision(0))?;
                let reading = Reading::get(seed.key().name(), options.decode, typed);
                (reading, source, Some((seed, document)))
            }
            ValueChoice::Key(key) => (
                Reading::get(key, options.decode, false),
                format!("key {key}"),
                None,
            ),
            ValueChoice::Command(words) => {
                refuse_writes(connection, words)?;
                (Reading::command(words), "command".to_owned(), None)
            }
        };
        let found = read_once(&reading, url, connection);
        let (bytes, shape) = match found {
            Ok(found) => found,
            Err(error) => {
                if let Some((seed, _)) = &seed {
                    seed.remove(connection);
                }
                return Err(error);
            }
        };
        let info = ValueInfo {
            source,
            command: reading.command_line(),
            bytes,
            values: shape.as_ref().map(|shape| shape.values),
            depth: shape.as_ref().map(|shape| shape.depth),
        };
        Ok(ValueInStore {
            reading,
            info,
            seed,
        })
    }
}

fn document(options: &Options) -> Result<(String, Document), Error> {
    let ValueChoice::File(path) = &options.value else {
        let encoding = options.decode.unwrap_or(Encoding::Json);
        return Ok(("generated config".into(), Document::Generated { encoding }));
    };
    let bytes = source::load_file(path)?;
    let name = path
        .file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned();
    // Decoded once here, because only here the file's name can stand in the message.
    let parsed = match options.decode {
        Some(Encoding::Json) => Some(source::decode_json(&bytes, &path.to_string_lossy())?),
        Some(Encoding::Msgpack) => Some(source::decode_msgpack(&bytes, &path.to_string_lossy())?),
        None => None,
    };
    if options.change_every.is_none() {
        return Ok((name, Document::Opaque(bytes)));
    }
    match (options.decode, parsed) {
        (Some(encoding), Some(object @ serde_json::Value::Object(_))) => {
            Ok((name, Document::Object { object, encoding }))
        }
        _ => Err(Error::Usage(
            "--change-every marks each version inside the value, so the file has to hold an object"
                .into(),
        )),
    }
}

/// Commands that the server itself lists as reading and not waiting. A subcommand counts by itself:
/// `MEMORY USAGE` reads, though `MEMORY` is nothing of that kind.
fn refuse_writes(connection: &mut redis::Connection, words: &[String]) -> Result<(), Error> {
    let name = &words[0];
    let subcommand = words.get(1).map(|word| format!("{name}|{word}"));
    let mut reads = None;
    for candidate in subcommand.iter().chain([name]) {
        let mut info = redis::cmd("COMMAND");
        let reply = info.arg("INFO").arg(candidate).query::<Reply>(connection);
        let reply = reply.map_err(|error| Error::Store {
            doing: format!("COMMAND INFO {candidate}"),
            cause: error.to_string(),
        })?;
        reads = only_reads(&reply);
        if reads.is_some() {
            break;
        }
    }
    let reads = reads
        .ok_or_else(|| Error::Usage(format!("the server does not know the command {name:?}")))?;
    // Servers before 7.0 do not tell that PFCOUNT stores what it counted.
    if !reads || name.eq_ignore_ascii_case("PFCOUNT") {
        return Err(Error::Usage(format!(
            "{name} is not a read-only command; --command never writes and never waits"
        )));
    }
    Ok(())
}

/// Whether a command reads and does nothing else, by the reply of `COMMAND INFO` for it; `None` if
/// the server does not know it.
fn only_reads(info: &Reply) -> Option<bool> {
    let Reply::Array(commands) = info else {
        return None;
    };
    let Some(Reply::Array(fields)) = commands.first() else {
        return None;
    };
    let flags = texts(fields.get(2)?);
    let flagged = |flag: &str| flags.iter().any(|found| found == flag);
    // A command can be flagged as a reader and change the key that it reads, as PFCOUNT does; the
    // specifications of its keys tell.
    let changes_keys = fields.get(8).is_some_and(|specifications| {
        let words = texts(specifications);
        words
            .iter()
            .any(|word| ["RW", "OW", "RM"].contains(&word.as_str()))
    });
    let waits = flagged("blocking");
    Some(flagged("readonly") && !waits && !flagged("may_replicate") && !changes_keys)
}

/// All texts in a reply, however deep.
fn texts(reply: &Reply) -> Vec<String> {
    let all = |items: &[Reply]| items.iter().flat_map(texts).collect();
    match reply {
        Reply::SimpleString(text) => vec![text.clone()],
        Reply::BulkString(bytes) => vec![String::from_utf8_lossy(bytes).into_owned()],
        Reply::Array(items) | Reply::Set(items) => all(items),
        Reply::Map(pairs) => pairs
            .iter()
            .flat_map(|(key, value)| [texts(key), texts(value)].concat())
            .collect(),
        _ => Vec::new(),
    }
}

fn read_once(
    reading: &Reading,
    url: &RedisUrl,
    connection: &mut redis::Connection,
) -> Result<(u64, Option<value::Shape>), Error> {
    let reply = match reading.to_cmd().query::<Reply>(connection) {
        Ok(Reply::Nil) if reading.decode != Decoding::Client => {
            let (key, target) = (reading.command[1].clone(), url.to_string());
            return Err(Error::MissingKey { key, target });
        }
        Ok(reply) => reply,
        Err(error) if error.code() == Some("WRONGTYPE") && reading.decode != Decoding::Client => {
            return Err(wrong_type(&reading.command[1], connection));
        }
        Err(error) => {
            let (doing, cause) = (reading.command_line(), error.to_string());
            return Err(Error::Store { doing, cause });
        }
    };
    let bytes = payload_len(&reply);
    if bytes == 0 {
        return Err(Error::Store {
            doing: reading.command_line(),
            cause: "the reply is empty: there is nothing to measure".into(),
        });
    }
    let decoded = reading.decode(reply).map_err(|error| match error {
        ReadError::Undecodable { format, cause } => Error::Undecodable { format, cause },
        other => Error::Store {
            doing: reading.command_line(),
            cause: other.to_string(),
        },
    })?;
    Ok((bytes, decoded.document().map(value::shape)))
}

fn wrong_type(key: &str, connection: &mut redis::Connection) -> Error {
    let kind: String = redis::cmd("TYPE")
        .arg(key)
        .query(connection)
        .unwrap_or_else(|_| "another type".into());
    let quoted = shell_words::quote(key);
    let example = match kind.as_str() {
        "hash" => format!("HGETALL {quoted}"),
        "list" => format!("LRANGE {quoted} 0 -1"),
        "set" => format!("SMEMBERS {quoted}"),
        "zset" => format!("ZRANGE {quoted} 0 -1 WITHSCORES"),
        "stream" => format!("XRANGE {quoted} - +"),
        _ => format!("JSON.GET {quoted}"),
    };
    Error::WrongType {
        key: key.into(),
        kind,
        example,
    }
}
