//! The caches of the JavaScript world: a program of `peers/js`, run by bun or node.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{ChildStderr, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Options;
use super::run::KEYS;
use crate::child::{BoundChild, spawn_bound};
use crate::results::modes::{JavaScript, Row};
use crate::value::config::Config;

/// In the order of preference: the seed measured with bun.
const RUNTIMES: [&str; 2] = ["bun", "node"];

const PROGRAM: &str = "bench.mjs";

/// How often a waiting run looks at Ctrl-C.
const TICK: Duration = Duration::from_millis(50);

/// What the program is told.
#[derive(Serialize)]
struct Request<'a> {
    rounds: u32,
    round_ms: u64,
    keys: &'a [usize],
    large: &'a Config,
}

/// A line of the program.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Runtime(String),
    Note(String),
    Rows(Vec<Row>),
}

/// Runs the program to its end, or until `interrupt` is set. Whatever is missing or goes wrong is
/// told in the notes: the other figures are worth having without these.
pub(super) fn measure(
    options: &Options,
    large: &Config,
    interrupt: &AtomicBool,
) -> (Vec<Row>, JavaScript) {
    let mut rows = Vec::new();
    let mut about = JavaScript {
        runtime: None,
        notes: Vec::new(),
    };
    let folder = &options.java_script;
    let result = match find_runtime(folder, starts) {
        Ok(runtime) => {
            let request = Request {
                rounds: options.rounds,
                round_ms: options.round_time.as_millis() as u64,
                keys: &KEYS,
                large,
            };
            let take = |line| match line {
                Line::Runtime(runtime) => about.runtime = Some(runtime),
                Line::Note(note) => about.notes.push(note),
                Line::Rows(more) => rows.extend(more),
            };
            run_program(runtime, folder, &request, interrupt, take)
                .map_err(|cause| format!("the caches in JavaScript broke off: {cause}"))
        }
        Err(missing) => Err(format!("the caches in JavaScript were left out: {missing}")),
    };
    about.notes.extend(result.err());
    (rows, about)
}

/// Which runtime to use, or what is missing and how to get it.
fn find_runtime(folder: &Path, starts: impl Fn(&str) -> bool) -> Result<&'static str, String> {
    if !folder.join(PROGRAM).is_file() {
        return Err(format!(
            "{} holds no {PROGRAM}; name the folder peers/js of hotcopy's sources with --js",
            folder.display()
        ));
    }
    let Some(runtime) = RUNTIMES.into_iter().find(|runtime| starts(runtime)) else {
        return Err("neither bun nor node is on the PATH; install one of them".into());
    };
    if !folder.join("node_modules").is_dir() {
        return Err(format!("run `npm ci` in {}", folder.display()));
    }
    Ok(runtime)
}

fn starts(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null());
    command.output().is_ok_and(|output| output.status.success())
}

fn run_program(
    runtime: &str,
    folder: &Path,
    request: &Request<'_>,
    interrupt: &AtomicBool,
    mut take: impl FnMut(Line),
) -> Result<(), String> {
    let mut command = Command::new(runtime);
    command
        .arg(folder.join(PROGRAM))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = spawn_bound(&mut command).map_err(|error| format!("{runtime}: {error}"))?;
    let mut child = BoundChild(child);
    let mut stdin = child.0.stdin.take().expect("stdin is piped");
    let request = serde_json::to_vec(request).expect("a request is plain data");
    let lines = lines(child.0.stdout.take().expect("stdout is piped"));
    let stderr = text(child.0.stderr.take().expect("stderr is piped"));
    // A program that ends without reading tells why on its standard error.
    let _ = stdin.write_all(&request);
    drop(stdin);
    loop {
        if interrupt.load(Ordering::Relaxed) {
            return Ok(());
        }
        match lines.recv_timeout(TICK) {
            Ok(line) => take(serde_json::from_str(&line).map_err(|error| error.to_string())?),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    match child.0.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(last_words(
            &stderr.join().unwrap_or_default(),
            &status.to_string(),
        )),
        Err(error) => Err(error.to_string()),
    }
}

fn lines(stdout: ChildStdout) -> mpsc::Receiver<String> {
    let (send, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

/// Read by a thread of its own: a full pipe would block the program.
fn text(mut stderr: ChildStderr) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stderr.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The line of an error in JavaScript that says what went wrong; the stack below it does not.
fn last_words(stderr: &str, status: &str) -> String {
    let error = stderr.lines().find(|line| line.contains("Error"));
    error.map_or_else(|| status.to_owned(), |line| line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(installed: bool) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(PROGRAM), "").unwrap();
        if installed {
            std::fs::create_dir(folder.path().join("node_modules")).unwrap();
        }
        folder
    }

    #[test]
    fn bun_is_preferred_and_node_does_too() {
        let folder = sources(true);
        assert_eq!(find_runtime(folder.path(), |_| true), Ok("bun"));
        assert_eq!(find_runtime(folder.path(), |it| it == "node"), Ok("node"));
    }

    #[test]
    fn what_is_missing_is_told_with_what_to_do() {
        let (bare, installed) = (sources(false), sources(true));
        let missing = |folder: &Path, has_runtime| {
            find_runtime(folder, |_| has_runtime).expect_err("something is missing")
        };
        assert!(missing(installed.path(), false).contains("neither bun nor node"));
        assert!(missing(bare.path(), true).contains("npm ci"));
        assert!(missing(Path::new("no/such/folder"), true).contains("--js"));
    }

    #[test]
    fn the_error_is_picked_out_of_the_stack() {
        let stderr = "node:internal:1\n  throw\nError [X]: Cannot find package 'a'\n    at b\n";
        assert_eq!(
            last_words(stderr, "exit status: 1"),
            "Error [X]: Cannot find package 'a'"
        );
        assert_eq!(last_words("", "exit status: 1"), "exit status: 1");
    }
}
