//! Tests once more under sanitizers, for the `unsafe` that Miri cannot run (system calls, threads at speed).

use std::path::Path;

use crate::Result;
use crate::command::CommandLine;
use crate::counts::Counts;
use crate::workspace::Workspace;

/// An explicit target keeps the sanitizer out of build scripts and procedural macros.
const TARGET: &str = "x86_64-unknown-linux-gnu";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sanitizer {
    /// Memory that is used after it was freed, or beyond its end.
    Address,
    /// Accesses of two threads that nothing puts in order.
    Thread,
}

pub(crate) fn run(workspace: &Workspace, sanitizer: Sanitizer) -> Result<Counts> {
    match sanitizer {
        Sanitizer::Address => address(workspace),
        Sanitizer::Thread => thread(workspace),
    }
}

/// The unit tests of all crates, and the engine with many threads.
fn address(workspace: &Workspace) -> Result<Counts> {
    let mut counts = Counts::default();
    let cargo = || {
        CommandLine::nightly_cargo(workspace)
            .args(["test", "--target", TARGET])
            .env("RUSTFLAGS", "-Zsanitizer=address")
            .env("CARGO_TARGET_DIR", workspace.target.join("sanitizer"))
    };
    cargo()
        .args(["--workspace", "--exclude", "hotcopy-tests"])
        .args(["--exclude", "xtask", "--lib"])
        .run_watched(|line| counts.read_libtest_line(line))?;
    cargo()
        .args(["--package", "hotcopy-engine", "--test", "threads"])
        .run_watched(|line| counts.read_libtest_line(line))?;
    Ok(counts)
}

/// Unit tests of the engine in which threads share something: the others take long and could show nothing.
const WITH_THREADS: &[&str] = &[
    "bytes::tests::",
    "bytes::threads_test::",
    "cache::tests::stress::",
    "cell::",
    "clock::",
];

/// The engine. It takes the order of threads from acquire and release alone, never from the fence or `membarrier`
/// (which say what a reader can still find), so the sanitizer, which knows neither, understands it.
fn thread(workspace: &Workspace) -> Result<Counts> {
    let mut counts = Counts::default();
    if !has_library_source(workspace)? {
        counts.unavailable.push(
            "the standard library cannot be built: `rustup +nightly component add rust-src`"
                .to_owned(),
        );
        return Ok(counts);
    }
    let test = || {
        CommandLine::nightly_cargo(workspace)
            // The standard library has to be built with the sanitizer, or its locks would be unknown to it.
            .args(["test", "-Zbuild-std", "--target", TARGET])
            .args(["--package", "hotcopy-engine"])
            .env("RUSTFLAGS", "-Zsanitizer=thread")
            .env(
                "CARGO_TARGET_DIR",
                workspace.target.join("thread-sanitizer"),
            )
    };
    test()
        .args(["--test", "threads"])
        .run_watched(|line| counts.read_libtest_line(line))?;
    test()
        .args(["--lib", "--"])
        .args(WITH_THREADS)
        .run_watched(|line| counts.read_libtest_line(line))?;
    Ok(counts)
}

fn has_library_source(workspace: &Workspace) -> Result<bool> {
    let root = CommandLine::new("rustup", workspace)
        .args(["run", "nightly", "rustc", "--print", "sysroot"])
        .output()?;
    let lock = "lib/rustlib/src/rust/library/Cargo.lock";
    Ok(Path::new(root.trim()).join(lock).is_file())
}
