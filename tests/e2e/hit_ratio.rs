//! `hotcopy hit-ratio` on small traces that are made here.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use hotcopy_tests::locate;
use serde_json::Value;
use tempfile::TempDir;

/// A folder of traces to run in.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().expect("the folder for temporary files can be written"))
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, content).expect("the folder can be written");
        path
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(locate::hotcopy())
            .arg("hit-ratio")
            .args(arguments)
            .current_dir(self.0.path())
            .env_remove("CLICOLOR_FORCE")
            .output()
            .expect("the binary runs")
    }

    fn json(&self, arguments: &[&str]) -> Vec<Value> {
        let output = self.run(&[arguments, &["--format", "json"]].concat());
        assert!(output.status.success(), "{output:?}");
        match serde_json::from_slice(&output.stdout) {
            Ok(Value::Array(rows)) => rows,
            other => panic!("not an array: {other:?}"),
        }
    }
}

/// A loop over 200 keys, fifty times.
fn looping() -> String {
    (0..10_000)
        .map(|index| format!("{}\n", index % 200))
        .collect()
}

fn ratio(rows: &[Value], trace: &str, capacity: &str, policy: &str) -> f64 {
    let row = rows.iter().find(|row| {
        row["trace"] == trace && row["capacity"] == capacity && row["policy"] == policy
    });
    row.and_then(|row| row["hit_ratio"].as_f64())
        .unwrap_or_else(|| panic!("no {policy} on {trace} at {capacity}: {rows:?}"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the output is text")
}

#[test]
fn in_a_loop_ours_comes_near_the_optimum_where_lru_never_hits() {
    let folder = Folder::new();
    folder.file("loop", &looping());
    let rows = folder.json(&["loop", "--capacity", "25%,75%,100%"]);
    for (capacity, part) in [("25%", 0.25), ("75%", 0.75)] {
        let of = |policy| ratio(&rows, "loop", capacity, policy);
        assert_eq!(of("exact LRU"), 0.0);
        let optimum = part * 49.0 / 50.0;
        assert!((of("Bélády's optimum") - optimum).abs() < 1e-9, "{rows:?}");
        assert!(of("hotcopy") > 0.8 * optimum, "{rows:?}");
        assert!(of("hotcopy") <= optimum, "{rows:?}");
    }
    for policy in ["hotcopy", "exact LRU", "Bélády's optimum"] {
        assert_eq!(ratio(&rows, "loop", "100%", policy), 0.98);
    }
}

#[test]
fn json_has_four_fields_a_row_and_a_row_for_each_trace_capacity_and_policy() {
    let folder = Folder::new();
    folder.file("loop", &looping());
    folder.file("once.txt", &"a\nb\n".repeat(100));
    let rows = folder.json(&["loop", "once.txt", "--capacity", "50%,100%"]);
    assert_eq!(rows.len() % 4, 0);
    assert!(rows.len() >= 12);
    for row in &rows {
        let fields: Vec<&String> = row.as_object().expect("an object").keys().collect();
        assert_eq!(fields, ["capacity", "hit_ratio", "policy", "trace"]);
        let ratio = row["hit_ratio"].as_f64().expect("a number");
        assert!((0.0..=1.0).contains(&ratio));
    }
}

#[test]
fn sizes_make_it_bytes_and_the_optimum_an_upper_bound() {
    let folder = Folder::new();
    let line = |index: u64| {
        let key = index * index % 97;
        format!("{key} {}\n", 1_000 + key * 100)
    };
    folder.file("sized", &(0..20_000).map(line).collect::<String>());
    let rows = folder.json(&["sized", "--capacity", "30%"]);
    let of = |policy| ratio(&rows, "sized", "30%", policy);
    let bound = of("upper bound of the optimum");
    for policy in ["hotcopy", "exact LRU"] {
        assert!(of(policy) > 0.0 && of(policy) <= bound, "{rows:?}");
    }
    assert!(rows.iter().all(|row| row["policy"] != "Bélády's optimum"));
}

#[test]
fn the_table_has_policies_down_and_capacities_across() {
    let folder = Folder::new();
    folder.file("loop", &looping());
    let output = folder.run(&["loop"]);
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    let stdout = text(&output.stdout);
    let columns: Vec<&str> = stdout
        .lines()
        .find(|line| line.contains("policy"))
        .expect("there is a table")
        .split_whitespace()
        .collect();
    assert_eq!(columns, ["policy", "1%", "5%", "10%"]);
    for policy in ["hotcopy", "exact LRU", "Bélády's optimum"] {
        assert!(stdout.contains(policy), "{stdout}");
    }
}

#[test]
fn bad_input_is_one_line_that_says_what_to_do() {
    let folder = Folder::new();
    folder.file("good", &looping());
    folder.file("empty", "");
    folder.file("size", "1 10\n2 ten\n");
    folder.file("huge", "1 99999999999999999999999\n");
    folder.file("plain.gz", "1\n2\n");
    folder.file("cut.gz", "\x1f");
    for (arguments, code, says) in [
        (&["missing"][..], 1, "cannot read missing"),
        (&["."], 1, ". is a folder"),
        (&["empty"], 1, "empty holds no key"),
        (&["size"], 1, "size, line 2: the size is not"),
        (&["huge"], 1, "huge, line 1: the size is not"),
        (&["plain.gz"], 1, "plain.gz is not gzip"),
        (&["cut.gz"], 1, "cut.gz is not gzip"),
        (&["good", "--capacity", "0.1%"], 1, "less than one key"),
        (&["good", "--capacity", "5"], 2, "write a percentage"),
        (&["good", "--capacity", "0%"], 2, "write a percentage"),
        (&["good", "--capacity", "-5%"], 2, "write a percentage"),
        (&["good", "--capacity", "150%"], 2, "write a percentage"),
        (&["good", "--capacity", ""], 2, "write a percentage"),
        (&["good", "--capacity", "1%,,5%"], 2, "write a percentage"),
        (&["good", "--format", "xml"], 2, "xml"),
        (&["--capacity", "5%"], 2, "FILE"),
        (&["good", "missing"], 1, "cannot read missing"),
    ] {
        let output = folder.run(arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
        assert!(stderr.contains(says), "{arguments:?}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}
