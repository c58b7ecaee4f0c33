//! Tests that cannot run on this machine say so, are counted, and fail where nobody would read the message.

use std::fs::OpenOptions;
use std::io::Write;

/// Unwraps what a test needs. Where it is missing the test is recorded as skipped and should return;
/// under `HOTCOPY_CI` it fails instead.
///
/// # Panics
///
/// Under `HOTCOPY_CI`, when what is needed is missing.
pub fn require<T>(needed: Result<T, crate::locate::Missing>) -> Option<T> {
    let missing = match needed {
        Ok(found) => return Some(found),
        Err(missing) => missing,
    };
    let in_ci = std::env::var_os("HOTCOPY_CI").is_some();
    assert!(!in_ci, "{missing}");
    record(&missing.to_string());
    None
}

/// `cargo xtask test` names a file in `HOTCOPY_SKIPS` and counts its lines.
fn record(reason: &str) {
    let thread = std::thread::current();
    let line = format!("{}: {reason}\n", thread.name().unwrap_or("a test"));
    eprint!("skipped {line}");
    let Some(path) = std::env::var_os("HOTCOPY_SKIPS") else {
        return;
    };
    // One write in append mode, because tests run in several processes at once.
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .and_then(|mut file| file.write_all(line.as_bytes()))
        .expect("HOTCOPY_SKIPS names a file that can be written");
}
