//! What `hotcopy modes` prints, from a result built by hand.

mod sample;

use hotcopy_lab::report::{Format, Style, render};
use hotcopy_lab::results::modes::ModesResult;
use hotcopy_lab::results::{AnyResult, read, read_cost, read_modes, write};

const PLAIN: Style = Style {
    color: false,
    width: None,
};

fn table(result: &ModesResult) -> String {
    render(result, Format::Table, PLAIN)
}

#[test]
fn the_tables_are_printed_as_they_were() {
    let printed = table(&sample::modes::full());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sample/modes.txt");
    if std::env::var_os("UPDATE_SAMPLE").is_some() {
        std::fs::write(path, &printed).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap();
    assert_eq!(
        printed, expected,
        "if the change is meant, run again with UPDATE_SAMPLE=1 and read the difference"
    );
}

#[test]
fn no_line_is_wider_than_a_hundred_columns() {
    for line in table(&sample::modes::full()).lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn what_was_not_measured_is_a_dash_with_its_reason() {
    let text = table(&sample::modes::interrupted());
    assert!(text.contains("not measured in this run"), "{text}");
    assert!(text.contains("the run was interrupted"), "{text}");
    assert!(!text.contains("NaN"), "{text}");
}

#[test]
fn a_result_from_its_file_prints_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("modes.json");
    for result in [sample::modes::full(), sample::modes::interrupted()] {
        write(&path, &result).unwrap();
        let read = read_modes(&path).unwrap();
        for format in [Format::Table, Format::Markdown, Format::Json, Format::Csv] {
            assert_eq!(render(&read, format, PLAIN), render(&result, format, PLAIN));
        }
    }
}

#[test]
fn each_kind_of_result_is_told_from_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let (modes, cost) = (folder.path().join("modes"), folder.path().join("cost"));
    write(&modes, &sample::modes::full()).unwrap();
    write(&cost, &sample::full()).unwrap();
    assert!(matches!(read(&modes).unwrap(), AnyResult::Modes(_)));
    assert!(matches!(read(&cost).unwrap(), AnyResult::Cost(_)));
    let wrong = read_cost(&modes).unwrap_err().to_string();
    assert!(
        wrong.contains("its schema is \"hotcopy.modes/1\""),
        "{wrong}"
    );
    let wrong = read_modes(&cost).unwrap_err().to_string();
    assert!(
        wrong.contains("its schema is \"hotcopy.cost/1\""),
        "{wrong}"
    );
}

#[test]
fn csv_has_a_line_for_each_figure_named_by_contender_and_keys() {
    let text = render(&sample::modes::full(), Format::Csv, PLAIN);
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("started_at,section,what,keys,measure,value")
    );
    for line in [
        "small_object,hotcopy/all_on/borrowed,1000,get.median_ns,12.5",
        "large_object,hotcopy/all_on/cloned,1,get.median_ns,21408.4",
        "switch,max_entries,1000,set_cost_ns,8.0",
        "switch,nothing,1000,get_cost_ns,",
        "what_if,ts-cache 0.1.2/all_on/cloned,,saved_ms_per_s,60.0",
    ] {
        let line = format!("2026-01-02T03:04:05Z,{line}");
        assert!(text.lines().any(|it| it == line), "no {line} in:\n{text}");
    }
}
