//! What `hotcopy cost` and `hotcopy report` print, from a result built by hand.

mod sample;

use hotcopy_lab::report::{Format, Style, render};
use hotcopy_lab::results::cost::{CostResult, Path, Schedule, Summary};
use hotcopy_lab::results::{read_cost, to_json, write};

const PLAIN: Style = Style {
    color: false,
    width: None,
};
const FORMATS: [Format; 4] = [Format::Table, Format::Markdown, Format::Json, Format::Csv];

fn table(result: &CostResult) -> String {
    render(result, Format::Table, PLAIN)
}

/// The text with all white space as single spaces, so that line breaks do not matter.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn says(text: &str, expected: &str) {
    assert!(flat(text).contains(expected), "no {expected:?} in:\n{text}");
}

#[test]
fn the_table_is_printed_as_it_was() {
    let printed = table(&sample::full());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sample/full.txt");
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
fn every_section_of_a_full_result_is_there() {
    for format in [Format::Table, Format::Markdown] {
        let text = render(&sample::full(), format, PLAIN);
        for section in [
            "hotcopy cost: what reading a value on every request costs",
            "One call, split in two",
            "The same read at both traffic levels",
            "What this means",
            "When the value changes",
            "the machine was busy: close other programs and measure again",
        ] {
            says(&text, section);
        }
        says(
            &text,
            "41,083 bytes, generated config, 1,612 values, depth 6",
        );
        says(
            &text,
            "redis 7.0.15 at redis://127.0.0.1:6379, on this machine",
        );
        says(&text, "6,417.65 MiB moved a minute, 9,024.8 GiB a day");
        says(&text, "at full load 27,320 times as many reads a second");
        says(&text, "Every change was seen.");
        says(
            &text,
            "from the acknowledged write until that version, or a later one, is readable.",
        );
    }
}

#[test]
fn a_result_from_its_file_prints_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results/cost.json");
    for result in [sample::full(), sample::interrupted()] {
        write(&path, &result).unwrap();
        let read = read_cost(&path).unwrap();
        for format in FORMATS {
            for color in [false, true] {
                let style = Style {
                    color,
                    width: Some(90),
                };
                assert_eq!(
                    render(&read, format, style),
                    render(&result, format, style),
                    "{format:?}"
                );
            }
        }
        let file = std::fs::read_to_string(&path).unwrap();
        assert_eq!(render(&result, Format::Json, PLAIN), file);
        assert_eq!(to_json(&read), file);
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let mut result = sample::full();
    result.config.value.source = "a/very/long/path/".repeat(12);
    result.warnings.push("word ".repeat(60));
    for (width, widest) in [(None, 100), (Some(250), 100), (Some(80), 80)] {
        let style = Style {
            color: false,
            width,
        };
        for line in render(&result, Format::Table, style).lines() {
            let columns = line.chars().count();
            assert!(columns <= widest, "{columns} columns: {line}");
        }
    }
}

#[test]
fn a_figure_is_never_broken_over_two_lines() {
    for width in [20, 60, 80] {
        let style = Style {
            color: false,
            width: Some(width),
        };
        let text = render(&sample::full(), Format::Table, style);
        for figure in ["328,005,464", "130,527.88", "902,140 of 1,640,027,320"] {
            assert!(text.contains(figure), "no {figure} in:\n{text}");
        }
    }
}

#[test]
fn colour_changes_nothing_but_escapes() {
    let style = Style {
        color: true,
        width: None,
    };
    let mut text = render(&sample::full(), Format::Table, style);
    assert!(text.contains("\u{1b}[33mwarning: the machine was busy"));
    for escape in ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[33m"] {
        text = text.replace(escape, "");
    }
    assert_eq!(text, table(&sample::full()));
}

#[test]
fn an_interrupted_run_prints_what_it_measured() {
    let text = table(&sample::interrupted());
    says(
        &text,
        "warning: the run was interrupted: what stands here was measured until then",
    );
    says(&text, "GET only 0.099 ms");
    says(
        &text,
        "Not measured: from memory at the rate, from the store at full load, from memory at full load.",
    );
    says(&text, "server CPU (% of a core) unavailable");
    says(&text, "No conclusion: it takes both rows at the given rate");
    says(&text, "memory unknown");
    assert!(!text.contains("When the value changes"));
}

#[test]
fn a_run_interrupted_at_once_prints_in_every_format() {
    let mut result = sample::interrupted();
    result.calls.clear();
    result.rows.clear();
    for format in FORMATS {
        assert!(render(&result, format, PLAIN).ends_with('\n'));
    }
    says(&table(&result), "One call, split in two Not measured.");
}

#[test]
fn a_row_that_did_not_keep_its_rate_says_what_it_reached() {
    let mut result = sample::full();
    let row = &mut result.rows[0];
    row.reads = 9_556;
    row.throughput_per_s = 1_911.2;
    row.schedule = Some(Schedule::new(13_650, 9_556, 120));
    let text = table(&result);
    says(
        &text,
        "warning: from the store did not keep its rate: asked for 2,730/s, reached 1,911.2/s; of \
         13,650 reads due, 4,094 had not finished at the end of the row, and 120 were abandoned.",
    );
    says(&text, "The rate was not kept");
    assert!(!table(&sample::full()).contains("did not keep its rate"));
}

#[test]
fn a_copy_that_saves_nothing_is_not_praised() {
    let mut result = sample::full();
    result.rows.swap(0, 1);
    result.rows[0].path = Path::Store;
    result.rows[1].path = Path::Memory;
    result.summary = Summary::from_rows(&result.rows, 1);
    let text = table(&result);
    says(
        &text,
        "no CPU is saved here: reading takes 0.40 cores in the client",
    );
    says(&text, "0.59 cores higher");
    says(&text, "524 million allocations a minute more");
    says(&text, "the process held 12.0 MiB more at its end");
}

#[test]
fn a_copy_whose_cpu_does_not_show_is_not_said_to_cost_zero() {
    let mut result = sample::full();
    result.rows[1].client_cpu.net_share_of_core = Some(0.0);
    result.rows[1].server_cpu = None;
    result.summary = Summary::from_rows(&result.rows, 1);
    says(
        &table(&result),
        "reading takes too little CPU to measure in the client: 0.40 cores saved (client only)",
    );
}

#[test]
fn instances_multiply_and_the_report_says_that_only_one_was_measured() {
    let mut result = sample::full();
    result.config.instances = 20;
    result.summary = Summary::from_rows(&result.rows, 20);
    let text = table(&result);
    says(
        &text,
        "20 processes that together read the value 54,600.0 times a second",
    );
    says(&text, "128,353.03 MiB moved a minute");
    says(
        &text,
        "One process was measured and multiplied by 20; that many at once were not.",
    );
}

#[test]
fn changes_that_were_not_seen_are_a_warning() {
    let mut result = sample::full();
    result.changes.as_mut().unwrap().rows[1].made = 11;
    says(
        &table(&result),
        "warning: 2 of 20 changes were not seen before their row ended",
    );
}

#[test]
fn text_from_a_server_cannot_move_the_cursor() {
    let mut result = sample::full();
    result.server.version = "7\u{1b}[2J\n".to_owned();
    result.warnings.push("\u{7}".to_owned());
    let text = table(&result);
    assert!(!text.contains(['\u{1b}', '\u{7}']));
    says(&text, "redis 7\\u{1b}[2J\\n at");
}

#[test]
fn every_markdown_table_has_as_many_cells_in_each_line() {
    for mut result in [sample::full(), sample::interrupted()] {
        result.config.value.command = "GET a|b".to_owned();
        let text = render(&result, Format::Markdown, PLAIN);
        let mut tables = 0;
        for table in text.split("\n\n").filter(|part| part.starts_with('|')) {
            tables += 1;
            let cells: Vec<usize> = table
                .lines()
                .map(|line| line.replace("\\|", "").matches('|').count())
                .collect();
            assert!(cells.len() > 2, "{table}");
            assert!(cells.iter().all(|&it| it == cells[0]), "{table}");
        }
        assert_eq!(tables, if result.interrupted { 2 } else { 3 });
        says(&text, "read with GET a\\|b");
    }
}

#[test]
fn csv_has_one_line_for_each_figure_of_the_file() {
    let mut result = sample::full();
    result.config.value.source = "a, \"quoted\" name".to_owned();
    result.rows[0].server_cpu = None;
    let text = render(&result, Format::Csv, PLAIN);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header: Vec<String> = reader
        .headers()
        .unwrap()
        .iter()
        .map(str::to_owned)
        .collect();
    assert_eq!(
        header,
        ["started_at", "section", "what", "load", "measure", "value"]
    );
    let lines: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    let find = |wanted: [&str; 4]| {
        let matching: Vec<_> = lines
            .iter()
            .filter(|line| line.iter().skip(1).take(4).eq(wanted))
            .map(|line| line[5].to_owned())
            .collect();
        assert_eq!(matching.len(), 1, "{wanted:?}");
        matching[0].clone()
    };
    assert_eq!(
        find(["row", "store", "full", "transfer.payload_bytes"]),
        (60_030_u64 * 41_083).to_string()
    );
    assert_eq!(find(["row", "memory", "rate", "reads"]), "13650");
    assert_eq!(find(["row", "nothing", "rate", "schedule.kept"]), "true");
    assert_eq!(find(["row", "store", "full", "response"]), "");
    assert_eq!(find(["row", "store", "rate", "server_cpu"]), "");
    assert_eq!(
        find(["config", "", "", "value.source"]),
        "a, \"quoted\" name"
    );
    assert_eq!(
        find(["summary", "", "", "full_load_ratio"]),
        "27320.1286024"
    );
    assert_eq!(find(["changes", "memory", "rate", "lag_p50_us"]), "230.0");
    let p99: f64 = find(["call", "decode", "", "time.p99_us"]).parse().unwrap();
    assert!((98.0..100.0).contains(&p99));
    assert!(!text.contains("hdr_v2"));
}
