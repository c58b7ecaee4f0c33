//! The value in the store for the time of one run.
//!
//! On a server of the user's a key lies under `hotcopy:lab:` and carries a time to live that is
//! renewed while the run lasts: a run that is killed cleans up after itself. On a private instance
//! there is neither, so that sizes are the stated ones.

use std::time::{Duration, Instant};

use super::options::Encoding;
use crate::error::Error;
use crate::value;

/// Long enough for a renewal to be late, short enough for a killed run to be gone within a minute.
const TIME_TO_LIVE: Duration = Duration::from_secs(45);
const RENEW_EVERY: Duration = Duration::from_secs(10);

/// The value, in a form that can be given a new revision.
#[derive(Debug, Clone)]
pub(super) enum Document {
    Generated {
        encoding: Encoding,
    },
    Object {
        object: serde_json::Value,
        encoding: Encoding,
    },
    /// Bytes that are no object: they cannot be changed.
    Opaque(Vec<u8>),
}

impl Document {
    /// The bytes of a revision. A file that is changed is encoded anew, also for revision 0, so its
    /// bytes may differ from those on disk; a file that is not changed is written as it is.
    pub(super) fn at_revision(&self, revision: u64) -> Vec<u8> {
        match self {
            Document::Opaque(bytes) => bytes.clone(),
            Document::Generated { encoding } => encoding.encode(&value::config::generate(revision)),
            Document::Object { object, encoding } => {
                let object = value::with_revision(object, revision);
                encoding.encode(&object.expect("an object, as its name says"))
            }
        }
    }
}

impl Encoding {
    fn encode<T: serde::Serialize>(self, object: &T) -> Vec<u8> {
        let encoded = match self {
            Encoding::Json => serde_json::to_vec(object).map_err(|error| error.to_string()),
            Encoding::Msgpack => rmp_serde::to_vec_named(object).map_err(|error| error.to_string()),
        };
        encoded.expect("strings, numbers, lists and maps encode")
    }
}

/// The key that a run writes.
#[derive(Debug, Clone)]
pub(super) struct SeedKey {
    name: String,
    private: bool,
}

impl SeedKey {
    fn new(private: bool) -> Self {
        let name = if private {
            "config".to_owned()
        } else {
            format!("hotcopy:lab:{:08x}:config", fastrand::u32(..))
        };
        SeedKey { name, private }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Where changes of the value are told.
    pub(super) fn channel(&self) -> String {
        format!("{}:changed", self.name)
    }

    /// The command that writes a version.
    pub(super) fn set(&self, bytes: &[u8]) -> redis::Cmd {
        let mut set = redis::cmd("SET");
        set.arg(&self.name).arg(bytes);
        if !self.private {
            set.arg("EX").arg(TIME_TO_LIVE.as_secs());
        }
        set
    }
}

/// The value in place.
#[derive(Debug)]
pub(super) struct Seed {
    key: SeedKey,
    renewed: Instant,
}

impl Seed {
    /// Writes the value.
    pub(super) fn put(
        connection: &mut redis::Connection,
        private: bool,
        bytes: &[u8],
    ) -> Result<Self, Error> {
        let key = SeedKey::new(private);
        key.set(bytes)
            .exec(connection)
            .map_err(|error| Error::Store {
                doing: format!("writing the value ({} bytes)", bytes.len()),
                cause: error.to_string(),
            })?;
        Ok(Seed {
            key,
            renewed: Instant::now(),
        })
    }

    pub(super) fn key(&self) -> &SeedKey {
        &self.key
    }

    /// To be called now and then while the run lasts.
    pub(super) fn renew_if_due(&mut self, connection: &mut redis::Connection) -> Result<(), Error> {
        if self.key.private || self.renewed.elapsed() < RENEW_EVERY {
            return Ok(());
        }
        self.renewed = Instant::now();
        let mut expire = redis::cmd("EXPIRE");
        expire.arg(&self.key.name).arg(TIME_TO_LIVE.as_secs());
        expire.exec(connection).map_err(|error| Error::Store {
            doing: "renewing the time to live of the value".into(),
            cause: error.to_string(),
        })
    }

    /// Removes the value. A private instance ends anyway.
    pub(super) fn remove(&self, connection: &mut redis::Connection) {
        if !self.key.private {
            // If this fails the time to live does it.
            let _ = redis::cmd("DEL").arg(&self.key.name).exec(connection);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_revision_of_a_document_differs_and_decodes_to_its_number() {
        let object = serde_json::json!({"a": [1, 2]});
        for document in [
            Document::Generated {
                encoding: Encoding::Json,
            },
            Document::Object {
                object,
                encoding: Encoding::Json,
            },
        ] {
            let old: serde_json::Value = serde_json::from_slice(&document.at_revision(3)).unwrap();
            let new: serde_json::Value = serde_json::from_slice(&document.at_revision(4)).unwrap();
            assert_ne!(old, new);
            assert_eq!(value::revision_of(&old), Some(3));
            assert_eq!(value::revision_of(&new), Some(4));
        }
    }

    #[test]
    fn a_message_pack_document_decodes_like_its_json_twin() {
        let packed = Document::Generated {
            encoding: Encoding::Msgpack,
        }
        .at_revision(1);
        let text = Document::Generated {
            encoding: Encoding::Json,
        }
        .at_revision(1);
        let packed: serde_json::Value = rmp_serde::from_slice(&packed).unwrap();
        let text: serde_json::Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(packed, text);
    }
}
