//! The clients that people have, against hotcopy.

mod memccapable;
mod pymemcache;
mod redis_benchmark;
mod redis_cli;
mod redis_py;
mod redis_rs;

use std::process::{Command, Stdio};

/// Runs a client program to its end and returns its output, which is part of the failure if it fails.
fn run(mut command: Command) -> String {
    let output = command
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{text}\n{errors}",
        output.status
    );
    text
}
