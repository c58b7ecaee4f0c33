//! The report of `hotcopy modes`.

use super::document::{Block, Footnotes, Table, printable};
use super::header::{client, machine};
use super::quantity::{count, decimal, duration, nanos, plain, rate, signed_nanos};
use crate::results::modes::{
    Access, Config, Configuration, Family, ModesResult, Object, Row, Switch, SwitchRow, WhatIf,
};
use crate::rounds::PerOperation;

const NOT_MEASURED: &str = "not measured in this run";

pub(super) fn blocks(result: &ModesResult) -> Vec<Block> {
    let mut blocks = vec![
        Block::Title("hotcopy modes: what a read and a write in this process cost".to_owned()),
        Block::Facts(facts(result)),
    ];
    if result.rows.is_empty() {
        blocks.push(Block::Note("Nothing was measured.".to_owned()));
        return blocks;
    }
    blocks.extend(times(result, "A read that hits, ns", |row| row.get));
    blocks.extend(times(
        result,
        "A write over a key that is there, ns",
        |row| row.set,
    ));
    blocks.push(Block::Note(format!(
        "Nanoseconds of one operation: of {} rounds in turn the median. Borrowed: the value is used \
         where it is. Shared: a counted handle. Cloned: a copy of all of it, and a write stores a copy. \
         Compare within a column; JavaScript ran right after, in a process of its own.",
        count(u64::from(result.config.rounds))
    )));
    blocks.extend(
        result
            .java_script
            .notes
            .iter()
            .map(|note| Block::Note(printable(note))),
    );
    blocks.extend(configurations(result));
    blocks.extend(switches(&result.switches));
    blocks.extend(what_if(&result.config, &result.what_if));
    blocks
}

fn facts(result: &ModesResult) -> Vec<(&'static str, String)> {
    let config = &result.config;
    let peers = if config.peers {
        "with Rust peers"
    } else {
        "without Rust peers (build with --features peers for them)"
    };
    let facts = [
        (
            "values",
            format!(
                "{} bytes; the large object is a decoded tree, {} bytes as JSON",
                count(config.small_bytes),
                count(config.large_bytes)
            ),
        ),
        ("machine", machine(&result.machine)),
        ("client", client(&result.machine, &result.hotcopy_version)),
        (
            "JavaScript",
            result
                .java_script
                .runtime
                .clone()
                .unwrap_or_else(|| "none".to_owned()),
        ),
        (
            "asked for",
            format!(
                "{} rounds of {} ms, {peers}",
                count(u64::from(config.rounds)),
                count(config.round_ms)
            ),
        ),
        ("noise floor", noise(result)),
        ("started", result.started_at.clone()),
        ("command", result.command_line.join(" ")),
    ];
    facts
        .into_iter()
        .map(|(name, value)| (name, printable(&value)))
        .collect()
}

fn noise(result: &ModesResult) -> String {
    let Some(hiccups) = &result.hiccups else {
        return "unknown".to_owned();
    };
    let max = duration(hiccups.max_us);
    match hiccups.p99_us {
        Some(p99_us) => format!(
            "a sleeping thread woke at most {} late (p99), once {max}",
            duration(p99_us)
        ),
        None => format!("a sleeping thread woke at most {max} late"),
    }
}

/// One line for each contender, one column for each section.
fn times(
    result: &ModesResult,
    title: &str,
    time: impl Fn(&Row) -> Option<PerOperation>,
) -> Vec<Block> {
    let mut sections: Vec<(Object, u64)> = Vec::new();
    let mut lines: Vec<Line<'_>> = Vec::new();
    for row in &result.rows {
        let (section, line) = ((row.object, row.keys), Line::of(row));
        if !sections.contains(&section) {
            sections.push(section);
        }
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let mut notes = Footnotes::default();
    let mut columns = vec![String::new()];
    columns.extend(sections.iter().map(|(object, keys)| match object {
        Object::Small if *keys == 1 => "1 key".to_owned(),
        Object::Small => format!("{} keys", count(*keys)),
        Object::Large => "large object".to_owned(),
    }));
    let cells = |line: &Line<'_>| {
        let mut cells = vec![line.name()];
        cells.extend(sections.iter().map(|section| {
            let mut rows = result.rows.iter();
            let row = rows.find(|row| (row.object, row.keys) == *section && Line::of(row) == *line);
            match row.and_then(&time) {
                Some(time) => nanos(time.median_ns),
                None => notes.mark("–", NOT_MEASURED),
            }
        }));
        cells
    };
    let lines = lines.iter().map(cells).collect();
    let mut blocks = vec![
        Block::Heading(title.to_owned()),
        Block::Table(Table { columns, lines }),
    ];
    blocks.extend(notes.into_blocks());
    blocks
}

/// What makes a line of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Line<'a> {
    contender: &'a str,
    configuration: Configuration,
    access: Access,
}

impl<'a> Line<'a> {
    fn of(row: &'a Row) -> Self {
        Line {
            contender: &row.contender,
            configuration: row.configuration,
            access: row.access,
        }
    }

