//! One line for each figure of the results file, so that a new figure is a new line and never a
//! moved column: a spreadsheet pivots it, a script filters it.
//!
//! A measure is named by its path in the JSON and carries its unit in that name.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::results::cost::{CostResult, Load};
use crate::results::modes::ModesResult;

const COLUMNS: [&str; 6] = ["started_at", "section", "what", "load", "measure", "value"];

/// Names what a line speaks of, or would be no figure.
const NOT_FIGURES: [&str; 9] = [
    "step",
    "path",
    "load",
    "hdr_v2_base64",
    "switch",
    "keys",
    "contender",
    "configuration",
    "access",
];

pub(super) fn print(result: &CostResult) -> String {
    let mut lines = Lines::starting(&result.started_at, COLUMNS);
    lines.section(["config", "", ""], &result.config);
    for call in &result.calls {
        lines.section(["call", &name(&call.step), ""], call);
    }
    for row in &result.rows {
        lines.section(["row", &name(&row.path), load(row.load)], row);
    }
    if let Some(summary) = &result.summary {
        lines.section(["summary", "", ""], summary);
    }
    for row in result.changes.iter().flat_map(|changes| &changes.rows) {
        lines.section(["changes", "memory", load(row.load)], row);
    }
    lines.finish()
}

/// `load` is the number of keys here.
pub(super) fn print_modes(result: &ModesResult) -> String {
    let mut columns = COLUMNS;
    columns[3] = "keys";
    let mut lines = Lines::starting(&result.started_at, columns);
    lines.section(["config", "", ""], &result.config);
    for row in &result.rows {
        let what = [
            &row.contender,
            name(&row.configuration).as_str(),
            &name(&row.access),
        ]
        .join("/");
        let section = format!("{}_object", name(&row.object));
        let times = [("get", row.get), ("set", row.set)];
        let times: BTreeMap<_, _> = times.into_iter().collect();
        lines.section([&section, &what, &row.keys.to_string()], &times);
    }
    for row in &result.switches {
        lines.section(["switch", &name(&row.switch), &row.keys.to_string()], row);
    }
    for line in &result.what_if {
        let what = [
            &line.contender,
            name(&line.configuration).as_str(),
            &name(&line.access),
        ]
        .join("/");
        lines.section(["what_if", &what, ""], line);
    }
    lines.finish()
}

struct Lines<'a> {
    started_at: &'a str,
    writer: csv::Writer<Vec<u8>>,
}

impl<'a> Lines<'a> {
    fn starting(started_at: &'a str, columns: [&str; 6]) -> Self {
        let mut lines = Lines {
            started_at,
            writer: csv::Writer::from_writer(Vec::new()),
        };
        lines.write(columns);
        lines
    }

    fn section<T: serde::Serialize>(&mut self, about: [&str; 3], figures: &T) {
        let figures = serde_json::to_value(figures).expect("a result is plain data");
        self.figures(about, "", &figures);
    }

    fn figures(&mut self, about: [&str; 3], measure: &str, value: &Value) {
        let value = match value {
            Value::Object(fields) => {
                for (field, value) in fields {
                    if NOT_FIGURES.contains(&field.as_str()) {
                        continue;
                    }
                    let dot = if measure.is_empty() { "" } else { "." };
                    self.figures(about, &format!("{measure}{dot}{field}"), value);
                }
                return;
            }
            // What could not be measured stays visible, as a line without a value.
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let [section, what, load] = about;
        let started_at = self.started_at;
        self.write([started_at, section, what, load, measure, &value]);
    }

    fn write(&mut self, line: [&str; 6]) {
        self.writer
            .write_record(line)
            .expect("writing to memory does not fail");
    }

    fn finish(self) -> String {
        let bytes = self.writer.into_inner().expect("memory needs no flush");
        String::from_utf8(bytes).expect("only text was written")
    }
}

/// The name of a step or path as the results file spells it.
fn name<T: serde::Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(name)) => name,
        _ => String::new(),
    }
}

fn load(load: Load) -> &'static str {
    if load.is_rate() { "rate" } else { "full" }
}
