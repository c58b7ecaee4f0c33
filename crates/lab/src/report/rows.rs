//! The second table: the four rows side by side, measures down the side so that it fits a terminal,
//! and the two rows that stand beside it.

use super::document::{Block, Footnotes, Table};
use super::quantity::{
    count, decimal, duration, level, many, mib, percent, percent_number, plain, rate, size,
};
use crate::results::Micros;
use crate::results::cost::{CostResult, Load, Path, Row, ServerCpuSource};

pub(super) const TOO_FEW_SAMPLES: &str = "Fewer than ten samples lie beyond this percentile.";
const NO_SCHEDULE: &str = "Full load keeps no schedule: each worker reads again at once.";
const UNREADABLE: &str = "Could not be read on this system or from this server.";

/// One cell of the table.
enum Cell {
    Figure(String),
    /// With the footnote that it needs.
    Noted(String, String),
}

fn figure(text: String) -> Cell {
    Cell::Figure(text)
}

fn dash(why: &str) -> Cell {
    Cell::Noted("–".to_owned(), why.to_owned())
}

fn unavailable() -> Cell {
    Cell::Noted("unavailable".to_owned(), UNREADABLE.to_owned())
}

/// One line of the table: its name, a footnote to the name, and where the figure stands in a row.
struct Measure {
    name: &'static str,
    note: Option<&'static str>,
    cell: fn(&Row) -> Cell,
}

const fn measure(name: &'static str, cell: fn(&Row) -> Cell) -> Measure {
    let note = None;
    Measure { name, note, cell }
}

const fn noted(name: &'static str, note: &'static str, cell: fn(&Row) -> Cell) -> Measure {
    let note = Some(note);
    Measure { name, note, cell }
}

const TIME_OF_A_READ: &str = "At a rate from the intended start to the end (response time), so \
    that a stall counts in full. At full load nothing is intended: from the actual start to the \
    end (service time).";
const OWN_PASS: &str = "In a pass of its own, because counting slows it down; time is summed over \
    threads, the clock's own cost subtracted.";
const NOISE: &str = "How late a thread that only sleeps was woken while the row ran: shorter \
    differences are the machine's.";

const MEASURES: [Measure; 19] = [
    measure("reads per second", |row| figure(rate(row.throughput_per_s))),
    noted("time of a read, p50", TIME_OF_A_READ, |row| {
        let time = row.response.as_ref().unwrap_or(&row.service);
        percentile(row, time.p50_us)
    }),
    noted("time of a read, p99", TIME_OF_A_READ, |row| {
        let time = row.response.as_ref().unwrap_or(&row.service);
        percentile(row, time.p99_us)
    }),
    measure("· late start (lag), p99", |row| match &row.lag {
        Some(lag) => percentile(row, lag.p99_us),
        None => dash(NO_SCHEDULE),
    }),
    measure("· service alone, p99", |row| {
        percentile(row, row.service.p99_us)
    }),
    measure("transfer, payload (MiB/min)", |row| {
        figure(zero_or(row.transfer.payload_mib_per_min, mib))
    }),
    measure("transfer, wire (MiB/min)", |row| {
        figure(zero_or(row.transfer.wire_mib_per_min, mib))
    }),
    measure("decode (% of wall time)", |row| {
        figure(percent_number(row.decode.share_of_wall))
    }),
    measure("client CPU (% of a core)", |row| {
        figure(percent_number(row.client_cpu.share_of_core))
    }),
    measure("· keeping the schedule", |row| {
        share_at_rate(row, row.client_cpu.pacing_share_of_core)
    }),
    measure("· net", |row| {
        share_at_rate(row, row.client_cpu.net_share_of_core)
    }),
    noted("allocations (per min)", OWN_PASS, |row| {
        match &row.allocator {
            Some(allocator) => figure(many(allocator.allocations_per_min)),
            None => unavailable(),
        }
    }),
    noted("allocated (MiB/min)", OWN_PASS, |row| {
        match &row.allocator {
            Some(allocator) => figure(zero_or(allocator.mib_per_min, mib)),
            None => unavailable(),
        }
    }),
    noted("in the allocator (ms/min)", OWN_PASS, |row| {
        match &row.allocator {
            Some(allocator) => figure(zero_or(allocator.time_ms_per_min, |it| decimal(it, 1))),
            None => unavailable(),
        }
    }),
    measure("resident memory, end", |row| {
        match row.resident.as_ref().and_then(|it| it.end_bytes) {
            Some(bytes) => figure(size(bytes as f64)),
            None => unavailable(),
        }
    }),
    measure("resident memory, peak", |row| match &row.resident {
        Some(resident) => figure(size(resident.peak_bytes as f64)),
        None => unavailable(),
    }),
    measure("server CPU (% of a core)", |row| match &row.server_cpu {
        Some(cpu) => {
            let share = percent_number(cpu.share_of_core);
            match cpu.source {
                ServerCpuSource::ProcessClock => figure(share),
                ServerCpuSource::Info => Cell::Noted(
                    share,
                    "As the server's INFO counts it, other clients included.".to_owned(),
                ),
            }
        }
        None => unavailable(),
    }),
    noted("noise floor, p99", NOISE, |row| match row.hiccups.p99_us {
        Some(micros) => figure(duration(micros)),
        None => dash(TOO_FEW_SAMPLES),
    }),
    noted("noise floor, max", NOISE, |row| {
        figure(duration(row.hiccups.max_us))
    }),
];

