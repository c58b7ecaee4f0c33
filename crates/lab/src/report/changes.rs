//! How changes of the value arrived in the process that holds it in memory.

use super::document::{Block, Table};
use super::quantity::{count, duration, level};
use crate::results::cost::{Changes, ChangesOfRow, CostResult};

pub(super) fn blocks(result: &CostResult) -> Vec<Block> {
    let Some(changes) = &result.changes else {
        return Vec::new();
    };
    let heading = Block::Heading("When the value changes".to_owned());
    if changes.rows.is_empty() {
        return vec![heading, Block::Note("Not measured.".to_owned())];
    }
    let columns = [
        "from memory",
        "changes\nmade",
        "seen",
        "re-reads",
        "lag p50",
        "lag max",
        "reads of the\nold version",
    ];
    vec![
        heading,
        Block::Table(Table {
            columns: columns.map(str::to_owned).to_vec(),
            lines: changes.rows.iter().map(line).collect(),
        }),
        verdict(changes),
        Block::Note(
            "Lag: from the acknowledged write until that version, or a later one, is readable. A \
             re-read is one GET and one decode. Reads of the old version fall into the lag."
                .to_owned(),
        ),
    ]
}

fn line(row: &ChangesOfRow) -> Vec<String> {
    let lag = |micros: Option<f64>| micros.map_or_else(|| "–".to_owned(), duration);
    vec![
        level(row.load),
        count(row.made),
        count(row.seen),
        count(row.reloads),
        lag(row.lag_p50_us),
        lag(row.lag_max_us),
        format!("{} of {}", count(row.stale_reads), count(row.reads)),
    ]
}

fn verdict(changes: &Changes) -> Block {
    let missed: u64 = changes
        .rows
        .iter()
        .map(|row| row.made.saturating_sub(row.seen))
        .sum();
    let made: u64 = changes.rows.iter().map(|row| row.made).sum();
    match (made, missed) {
        (0, _) => Block::Paragraph("No change was made while the rows ran.".to_owned()),
        (_, 0) => Block::Paragraph("Every change was seen.".to_owned()),
        (_, missed) => Block::Warning(format!(
            "{} of {} changes were not seen before their row ended",
            count(missed),
            count(made)
        )),
    }
}
