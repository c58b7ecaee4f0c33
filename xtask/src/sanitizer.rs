//! The unit tests once more under `AddressSanitizer`, for the `unsafe` that Miri cannot run (system calls, threads at speed).

use crate::Result;
use crate::command::CommandLine;
use crate::counts::Counts;
use crate::workspace::Workspace;

/// An explicit target keeps the sanitizer out of build scripts and procedural macros.
const TARGET: &str = "x86_64-unknown-linux-gnu";

pub(crate) fn run(workspace: &Workspace) -> Result<Counts> {
    let mut counts = Counts::default();
    CommandLine::nightly_cargo(workspace)
        .args(["test", "--workspace", "--exclude", "hotcopy-tests"])
        .args(["--exclude", "xtask", "--lib", "--target", TARGET])
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .env("CARGO_TARGET_DIR", workspace.target.join("sanitizer"))
        .run_watched(|line| counts.read_libtest_line(line))?;
    Ok(counts)
}
