//! Results on disk: pretty JSON, written in one step, read back with errors that name the file.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::cost::{self, CostResult};
use super::modes::{self, ModesResult};
use super::to_json;

/// Why a result could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The path has no file name.
    #[error("cannot write the result to {}: it names no file", .0.display())]
    NoFileName(PathBuf),
    /// The folder does not exist and cannot be made.
    #[error("cannot create the folder {} for the result: {source}", .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write the result to {}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Why a result could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be opened or read.
    #[error("cannot read {}: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not JSON.
    #[error("{} is not JSON: {source}", .path.display())]
    NotJson {
        /// The file.
        path: PathBuf,
        /// Where it is not.
        source: serde_json::Error,
    },
    /// JSON of something else.
    #[error("{} is not a result of hotcopy: its schema is {found}, not {}", .path.display(), known_schemas())]
    OtherSchema {
        /// The file.
        path: PathBuf,
        /// The schema that it names, quoted, or "not named".
        found: String,
    },
    /// Written by a later hotcopy.
    #[error("{} was written by a newer hotcopy (schema \"{found}\"; this one reads \"{known}\"): update hotcopy to read it", .path.display())]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// The schema that it names.
        found: String,
        /// The one of that name that we read.
        known: &'static str,
    },
    /// The schema's name is right and the content is not.
    #[error("{} does not follow its schema \"{schema}\": {source}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The schema that it names.
        schema: &'static str,
        /// Where it does not.
        source: serde_json::Error,
    },
}

/// Writes a result as pretty JSON: first to a file beside it, then renamed, so that a reader (or a
/// run that is killed) never meets half a result. A missing folder is created, a link is followed,
/// and what is no regular file (`/dev/stdout`, a pipe) is written to and not replaced.
///
/// # Errors
/// If the folder or the file cannot be written; then nothing is left behind.
pub fn write<T: Serialize>(path: &Path, result: &T) -> Result<(), WriteError> {
    let json = to_json(result);
    let failed = |source| WriteError::File {
        path: path.to_owned(),
        source,
    };
    if is_device(path) {
        return fs::write(path, json).map_err(failed);
    }
    let (beside, target) = places(path)?;
    if let Some(folder) = beside.parent() {
        fs::create_dir_all(folder).map_err(|source| WriteError::Folder {
            path: folder.to_owned(),
            source,
        })?;
    }
    let written = write_and_rename(&beside, &target, &json);
    if written.is_err() {
        // The first error is the one to tell; that the rest cannot be removed follows from it.
        let _ = fs::remove_file(&beside);
    }
    written.map_err(failed)
}

/// Whether a result could be written to `path`, for a run to know before it measures. Nothing is
/// left behind: where the folder is missing, the nearest one above it must be writable.
///
/// # Errors
/// If the folder or the file could not be written.
pub fn check_writable(path: &Path) -> Result<(), WriteError> {
    let created = if is_device(path) {
        fs::OpenOptions::new().write(true).open(path)
    } else if path.is_dir() {
        Err(io::ErrorKind::IsADirectory.into())
    } else {
        let (beside, _) = places(path)?;
        let probe = in_nearest_folder(&beside);
        let created = fs::File::create(&probe);
        let _ = fs::remove_file(&probe);
        created
    };
    created.map(drop).map_err(|source| WriteError::File {
        path: path.to_owned(),
        source,
    })
}

/// A terminal, a pipe, `/dev/null`: written to, never replaced.
fn is_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir())
}

/// The file's name in the nearest folder above it that exists.
fn in_nearest_folder(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default();
    let existing = file.ancestors().skip(1).find(|folder| folder.exists());
    existing.unwrap_or(Path::new(".")).join(name)
}

/// Under which name a result is written first, and the file it is renamed to, links followed.
fn places(path: &Path) -> Result<(PathBuf, PathBuf), WriteError> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = target
        .file_name()
        .ok_or_else(|| WriteError::NoFileName(path.to_owned()))?;
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut beside = std::ffi::OsString::from(".");
    beside.push(name);
    beside.push(format!(".{}.tmp", std::process::id()));
    Ok((folder.join(beside), target))
}

