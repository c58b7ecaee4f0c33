//! The engine's small tests in Miri, which knows of every access whether `unsafe` code may make it.

use crate::Result;
use crate::command::CommandLine;
use crate::counts::Counts;
use crate::workspace::Workspace;

/// What of the engine Miri runs: the parts that share memory between threads.
const PARTS: &[&str] = &["cache::", "clock::", "index::", "reclaim::", "threads"];

/// Tests of millions of steps, of which Miri makes some ten thousand a second. `tests/threads.rs` knows of Miri
/// and does the same in small.
const TOO_LONG: &[&str] = &[
    "a_cache_never_holds_more_bytes",
    "a_cache_never_holds_more_entries",
    "a_heavy_entry_drives_out",
    "a_random_run_agrees",
    "a_tag_is_found_exactly",
    "a_walk_meets_every_entry",
    "both_ways_to_compare",
    "readers_and_writers_agree_under_load",
];

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
    let skips = TOO_LONG.iter().flat_map(|test| ["--skip", test]);
    miri()
        .args(["test", "--package", "hotcopy-engine"])
        .args(["--lib", "--test", "threads", "--"])
        .args(PARTS)
        .args(skips)
        .env("MIRIFLAGS", FLAGS)
        .env("CARGO_TARGET_DIR", workspace.target.join("miri"))
        .run_watched(|line| counts.read_libtest_line(line))?;
    Ok(counts)
}