fn percentile(row: &Row, micros: Option<Micros>) -> Cell {
    match micros {
        None => dash(TOO_FEW_SAMPLES),
        Some(micros) if row.reads_per_sample > 1 => Cell::Noted(
            duration(micros),
            format!(
                "All reads are counted and timed in batches of {}: a percentile of the batches' \
                 means per read.",
                count(row.reads_per_sample)
            ),
        ),
        Some(micros) => figure(duration(micros)),
    }
}

fn share_at_rate(row: &Row, share: Option<f64>) -> Cell {
    match share {
        Some(share) => figure(percent_number(share)),
        None if row.load.is_rate() => Cell::Noted(
            "–".to_owned(),
            "The row that only keeps the schedule was not measured.".to_owned(),
        ),
        None => dash(NO_SCHEDULE),
    }
}

/// Exactly nothing is printed as `0`: zeros after a point would say "almost".
fn zero_or(value: f64, print: impl Fn(f64) -> String) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else {
        print(value)
    }
}

pub(super) fn blocks(result: &CostResult) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(
        "The same read at both traffic levels".to_owned(),
    )];
    let columns = [
        (
            "from the store at the rate",
            result.row_at_rate(Path::Store),
        ),
        ("from memory at the rate", result.row_at_rate(Path::Memory)),
        (
            "from the store at full load",
            result.row_at_full_load(Path::Store),
        ),
        (
            "from memory at full load",
            result.row_at_full_load(Path::Memory),
        ),
    ];
    let measured: Vec<&Row> = columns.iter().filter_map(|(_, row)| *row).collect();
    if !measured.is_empty() {
        blocks.extend(table(&measured));
    }
    let missing: Vec<&str> = columns
        .iter()
        .filter(|(_, row)| row.is_none())
        .map(|(name, _)| *name)
        .collect();
    if !missing.is_empty() {
        blocks.push(Block::Note(format!(
            "Not measured: {}.",
            missing.join(", ")
        )));
    }
    let beside = beside(result);
    if !beside.is_empty() {
        blocks.push(Block::Facts(beside));
    }
    blocks.extend(result.rows.iter().filter_map(behind));
    blocks
}

fn table(rows: &[&Row]) -> Vec<Block> {
    let mut notes = Footnotes::default();
    let mut columns = vec![String::new()];
    columns.extend(
        rows.iter()
            .map(|row| format!("{}\n{}", row.name(), level(row.load))),
    );
    let lines = MEASURES
        .iter()
        .map(|measure| {
            let name = match measure.note {
                Some(note) => notes.mark(measure.name, note),
                None => measure.name.to_owned(),
            };
            let cells = rows.iter().map(|row| match (measure.cell)(row) {
                Cell::Figure(text) => text,
                Cell::Noted(text, note) => notes.mark(&text, &note),
            });
            [name].into_iter().chain(cells).collect()
        })
        .collect();
    let mut blocks = vec![Block::Table(Table { columns, lines })];
    blocks.extend(notes.into_blocks());
    blocks
}

/// The rows that are no way to read but tell how much of the others is the experiment's own.
fn beside(result: &CostResult) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(row) = result.row_at_rate(Path::Nothing) {
        let cpu = percent(row.client_cpu.share_of_core);
        let mut text = format!("keeping the schedule and reading nothing takes {cpu} of a core");
        if let Some(lag) = &row.lag {
            let known = [("p50", lag.p50_us), ("p99", lag.p99_us)];
            let known = known.map(|(name, it)| Some(format!("{} ({name})", duration(it?))));
            let known: Vec<String> = known.into_iter().flatten().collect();
            if !known.is_empty() {
                text.push_str(&format!("; a start is late by {}", known.join(", ")));
            }
        }
        facts.push((row.name(), text));
    }
    if let Some(row) = result.row_at_full_load(Path::Nothing) {
        let mut text = format!(
            "the loop around a read from memory takes {} a turn (mean)",
            duration(row.service.mean_us)
        );
        if let Some(memory) = result.row_at_full_load(Path::Memory) {
            let with_read = duration(memory.service.mean_us);
            text.push_str(&format!(", with the read in it {with_read}"));
        }
        facts.push((row.name(), text));
    }
    facts
}

/// A row that did not keep its rate must not be read like one that did.
fn behind(row: &Row) -> Option<Block> {
    let (Load::Rate { per_s }, Some(schedule)) = (row.load, &row.schedule) else {
        return None;
    };
    if schedule.kept {
        return None;
    }
    let abandoned = match schedule.abandoned {
        0 => "all of them finished later".to_owned(),
        abandoned => format!("{} were abandoned", count(abandoned)),
    };
    Some(Block::Warning(format!(
        "{} did not keep its rate: asked for {}/s, reached {}/s; of {} reads due, {} had not \
         finished at the end of the row, and {abandoned}. Its times are those of an overload.",
        row.name(),
        plain(per_s),
        rate(row.throughput_per_s),
        count(schedule.due),
        count(schedule.backlog),
    )))
}