fn write_and_rename(beside: &Path, path: &Path, json: &str) -> io::Result<()> {
    let mut file = fs::File::create(beside)?;
    file.write_all(json.as_bytes())?;
    file.sync_all()?;
    fs::rename(beside, path)
}

/// A result of any command, as [`read`] finds it.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyResult {
    /// Of `hotcopy cost`.
    Cost(Box<CostResult>),
    /// Of `hotcopy modes`.
    Modes(Box<ModesResult>),
}

const KNOWN_SCHEMAS: [&str; 2] = [cost::SCHEMA, modes::SCHEMA];

fn known_schemas() -> String {
    KNOWN_SCHEMAS
        .map(|schema| format!("{schema:?}"))
        .join(" or ")
}

/// Reads a result of whatever command wrote it.
///
/// # Errors
/// If the file cannot be read or is something else; the error names the file and the reason.
pub fn read(path: &Path) -> Result<AnyResult, ReadError> {
    let text = fs::read(path).map_err(|source| ReadError::File {
        path: path.to_owned(),
        source,
    })?;
    match named_schema(path, &text)? {
        modes::SCHEMA => parse(path, &text, modes::SCHEMA).map(AnyResult::Modes),
        _ => parse(path, &text, cost::SCHEMA).map(AnyResult::Cost),
    }
}

/// Reads a result of `hotcopy cost`.
///
/// # Errors
/// Those of [`read`], also for a result of another command.
pub fn read_cost(path: &Path) -> Result<CostResult, ReadError> {
    match read(path)? {
        AnyResult::Cost(result) => Ok(*result),
        AnyResult::Modes(_) => Err(other(path, modes::SCHEMA)),
    }
}

/// Reads a result of `hotcopy modes`.
///
/// # Errors
/// Those of [`read`], also for a result of another command.
pub fn read_modes(path: &Path) -> Result<ModesResult, ReadError> {
    match read(path)? {
        AnyResult::Modes(result) => Ok(*result),
        AnyResult::Cost(_) => Err(other(path, cost::SCHEMA)),
    }
}

fn other(path: &Path, found: &str) -> ReadError {
    ReadError::OtherSchema {
        path: path.to_owned(),
        found: format!("{found:?}"),
    }
}

fn parse<T: DeserializeOwned>(
    path: &Path,
    text: &[u8],
    schema: &'static str,
) -> Result<Box<T>, ReadError> {
    // From the text and not from a value, because this way the error has a line.
    let result = serde_json::from_slice(text).map_err(|source| ReadError::Malformed {
        path: path.to_owned(),
        schema,
        source,
    })?;
    Ok(Box::new(result))
}

/// Which of the schemas that we know the file names.
fn named_schema(path: &Path, text: &[u8]) -> Result<&'static str, ReadError> {
    let json: serde_json::Value =
        serde_json::from_slice(text).map_err(|source| ReadError::NotJson {
            path: path.to_owned(),
            source,
        })?;
    let found = json.get("schema").and_then(serde_json::Value::as_str);
    let known = |matches: &dyn Fn(&str) -> bool| {
        let mut schemas = KNOWN_SCHEMAS.into_iter();
        schemas.find(|schema| matches(schema))
    };
    let Some(found) = found else {
        return Err(ReadError::OtherSchema {
            path: path.to_owned(),
            found: "not named".to_owned(),
        });
    };
    if let Some(schema) = known(&|schema| schema == found) {
        Ok(schema)
    } else if let Some(known) = known(&|schema| is_newer(found, schema)) {
        Err(ReadError::NewerSchema {
            path: path.to_owned(),
            found: found.to_owned(),
            known,
        })
    } else {
        Err(other(path, found))
    }
}