    fn name(&self) -> String {
        let mut parts = vec![printable(self.contender)];
        match self.configuration {
            _ if self.access == Access::None => {}
            Configuration::NothingOn => parts.push("nothing on".to_owned()),
            Configuration::AllOn => parts.push("all on".to_owned()),
            Configuration::Plain => {}
        }
        match self.access {
            Access::Borrowed => parts.push("borrowed".to_owned()),
            Access::Shared => parts.push("shared".to_owned()),
            Access::Cloned => parts.push("cloned".to_owned()),
            Access::None => {}
        }
        parts.join(", ")
    }
}

/// Ours and ts-cache in the three configurations that ts-cache publishes figures for.
fn configurations(result: &ModesResult) -> Vec<Block> {
    const CONFIGURATIONS: [(&str, Configuration, Access); 3] = [
        ("nothing on", Configuration::NothingOn, Access::Borrowed),
        ("all on, no clone", Configuration::AllOn, Access::Borrowed),
        ("all on, with clone", Configuration::AllOn, Access::Cloned),
    ];
    let mut notes = Footnotes::default();
    let find = |family, configuration, access| {
        result.rows.iter().find(move |row| {
            let is_ts_cache = row.contender.starts_with("ts-cache");
            (row.object, row.keys) == (Object::Small, 1)
                && (row.family, row.configuration, row.access) == (family, configuration, access)
                && (family != Family::JavaScript || is_ts_cache)
        })
    };
    let mut lines = Vec::new();
    for (name, configuration, access) in CONFIGURATIONS {
        let mut cells = vec![name.to_owned()];
        for family in [Family::Ours, Family::JavaScript] {
            let row = find(family, configuration, access);
            for time in [row.and_then(|row| row.get), row.and_then(|row| row.set)] {
                cells.push(match time {
                    Some(time) => nanos(time.median_ns),
                    None => notes.mark("–", NOT_MEASURED),
                });
            }
        }
        lines.push(cells);
    }
    let columns = [
        "1 key, ns",
        "hotcopy\nget",
        "\nset",
        "ts-cache\nget",
        "\nset",
    ];
    let mut blocks = vec![
        Block::Heading("The three configurations of ts-cache".to_owned()),
        Block::Table(Table {
            columns: columns.map(str::to_owned).to_vec(),
            lines,
        }),
    ];
    blocks.extend(notes.into_blocks());
    blocks
}

fn switches(rows: &[SwitchRow]) -> Vec<Block> {
    let heading = Block::Heading("What each feature of hotcopy costs, ns".to_owned());
    let Some(first) = rows.first() else {
        return vec![heading, Block::Note("Not measured.".to_owned())];
    };
    let cost = |cost: Option<f64>| cost.map_or_else(String::new, signed_nanos);
    let lines = rows.iter().map(|row| {
        vec![
            switch_name(row.switch).to_owned(),
            nanos(row.get.median_ns),
            cost(row.get_cost_ns),
            nanos(row.set.median_ns),
            cost(row.set_cost_ns),
        ]
    });
    let columns = ["switched on", "get", "its cost", "set", "its cost"];
    vec![
        heading,
        Block::Table(Table {
            columns: columns.map(str::to_owned).to_vec(),
            lines: lines.collect(),
        }),
        Block::Note(format!(
            "{} keys, borrowed. Each feature by itself; statistics are always counted. A cost below the \
             spread of the rounds is none.",
            count(first.keys)
        )),
    ]
}

fn switch_name(switch: Switch) -> &'static str {
    match switch {
        Switch::Nothing => "nothing",
        Switch::MaxEntries => "max_entries",
        Switch::MaxBytes => "max_bytes and weigher",
        Switch::TimeToLive => "time_to_live",
        Switch::Jitter => "time_to_live and jitter",
        Switch::TimeToIdle => "time_to_idle",
        Switch::OwnTimeToLive => "insert_with_ttl",
        Switch::All => "all of the cache's",
    }
}

fn what_if(config: &Config, lines: &[WhatIf]) -> Vec<Block> {
    let heading = Block::Heading("What if".to_owned());
    if lines.is_empty() {
        return vec![heading, Block::Note("Not measured.".to_owned())];
    }
    let rows = lines.iter().map(|it| {
        let line = Line {
            contender: &it.contender,
            configuration: it.configuration,
            access: it.access,
        };
        vec![
            line.name(),
            nanos(it.get_ns),
            format!("{} ms", decimal(it.reads_ms_per_s, 3)),
            format!("{} ms", decimal(it.saved_ms_per_s, 3)),
            rate(it.more_requests_per_s),
        ]
    });
    let columns = [
        "",
        "a read,\nns",
        "all reads of\na second",
        "hotcopy saves\na second",
        "that is more\nrequests/s",
    ];
    vec![
        heading,
        Block::Paragraph(format!(
            "{} requests a second with {} reads of the cache each:",
            plain(config.requests_per_s),
            plain(config.operations_per_request)
        )),
        Block::Table(Table {
            columns: columns.map(str::to_owned).to_vec(),
            lines: rows.collect(),
        }),
        Block::Note(
            "Reads of small values among 1,000 keys; saved is against hotcopy with all on, borrowed. More \
             requests: what fits into the saved time of one thread that these requests keep busy."
                .to_owned(),
        ),
    ]
}
