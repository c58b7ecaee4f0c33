//! `hotcopy modes` as a user runs it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use hotcopy_lab::results::modes::{Access, Configuration, Family, ModesResult, Object, Row};
use hotcopy_lab::results::read_modes;
use hotcopy_tests::locate;
use hotcopy_tests::skip::require;
use rustix::process::Signal;
use serde_json::Value;

use crate::cost::sandbox::{Finished, Sandbox};
use crate::cost::{assert_refused, until};

/// Rounds too short for figures, and long enough to go through everything.
const BRIEF: [&str; 5] = ["modes", "--rounds", "1", "--round-ms", "1"];

fn brief(sandbox: &Sandbox, arguments: &[&str]) -> Finished {
    let finished = sandbox.run(&[&BRIEF, arguments].concat());
    finished.assert_done();
    finished
}

fn result(sandbox: &Sandbox) -> ModesResult {
    read_modes(&sandbox.work().join("results/modes.json")).unwrap_or_else(|error| panic!("{error}"))
}

fn assert_follows_the_schema(file: &Path) {
    let json = |path: &Path| -> Value {
        let text = fs::read_to_string(path).expect("the file is there");
        serde_json::from_str(&text).expect("it is JSON")
    };
    let schema = json(&locate::repository().join("docs/schema/modes.schema.json"));
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let faults: Vec<String> = validator
        .iter_errors(&json(file))
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn a_run_prints_all_tables_and_says_how_javascript_takes_part() {
    let sandbox = Sandbox::new();
    let finished = brief(&sandbox, &[]);
    for part in [
        "A read that hits, ns",
        "A write over a key that is there, ns",
        "100,000 keys",
        "large object",
        "no-op",
        "hotcopy, nothing on, borrowed",
        "hotcopy, all on, borrowed",
        "hotcopy, all on, shared",
        "hotcopy, all on, cloned",
        "The three configurations of ts-cache",
        "What each feature of hotcopy costs",
        "10,000 requests a second with 10 reads of the cache each",
        "the caches in JavaScript were left out: peers/js holds no bench.mjs",
    ] {
        assert!(
            finished.stdout.contains(part),
            "no {part:?}: {}",
            finished.stdout
        );
    }
    assert!(!finished.stdout.contains('\u{1b}'), "{:?}", finished.stdout);
    assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
    assert!(
        finished.stderr.contains("results/modes.json"),
        "{}",
        finished.stderr
    );
    assert_eq!(sandbox.entries(), ["results", "results/modes.json"]);
    assert_follows_the_schema(&sandbox.work().join("results/modes.json"));
}

#[test]
fn a_borrow_of_a_large_object_costs_a_fraction_of_its_copy() {
    let sandbox = Sandbox::new();
    brief(&sandbox, &[]);
    let result = result(&sandbox);
    let get_ns = |access| {
        let wanted = |row: &&Row| {
            (row.family, row.object, row.configuration, row.access)
                == (Family::Ours, Object::Large, Configuration::AllOn, access)
        };
        let row = result.rows.iter().find(wanted).expect("a row");
        row.get.expect("it was measured").median_ns
    };
    let (borrowed, cloned) = (get_ns(Access::Borrowed), get_ns(Access::Cloned));
    // A busy machine may stop the few microseconds of the one and not of the other.
    assert!(
        cloned > 20.0 * borrowed,
        "{borrowed} ns borrowed, {cloned} ns cloned"
    );
}

#[test]
fn the_what_if_is_for_the_traffic_that_was_asked_for() {
    let sandbox = Sandbox::new();
    brief(&sandbox, &["--operations", "25", "--requests", "4000"]);
    for line in &result(&sandbox).what_if {
        let reads_per_s = 25.0 * 4_000.0;
        let expected = line.get_ns * reads_per_s / 1e6;
        assert!(
            (line.reads_ms_per_s - expected).abs() < 1e-6 * expected,
            "{line:?}"
        );
    }
}

#[test]
fn report_prints_every_format_again_byte_for_byte() {
    for format in ["table", "markdown", "json", "csv"] {
        let sandbox = Sandbox::new();
        let printed = brief(&sandbox, &["--format", format]);
        let again = sandbox.run(&["report", "results/modes.json", "--format", format]);
        again.assert_done();
        assert!(!printed.stdout.is_empty());
        assert_eq!(again.stdout, printed.stdout);
    }
}

/// A folder for `PATH` that holds a program called bun, and a `peers/js` that looks installed.
struct FakeBun {
    folder: tempfile::TempDir,
}

impl FakeBun {
    /// The program answers to `--version`, and otherwise does what `script` says.
    fn running(script: &str) -> Self {
        let folder = tempfile::tempdir().expect("the folder for temporary files can be written");
        let bun = folder.path().join("bun");
        let text = format!("#!/bin/sh\n[ \"$1\" = --version ] && exit\n{script}\n");
        fs::write(&bun, text).expect("the folder can be written");
        fs::set_permissions(&bun, fs::Permissions::from_mode(0o755)).expect("it is ours");
        let peers = folder.path().join("js");
        fs::create_dir_all(peers.join("node_modules")).expect("the folder can be written");
        fs::write(peers.join("bench.mjs"), "").expect("the folder can be written");
        FakeBun { folder }
    }

    fn path(&self) -> &str {
        self.folder.path().to_str().expect("a path of text")
    }

    fn start(&self, sandbox: &Sandbox) -> crate::cost::sandbox::Running {
        let js = format!("{}/js", self.path());
        let arguments = [&BRIEF[..], &["--js", &js]].concat();
        sandbox.start_with(&arguments, &[("PATH", self.path())])
    }
}

#[test]
fn rows_of_javascript_stand_beside_ours() {
    let row = r#"{"contender":"Map","family":"java_script","configuration":"plain","access":"borrowed","object":"small","keys":1000,"get":{"median_ns":7.5,"min_ns":7.0,"max_ns":8.0},"set":null}"#;
    let bun = FakeBun::running(&format!(
        "/bin/cat >/dev/null\necho '{{\"runtime\":\"bun 1.2.3\"}}'\necho '{{\"rows\":[{row}]}}'"
    ));
    let sandbox = Sandbox::new();
    let finished = bun.start(&sandbox).finish();
    finished.assert_done();
    let result = result(&sandbox);
    assert_eq!(result.java_script.runtime.as_deref(), Some("bun 1.2.3"));
    let map = result.rows.iter().find(|row| row.contender == "Map");
    assert_eq!(
        map.and_then(|row| row.get).map(|get| get.median_ns),
        Some(7.5)
    );
    assert!(result.what_if.iter().any(|line| line.contender == "Map"));
}

#[test]
fn javascript_that_fails_is_told_and_spoils_nothing_else() {
    let bun = FakeBun::running("echo \"Error: Cannot find package 'lru-cache'\" >&2\nexit 1");
    let sandbox = Sandbox::new();
    let finished = bun.start(&sandbox).finish();
    finished.assert_done();
    let told = "broke off: Error: Cannot find package 'lru-cache'";
    assert!(finished.stdout.contains(told), "{}", finished.stdout);
    assert!(!result(&sandbox).rows.is_empty());
}

#[test]
fn ctrl_c_prints_and_writes_what_was_measured_until_then() {
    let bun = FakeBun::running("echo > \"$TMPDIR/begun\"\nexec /bin/sleep 60");
    let sandbox = Sandbox::new();
    let running = bun.start(&sandbox);
    let begun = sandbox.work().join("begun");
    until("JavaScript has begun", || begun.exists());
    running.process.signal(Signal::INT);
    let finished = running.finish();
    assert_eq!(finished.code, Some(130), "{}", finished.stderr);
    assert!(
        finished.stdout.contains("the run was interrupted"),
        "{}",
        finished.stdout
    );
    let result = result(&sandbox);
    assert!(result.interrupted && !result.rows.is_empty() && !result.what_if.is_empty());
    sandbox.assert_no_process_is_left();
}

#[test]
fn the_caches_of_javascript_run_where_node_and_they_are_installed() {
    let Some(_) = require(locate::in_path("node")) else {
        return;
    };
    let Some(peers) = require(locate::java_script_peers()) else {
        return;
    };
    let sandbox = Sandbox::new();
    brief(&sandbox, &["--js", peers.to_str().expect("a path of text")]);
    let result = result(&sandbox);
    assert!(
        result.java_script.runtime.is_some(),
        "{:?}",
        result.java_script
    );
    let sections = |contender: &str, access| {
        let rows = result.rows.iter();
        rows.filter(|row| row.contender.starts_with(contender) && row.access == access)
            .filter(|row| row.get.is_some() && row.set.is_some())
            .count()
    };
    assert_eq!(sections("Map", Access::Borrowed), 4);
    assert_eq!(sections("lru-cache", Access::Borrowed), 4);
    assert_eq!(sections("node-cache", Access::Cloned), 4);
    assert_eq!(sections("ts-cache", Access::Borrowed), 8);
    assert_eq!(sections("ts-cache", Access::Cloned), 4);
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let sandbox = Sandbox::new();
    for (arguments, says) in [
        (["--rounds", "0"], "--rounds"),
        (["--round-ms", "0"], "--round-ms"),
        (["--operations", "-1"], "must be above zero"),
        (["--requests", "nan"], "must be above zero"),
        (["--format", "yaml"], "--format"),
    ] {
        let finished = sandbox.run(&[&["modes"], &arguments[..]].concat());
        assert_refused(&sandbox, &finished, 2, &[says]);
    }
    let finished = sandbox.run(&["modes", "--out", "/dev/null/modes.json"]);
    assert_refused(&sandbox, &finished, 1, &["/dev/null/modes.json"]);
}