fn is_newer(found: &str, known: &str) -> bool {
    let split = |schema: &str| {
        let (name, version) = schema.split_once('/')?;
        Some((name.to_owned(), version.parse::<u32>().ok()?))
    };
    match (split(known), split(found)) {
        (Some((name, ours)), Some((other, theirs))) => name == other && theirs > ours,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(content: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cost.json");
        fs::write(&path, content).unwrap();
        let error = read_cost(&path).unwrap_err().to_string();
        assert!(error.contains(path.to_str().unwrap()), "{error}");
        assert!(!error.contains('\n'), "{error}");
        error
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = read_cost(Path::new("no/such/cost.json")).unwrap_err();
        assert!(matches!(error, ReadError::File { .. }));
        assert!(
            error
                .to_string()
                .starts_with("cannot read no/such/cost.json: ")
        );
    }

    #[test]
    fn text_that_is_not_json_is_refused() {
        assert!(error("").contains("is not JSON"));
        assert!(error("{\"schema\": ").contains("is not JSON"));
    }

    #[test]
    fn json_of_something_else_is_refused() {
        assert!(error("[1, 2]").contains("its schema is not named"));
        assert!(error("{\"schema\": 1}").contains("its schema is not named"));
        assert!(error("{\"schema\": \"other/1\"}").contains("its schema is \"other/1\""));
        let older = error("{\"schema\": \"hotcopy.cost/0\"}");
        assert!(older.contains("not \"hotcopy.cost/1\""), "{older}");
        let modes = error("{\"schema\": \"hotcopy.modes/0\"}");
        assert!(modes.contains("or \"hotcopy.modes/1\""), "{modes}");
    }

    #[test]
    fn a_newer_schema_asks_for_an_update() {
        assert!(error("{\"schema\": \"hotcopy.cost/2\"}").contains("update hotcopy"));
        assert!(error("{\"schema\": \"hotcopy.cost/10\"}").contains("newer hotcopy"));
        assert!(error("{\"schema\": \"hotcopy.modes/2\"}").contains("hotcopy.modes/1"));
    }

    #[test]
    fn a_result_without_its_fields_tells_which() {
        let error = error("{\"schema\": \"hotcopy.cost/1\"}");
        assert!(error.contains("missing field `hotcopy_version`"), "{error}");
    }

    #[test]
    fn looking_whether_a_file_can_be_written_leaves_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        check_writable(&folder.path().join("results/of/today/cost.json")).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let file = folder.path().join("results");
        fs::write(&file, "").unwrap();
        assert!(check_writable(&file.join("of/today/cost.json")).is_err());
        assert!(check_writable(folder.path()).is_err());
    }

    #[test]
    fn writing_creates_the_folder_and_leaves_only_the_result() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results/of/today/cost.json");
        write(&path, &[1, 2]).unwrap();
        write(&path, &[3]).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "[\n  3\n]\n");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_devices_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let link_to = |target: &Path, name| {
            let link = folder.path().join(name);
            std::os::unix::fs::symlink(target, &link).unwrap();
            link
        };
        let file = folder.path().join("cost.json");
        fs::write(&file, "old").unwrap();
        let link = link_to(&file, "latest.json");
        write(&link, &1).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "1\n");

        let null = link_to(Path::new("/dev/null"), "null");
        write(&null, &1).unwrap();
        assert!(null.is_symlink());
    }

    #[test]
    fn a_folder_in_the_place_of_the_file_is_an_error_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cost.json");
        fs::create_dir(&path).unwrap();
        let error = write(&path, &0).unwrap_err();
        assert!(matches!(error, WriteError::File { .. }), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_in_the_place_of_the_folder_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("results");
        fs::write(&file, "").unwrap();
        let error = write(&file.join("cost.json"), &0).unwrap_err();
        assert!(matches!(error, WriteError::Folder { .. }), "{error}");
        assert!(write(Path::new("/"), &0).is_err());
    }
}
