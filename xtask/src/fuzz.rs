//! Every fuzz target over its stored corpus for a bounded time, several targets side by side.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use serde::Deserialize;

use crate::Result;
use crate::command::CommandLine;
use crate::counts::Counts;
use crate::prerequisites;
use crate::workspace::Workspace;

#[derive(Deserialize)]
struct Manifest {
    #[serde(default)]
    bin: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

/// Fuzzes each target named in `fuzz/Cargo.toml` for `duration`.
pub(crate) fn run(workspace: &Workspace, duration: Duration) -> Result<Counts> {
    let targets = targets(&workspace.root)?;
    // One build for all, before the clock of any target starts.
    cargo_fuzz(workspace).args(["build"]).run()?;
    let scratch = workspace.target.join("fuzz");
    let cores = thread::available_parallelism()?.get();
    let waiting = Mutex::new(targets.iter());
    let next = || waiting.lock().expect("no worker panics").next();
    let failures: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..cores.min(targets.len()))
            .map(|_| {
                scope.spawn(|| {
                    let mut failures = Vec::new();
                    while let Some(target) = next() {
                        if let Err(error) = fuzz(workspace, &scratch, target, duration) {
                            failures.push(error.to_string());
                        }
                    }
                    failures
                })
            })
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().expect("a worker returns its errors"))
            .collect()
    });
    if failures.is_empty() {
        Ok(Counts {
            passed: targets.len(),
            ..Counts::default()
        })
    } else {
        Err(failures.join("\n").into())
    }
}

fn targets(root: &Path) -> Result<Vec<String>> {
    let manifest: Manifest = toml::from_str(&fs::read_to_string(root.join("fuzz/Cargo.toml"))?)?;
    if manifest.bin.is_empty() {
        return Err("fuzz/Cargo.toml names no target".into());
    }
    Ok(manifest.bin.into_iter().map(|target| target.name).collect())
}

fn fuzz(workspace: &Workspace, scratch: &Path, target: &str, duration: Duration) -> Result<()> {
    // The fuzzer writes what it finds into the first corpus; the stored one stays as committed.
    let found = scratch.join(target);
    fs::create_dir_all(&found)?;
    let log = scratch.join(format!("{target}.log"));
    let line = cargo_fuzz(workspace)
        .args(["run", target])
        .args(corpora(&workspace.root, target, found))
        .args(["--", &format!("-max_total_time={}", duration.as_secs())])
        .args(dictionary(&workspace.root, target));
    eprintln!("$ {line}");
    let outcome = line.run_logged(&log);
    let output = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    match outcome {
        Ok(()) => {
            let done = output.lines().rfind(|line| line.starts_with("Done "));
            eprintln!("{target}: {}", done.unwrap_or("done"));
            Ok(())
        }
        Err(error) => {
            let lines: Vec<&str> = output.lines().collect();
            let tail = &lines[lines.len().saturating_sub(60)..];
            Err(format!(
                "{}\n{error} (whole output: {})",
                tail.join("\n"),
                log.display()
            )
            .into())
        }
    }
}

fn corpora(root: &Path, target: &str, found: PathBuf) -> Vec<PathBuf> {
    let stored = root.join("fuzz/corpus").join(target);
    let mut corpora = vec![found];
    corpora.extend(stored.is_dir().then_some(stored));
    corpora
}

/// The targets of a protocol share its dictionary: `resp_request` uses `fuzz/dictionaries/resp.dict`.
fn dictionary(root: &Path, target: &str) -> Option<String> {
    let protocol = target.split('_').next()?;
    let file = root.join(format!("fuzz/dictionaries/{protocol}.dict"));
    file.is_file().then(|| format!("-dict={}", file.display()))
}

/// Started directly and not as a subcommand, which cargo would look for in `PATH`.
fn cargo_fuzz(workspace: &Workspace) -> CommandLine {
    CommandLine::new("rustup", workspace)
        .args(["run", "nightly"])
        .args([prerequisites::cargo_fuzz(workspace)])
        .args(["fuzz"])
}
