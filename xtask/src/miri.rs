//! The engine's small tests in Miri, which knows of every access whether `unsafe` code may make it.

use crate::Result;
use crate::command::CommandLine;
use crate::counts::Counts;
use crate::workspace::Workspace;

/// Unit tests of the engine that are small enough for Miri, which makes some ten thousand steps a second.
const SMALL: &[&str] = &[
    "a_borrow_outlives",
    "a_borrow_forgotten",
    "a_borrow_in_a_thread_local",
    "a_bucket_counts",
    "a_cache_of_no_",
    "a_cleared_index",
    "a_second_insert",
    "cache::tests::expiry::",
    "clock::",
    "keys_are_looked_up",
    "what_was_inserted",
];

/// Among them, but of thousands of entries, or with times that pass while Miri makes a few steps.
const TOO_LONG: &[&str] = &["an_idle_cache_reclaims", "jitter", "thousands_"];

/// Without isolation for the clock. The ticker thread never ends, and what it and the list of threads hold would
/// be taken for leaks.
const FLAGS: &str = "-Zmiri-disable-isolation -Zmiri-ignore-leaks";

pub(crate) fn run(workspace: &Workspace) -> Result<Counts> {
    let mut counts = Counts::default();
    let miri = || CommandLine::nightly_cargo(workspace).args(["miri"]);
    if !miri().args(["--version"]).succeeds() {
        counts.unavailable.push(
            "Miri is not installed: `rustup +nightly component add miri rust-src`".to_owned(),
        );
        return Ok(counts);
    }
    let test = || {
        miri()
            .args(["test", "--package", "hotcopy-engine"])
            .env("MIRIFLAGS", FLAGS)
            .env("CARGO_TARGET_DIR", workspace.target.join("miri"))
    };
    test()
        .args(["--lib", "--"])
        .args(SMALL)
        .args(TOO_LONG.iter().flat_map(|test| ["--skip", test]))
        .run_watched(|line| counts.read_libtest_line(line))?;
    // Knows of Miri, and does everything in small.
    test()
        .args(["--test", "threads"])
        .run_watched(|line| counts.read_libtest_line(line))?;
    Ok(counts)
}
