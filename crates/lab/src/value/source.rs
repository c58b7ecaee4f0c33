//! A user's own value: read from a file, and checked before anything is measured with it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use crate::meters::memory;

/// The largest value that the Redis protocol carries (`proto-max-bulk-len` as it comes).
pub const MAX_BYTES: u64 = 512 << 20;

/// Deepest document that is decoded: that of `serde_json`. `rmp-serde` would go down 1,024 levels,
/// which overflows the stack of a thread in a debug build.
pub const MAX_DEPTH: usize = 128;

/// Memory that a run takes for each byte of the value, at least: the value itself, the copy in the
/// server, one in a reply, and the decoded object.
const MEMORY_PER_BYTE: u64 = 4;

/// A value that cannot be measured with.
#[derive(Debug, Error)]
pub enum ValueError {
    /// Nothing is there.
    #[error("no value file {}", path.display())]
    Missing {
        /// As given.
        path: PathBuf,
    },
    /// A directory is there.
    #[error("{} is a directory; name a file that holds one value", path.display())]
    Directory {
        /// As given.
        path: PathBuf,
    },
    /// It cannot be opened or read.
    #[error("cannot read value file {}: {source}", path.display())]
    Unreadable {
        /// As given.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It has no bytes.
    #[error("value file {} is empty", path.display())]
    Empty {
        /// As given.
        path: PathBuf,
    },
    /// No server could hold it.
    #[error("{} has more than {} MiB, the most that the Redis protocol carries", path.display(), MAX_BYTES >> 20)]
    TooLarge {
        /// As given.
        path: PathBuf,
    },
    /// The machine could not hold it.
    #[error(
        "{} has {bytes} bytes; reading it takes about {} MiB of memory and {} MiB are available",
        path.display(), needed_bytes >> 20, available_bytes >> 20
    )]
    ExceedsMemory {
        /// As given.
        path: PathBuf,
        /// Size of the file.
        bytes: u64,
        /// Memory that a run would take.
        needed_bytes: u64,
        /// Memory that there is.
        available_bytes: u64,
    },
    /// It is not JSON.
    #[error(
        "{origin}, line {line}, column {column}: not JSON: {reason}; use --decode none to read it as bytes"
    )]
    Json {
        /// Where the bytes came from.
        origin: String,
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in bytes.
        column: usize,
        /// What is wrong there.
        reason: String,
    },
    /// It is not `MessagePack`.
    #[error(
        "{origin}, byte {offset}: not MessagePack: {reason}; use --decode none to read it as bytes"
    )]
    Msgpack {
        /// Where the bytes came from.
        origin: String,
        /// Bytes before the fault.
        offset: u64,
        /// What is wrong there.
        reason: String,
    },
}

/// The bytes of a file that a run can be made with.
///
/// Its size is looked at before it is read, and no more than the protocol allows is ever read: a
/// growing file or an endless device ends in an error too.
///
/// # Errors
/// See [`ValueError`]; never those of decoding.
pub fn load_file(path: &Path) -> Result<Vec<u8>, ValueError> {
    let limits = Limits {
        max_bytes: MAX_BYTES,
        available_bytes: memory::available_memory().unwrap_or(u64::MAX),
    };
    load_within(path, &limits)
}

/// What bounds the size of a value.
struct Limits {
    max_bytes: u64,
    available_bytes: u64,
}

impl Limits {
    fn check(&self, path: &Path, bytes: u64) -> Result<(), ValueError> {
        if bytes > self.max_bytes {
            return Err(ValueError::TooLarge { path: path.into() });
        }
        let needed_bytes = bytes * MEMORY_PER_BYTE;
        if needed_bytes > self.available_bytes {
            return Err(ValueError::ExceedsMemory {
                path: path.into(),
                bytes,
                needed_bytes,
                available_bytes: self.available_bytes,
            });
        }
        Ok(())
    }

    /// The first size that is too large.
    fn too_many_bytes(&self) -> u64 {
        self.max_bytes.min(self.available_bytes / MEMORY_PER_BYTE) + 1
    }
}

fn load_within(path: &Path, limits: &Limits) -> Result<Vec<u8>, ValueError> {
    let unreadable = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => ValueError::Missing { path: path.into() },
        io::ErrorKind::IsADirectory => ValueError::Directory { path: path.into() },
        _ => ValueError::Unreadable {
            path: path.into(),
            source,
        },
    };
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(ValueError::Directory { path: path.into() });
    }
    // A pipe has no length: it is checked when read.
    limits.check(path, metadata.len())?;
    let mut bytes = Vec::new();
    file.take(limits.too_many_bytes())
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    limits.check(path, bytes.len() as u64)?;
    if bytes.is_empty() {
        return Err(ValueError::Empty { path: path.into() });
    }
    Ok(bytes)
}

/// The document in `bytes`, which came from `origin` (a file's name, `key KEY`).
///
/// # Errors
/// [`ValueError::Json`] with the place of the fault.
pub fn decode_json(bytes: &[u8], origin: &str) -> Result<Value, ValueError> {
    serde_json::from_slice(bytes).map_err(|error| {
        // The message ends with the place, which stands in front of ours.
        let place = format!(" at line {} column {}", error.line(), error.column());
        let reason = error.to_string();
        ValueError::Json {
            origin: origin.to_owned(),
            line: error.line(),
            column: error.column(),
            reason: reason.strip_suffix(&place).unwrap_or(&reason).to_owned(),
        }
    })
}

