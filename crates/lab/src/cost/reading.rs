//! One read from the store: the command, and how its reply becomes an object.

use std::collections::HashMap;
use std::hint::black_box;

use redis::aio::MultiplexedConnection;
use redis::{Cmd, RedisError, Value as Reply};
use serde::{Deserialize, Serialize};

use super::options::Encoding;
use crate::results::cost::Decode;
use crate::value::source::MAX_DEPTH;

/// What is read on every request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Reading {
    /// The command and its arguments: `GET key`, or the user's own.
    pub(crate) command: Vec<String>,
    pub(crate) decode: Decoding,
}

/// How its reply becomes an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Decoding {
    /// The bytes are the value.
    Bytes,
    /// A document of any shape.
    Document(Encoding),
    /// The generated config, whose type we know: a document too, and where types are compared a
    /// struct.
    Config(Encoding),
    /// The reply of a command, converted by the client library.
    Client,
}

/// An object as the service would hold it.
#[derive(Debug)]
pub(crate) enum Decoded {
    Document(serde_json::Value),
    Bytes(Vec<u8>),
    Map(HashMap<Vec<u8>, Vec<u8>>),
    List(Vec<Vec<u8>>),
    Other(Reply),
}

/// Why a read gave no object.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("{0}")]
    Store(#[from] RedisError),
    #[error("the key is gone")]
    Missing,
    #[error("the value does not decode as {format}: {cause}")]
    Undecodable { format: &'static str, cause: String },
}

impl Reading {
    /// A `GET`. A value that is `generated` and decoded at all can be decoded into its struct.
    pub(crate) fn get(key: &str, decode: Option<Encoding>, generated: bool) -> Self {
        Reading {
            command: vec!["GET".into(), key.into()],
            decode: match decode {
                None => Decoding::Bytes,
                Some(encoding) if generated => Decoding::Config(encoding),
                Some(encoding) => Decoding::Document(encoding),
            },
        }
    }

    /// A command of the user's.
    pub(crate) fn command(words: &[String]) -> Self {
        Reading {
            command: words.to_vec(),
            decode: Decoding::Client,
        }
    }

    /// Sends the command and waits for the reply, as bytes.
    pub(crate) async fn fetch(
        &self,
        connection: &mut MultiplexedConnection,
    ) -> Result<Reply, ReadError> {
        // Built anew each time, as a handler in a service does.
        match self.to_cmd().query_async(connection).await? {
            Reply::Nil => Err(ReadError::Missing),
            reply => Ok(reply),
        }
    }

    pub(crate) fn to_cmd(&self) -> Cmd {
        let mut cmd = Cmd::new();
        for argument in &self.command {
            cmd.arg(argument);
        }
        cmd
    }

    /// What the user sees: `GET config`.
    pub(crate) fn command_line(&self) -> String {
        shell_words::join(&self.command)
    }

    /// The reply as the object that the service works with.
    pub(crate) fn decode(&self, reply: Reply) -> Result<Decoded, ReadError> {
        match self.decode {
            Decoding::Client => self.convert(reply),
            Decoding::Bytes => Ok(Decoded::Bytes(payload(reply)?)),
            Decoding::Document(encoding) | Decoding::Config(encoding) => {
                encoding.decode(&payload(reply)?).map(Decoded::Document)
            }
        }
    }

    /// The conversion that a redis-rs user asks for: a map, a list or bytes, owned.
    fn convert(&self, reply: Reply) -> Result<Decoded, ReadError> {
        let pairs = matches!(&reply, Reply::Map(_))
            || self.command[0].eq_ignore_ascii_case("HGETALL") && matches!(&reply, Reply::Array(_));
        let flat = |items: &[Reply]| {
            items
                .iter()
                .all(|item| matches!(item, Reply::BulkString(_)))
        };
        Ok(match reply {
            Reply::BulkString(bytes) => Decoded::Bytes(bytes),
            reply if pairs => Decoded::Map(from_reply(reply)?),
            Reply::Array(items) if flat(&items) => Decoded::List(from_reply(Reply::Array(items))?),
            other => Decoded::Other(other),
        })
    }
}

impl Encoding {
    pub(crate) fn decode<T: serde::de::DeserializeOwned>(
        self,
        bytes: &[u8],
    ) -> Result<T, ReadError> {
        match self {
            Encoding::Json => {
                serde_json::from_slice(bytes).map_err(|error| ReadError::Undecodable {
                    format: "JSON",
                    cause: error.to_string(),
                })
            }
            Encoding::Msgpack => {
                let mut decoder = rmp_serde::Deserializer::from_read_ref(bytes);
                decoder.set_max_depth(MAX_DEPTH);
                T::deserialize(&mut decoder).map_err(|error| ReadError::Undecodable {
                    format: "MessagePack",
                    cause: error.to_string(),
                })
            }
        }
    }
}

/// As the results file names it.
impl From<Decoding> for Decode {
    fn from(decoding: Decoding) -> Self {
        match decoding {
            Decoding::Bytes => Decode::None,
            Decoding::Document(Encoding::Json) | Decoding::Config(Encoding::Json) => Decode::Json,
            Decoding::Document(Encoding::Msgpack) | Decoding::Config(Encoding::Msgpack) => {
                Decode::Msgpack
            }
            Decoding::Client => Decode::Client,
        }
    }
}

fn from_reply<T: redis::FromRedisValue>(reply: Reply) -> Result<T, ReadError> {
    T::from_redis_value(reply).map_err(|error| ReadError::Store(error.into()))
}

/// The bytes of a single value.
pub(crate) fn payload(reply: Reply) -> Result<Vec<u8>, ReadError> {
    from_reply(reply)
}

/// Bytes of values in a reply: what the service asked for, without the protocol around it.
pub(crate) fn payload_len(reply: &Reply) -> u64 {
    let sum = |items: &[Reply]| items.iter().map(payload_len).sum();
    match reply {
        Reply::BulkString(bytes) => bytes.len() as u64,
        Reply::SimpleString(text) => text.len() as u64,
        Reply::VerbatimString { text, .. } => text.len() as u64,
        Reply::Array(items) | Reply::Set(items) => sum(items),
        Reply::Map(pairs) => pairs
            .iter()
            .map(|(k, v)| payload_len(k) + payload_len(v))
            .sum(),
        Reply::Int(number) => number.to_string().len() as u64,
        Reply::Double(number) => number.to_string().len() as u64,
        _ => 0,
    }
}

impl Decoded {
    /// Keeps the optimizer from dropping the work that made this object.
    pub(crate) fn observe(&self) {
        match self {
            Decoded::Document(document) => drop(black_box(document)),
            Decoded::Bytes(bytes) => drop(black_box(bytes)),
            Decoded::Map(map) => drop(black_box(map)),
            Decoded::List(list) => drop(black_box(list)),
            Decoded::Other(reply) => drop(black_box(reply)),
        }
    }

    pub(crate) fn document(&self) -> Option<&serde_json::Value> {
        match self {
            Decoded::Document(document) => Some(document),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(command: &[&str]) -> Reading {
        let words: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        Reading::command(&words)
    }

    fn bulk(text: &str) -> Reply {
        Reply::BulkString(text.as_bytes().to_vec())
    }

    #[test]
    fn a_hash_becomes_a_map_in_both_protocol_versions() {
        let reading = client(&["hgetall", "k"]);
        for reply in [
            Reply::Array(vec![bulk("field"), bulk("value")]),
            Reply::Map(vec![(bulk("field"), bulk("value"))]),
        ] {
            assert_eq!(payload_len(&reply), 10);
            let Ok(Decoded::Map(map)) = reading.decode(reply) else {
                panic!("not a map")
            };
            assert_eq!(map[b"field".as_slice()], b"value");
        }
    }

    #[test]
    fn a_list_of_strings_becomes_a_list_and_a_nested_reply_stays_itself() {
        let reading = client(&["LRANGE", "k", "0", "-1"]);
        let list = Reply::Array(vec![bulk("a"), bulk("b")]);
        assert!(matches!(reading.decode(list), Ok(Decoded::List(items)) if items.len() == 2));
        let nested = Reply::Array(vec![Reply::Array(vec![bulk("a")]), Reply::Int(12)]);
        assert_eq!(payload_len(&nested), 3);
        assert!(matches!(reading.decode(nested), Ok(Decoded::Other(_))));
    }

    #[test]
    fn what_does_not_decode_says_where() {
        let reading = Reading::get("k", Some(Encoding::Json), false);
        let error = reading
            .decode(bulk("{\"a\": nope}"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("JSON") && error.contains("line 1 column"),
            "{error}"
        );
    }
}
