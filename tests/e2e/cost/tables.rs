//! What a run prints and writes, and that `hotcopy report` prints it again.

use hotcopy_lab::results::cost::{CostResult, Path};
use hotcopy_tests::locate;
use serde_json::Value;

use super::sandbox::Sandbox;
use super::{VALUE_BYTES, assert_refused, brief};

fn assert_follows_the_schema(text: &str) {
    let path = locate::repository().join("docs/schema/cost.schema.json");
    let schema = std::fs::read_to_string(path).expect("the schema is published");
    let schema: Value = serde_json::from_str(&schema).expect("a schema is JSON");
    let result: Value = serde_json::from_str(text).expect("a result is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let faults: Vec<String> = validator
        .iter_errors(&result)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(faults, Vec::<String>::new());
}

fn assert_no_escape_codes(text: &str) {
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn a_run_without_arguments_but_a_time_ends_by_itself_with_both_tables_and_a_file() {
    let sandbox = Sandbox::new();
    let finished = sandbox.cost(&["--seconds", "0.5"]);
    finished.assert_done();
    for part in [
        "One call, split in two",
        "The same read at both traffic levels",
        "from the store",
        "from memory",
        "What this means",
        "2,730/s",
    ] {
        assert!(
            finished.stdout.contains(part),
            "no {part:?}: {}",
            finished.stdout
        );
    }
    assert_no_escape_codes(&finished.stdout);
    assert_no_escape_codes(&finished.stderr);
    assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
    assert!(
        finished.stderr.contains("results/cost.json"),
        "{}",
        finished.stderr
    );
    sandbox.assert_only_the_results_are_left();
}

#[test]
fn the_store_moves_the_value_with_every_read_and_memory_never() {
    let sandbox = Sandbox::new();
    sandbox
        .cost(&["--seconds", "0.5", "--rate", "200"])
        .assert_done();
    let result = sandbox.result();
    assert_eq!(result.config.value.bytes, VALUE_BYTES);
    assert_rows_moved_what_they_read(&result);

    let [store, memory] = [Path::Store, Path::Memory].map(|path| {
        result
            .row_at_full_load(path)
            .expect("a row")
            .throughput_per_s
    });
    assert!(
        memory > 1_000.0 * store,
        "{memory}/s from memory, {store}/s from the store"
    );

    let text = std::fs::read_to_string(sandbox.results()).expect("a results file");
    assert_follows_the_schema(&text);
}

fn assert_rows_moved_what_they_read(result: &CostResult) {
    let at_rate = |path| result.row_at_rate(path).expect("a row at the rate");
    let at_full_load = |path| result.row_at_full_load(path).expect("a row at full load");
    for store in [at_rate(Path::Store), at_full_load(Path::Store)] {
        assert!(store.reads > 0);
        assert_eq!(store.transfer.payload_bytes, store.reads * VALUE_BYTES);
        assert!(store.transfer.wire_in_bytes >= store.transfer.payload_bytes);
        assert_eq!(store.decode.calls, store.reads);
    }
    for memory in [at_rate(Path::Memory), at_full_load(Path::Memory)] {
        assert!(memory.reads > 0);
        assert_eq!(memory.transfer.payload_bytes, 0);
        assert_eq!(memory.transfer.wire_in_bytes, 0);
        assert_eq!(memory.transfer.wire_out_bytes, 0);
        assert_eq!(memory.decode.calls, 0);
    }
    let schedule = at_rate(Path::Store).schedule.as_ref().expect("a schedule");
    assert_eq!(schedule.due, 100);
}

/// Runs in one format and prints the file again in the same.
fn assert_report_repeats(format: &str) -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    let printed = sandbox.cost(&brief(&["--format", format]));
    printed.assert_done();
    let file = sandbox.results();
    let file = file.to_str().expect("a path of text");
    let again = sandbox.run(&["report", file, "--format", format]);
    again.assert_done();
    assert!(!printed.stdout.is_empty());
    assert_eq!(again.stdout, printed.stdout);
    assert_eq!(again.stderr, "");
    assert_no_escape_codes(&printed.stdout);
    (sandbox, printed.stdout)
}

#[test]
fn report_prints_the_tables_again_byte_for_byte() {
    assert_report_repeats("table");
}

#[test]
fn report_prints_the_markdown_again_byte_for_byte() {
    let (_, text) = assert_report_repeats("markdown");
    let is_rule = |line: &str| line.starts_with('|') && line.contains("--");
    assert!(text.lines().any(is_rule), "no table: {text}");
}

#[test]
fn report_prints_the_csv_again_byte_for_byte() {
    let (_, text) = assert_report_repeats("csv");
    let columns = |line: &str| line.split(',').count();
    let header = text.lines().next().expect("a header");
    assert!(columns(header) > 1, "{header}");
}

#[test]
fn the_json_on_standard_output_is_the_file_and_follows_the_schema() {
    let (sandbox, text) = assert_report_repeats("json");
    let file = std::fs::read_to_string(sandbox.results()).expect("a results file");
    assert_eq!(text, file);
    assert_follows_the_schema(&text);
}

#[test]
fn out_names_another_place_and_makes_its_folder() {
    let sandbox = Sandbox::new();
    sandbox
        .cost(&brief(&["--out", "of/today/shop.json"]))
        .assert_done();
    assert_eq!(sandbox.entries(), ["of", "of/today", "of/today/shop.json"]);
}

#[test]
fn report_refuses_what_is_no_result() {
    let sandbox = Sandbox::new();
    let other = sandbox.file("other.json", b"{\"schema\": \"other/1\"}");
    let text = sandbox.file("notes.txt", b"nothing of the kind");
    for (file, says) in [
        ("absent.json", "absent.json"),
        (other.as_str(), "other/1"),
        (text.as_str(), "not JSON"),
        (".", "cannot read"),
    ] {
        let finished = sandbox.run(&["report", file]);
        assert_refused(&sandbox, &finished, 1, &[says]);
    }
    let finished = sandbox.run(&["report"]);
    assert_refused(&sandbox, &finished, 2, &["<FILE>"]);
}