/// The document in `bytes`, which came from `origin` (a file's name, `key KEY`).
///
/// # Errors
/// [`ValueError::Msgpack`] with the place of the fault: also for bytes behind the document, and for
/// what JSON lacks (binary, extensions, names that are not text).
pub fn decode_msgpack(bytes: &[u8], origin: &str) -> Result<Value, ValueError> {
    let mut rest = bytes;
    let mut deserializer = rmp_serde::Deserializer::new(&mut rest);
    deserializer.set_max_depth(MAX_DEPTH);
    let decoded = Value::deserialize(&mut deserializer);
    let fault = |reason: String, left: usize| ValueError::Msgpack {
        origin: origin.to_owned(),
        offset: (bytes.len() - left) as u64,
        reason,
    };
    match decoded {
        Ok(_) if !rest.is_empty() => Err(fault(
            format!("{} bytes follow the document", rest.len()),
            rest.len(),
        )),
        Ok(document) => Ok(document),
        Err(error) => Err(fault(error.to_string(), rest.len())),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::value::config;

    fn file(text: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        file
    }

    fn load(path: &Path, max_bytes: u64, available_bytes: u64) -> Result<Vec<u8>, ValueError> {
        let limits = Limits {
            max_bytes,
            available_bytes,
        };
        load_within(path, &limits)
    }

    #[test]
    fn a_file_is_read_whole() {
        let json = config::generate(0).to_json();
        assert_eq!(load_file(file(&json).path()).unwrap(), json);
    }

    #[test]
    fn what_is_not_a_readable_file_is_named_for_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let missing = load_file(&folder.path().join("absent.json")).unwrap_err();
        assert!(matches!(missing, ValueError::Missing { .. }));
        assert!(missing.to_string().ends_with("absent.json"));
        let directory = load_file(folder.path()).unwrap_err();
        assert!(matches!(directory, ValueError::Directory { .. }));
        let plain = file(b"x");
        let below = load_file(&plain.path().join("below")).unwrap_err();
        assert!(matches!(below, ValueError::Unreadable { .. }), "{below}");
        let empty = load_file(file(b"").path()).unwrap_err();
        assert!(matches!(empty, ValueError::Empty { .. }));
    }

    #[test]
    fn a_file_that_no_server_holds_is_refused_unread() {
        let sparse = file(b"");
        sparse.as_file().set_len(MAX_BYTES + 1).unwrap();
        let error = load(sparse.path(), MAX_BYTES, u64::MAX).unwrap_err();
        assert!(matches!(error, ValueError::TooLarge { .. }));
        assert!(error.to_string().contains("512 MiB"), "{error}");
    }

    #[test]
    fn a_file_larger_than_memory_allows_is_refused_with_both_sizes() {
        let sparse = file(b"");
        sparse.as_file().set_len(3 << 20).unwrap();
        let error = load(sparse.path(), MAX_BYTES, 10 << 20).unwrap_err();
        assert!(matches!(error, ValueError::ExceedsMemory { .. }));
        let message = error.to_string();
        assert!(message.contains("12 MiB") && message.contains("10 MiB"));
        assert!(load(sparse.path(), MAX_BYTES, 12 << 20).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn an_endless_device_ends_in_an_error() {
        let zeros = Path::new("/dev/zero");
        let error = load(zeros, 1 << 20, u64::MAX).unwrap_err();
        assert!(matches!(error, ValueError::TooLarge { .. }));
        let error = load(zeros, MAX_BYTES, 1 << 20).unwrap_err();
        assert!(matches!(error, ValueError::ExceedsMemory { .. }));
    }

    #[test]
    fn a_fault_in_json_is_shown_with_its_place() {
        let error = decode_json(b"{\n  \"a\": 1,\n  \"b\" 2\n}", "shop.json").unwrap_err();
        let message = error.to_string();
        assert!(
            message.starts_with("shop.json, line 3, column 7: not JSON: expected `:`;"),
            "{message}"
        );
        assert!(decode_json(b"{\"a\":1} x", "shop.json").is_err());
        assert!(decode_json(b"\xff", "shop.json").is_err());
        let deep = "[".repeat(100_000);
        let error = decode_json(deep.as_bytes(), "deep.json").unwrap_err();
        assert!(error.to_string().contains("recursion limit"), "{error}");
    }

    #[test]
    fn json_of_any_type_decodes() {
        assert_eq!(decode_json(b" 7 ", "x").unwrap(), 7);
    }

    #[test]
    fn a_fault_in_message_pack_is_shown_with_its_place() {
        let packed = rmp_serde::to_vec_named(&config::generate(0)).unwrap();
        let document = serde_json::to_value(config::generate(0)).unwrap();
        assert_eq!(decode_msgpack(&packed, "shop.msgpack").unwrap(), document);
        let cut = decode_msgpack(&packed[..100], "shop.msgpack").unwrap_err();
        assert!(cut.to_string().starts_with("shop.msgpack, byte "), "{cut}");
        // fixint 1, then two bytes more
        let longer = decode_msgpack(&[1, 2, 3], "x").unwrap_err().to_string();
        assert!(longer.starts_with("x, byte 1: not MessagePack: 2 bytes follow"));
        // 0xc1 is the one byte that the format never uses
        assert!(decode_msgpack(&[0xc1], "x").is_err());
        // binary of one byte: JSON has none
        assert!(decode_msgpack(&[0xc4, 1, 0], "x").is_err());
    }

    #[test]
    fn message_pack_that_nests_without_end_is_refused() {
        let deep = vec![0x91; 1_000_000];
        assert!(decode_msgpack(&deep, "x").is_err());
        // an array that claims four thousand million items
        assert!(decode_msgpack(&[0xdd, 0xff, 0xff, 0xff, 0xff, 1], "x").is_err());
    }
}
