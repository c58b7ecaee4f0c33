//! The report of `hotcopy hit-ratio`: a table for each trace, policies down and capacities across.

use super::document::{Block, Table, printable};
use super::quantity::decimal;
use crate::results::hit_ratio::{HitRatio, HitRatios};

pub(super) fn blocks(result: &HitRatios) -> Vec<Block> {
    let mut blocks = vec![Block::Title(
        "hotcopy hit-ratio: hits in percent of all references, by capacity".to_owned(),
    )];
    for trace in distinct(&result.0, |row| &row.trace) {
        let rows = result.0.iter().filter(|row| &row.trace == trace);
        blocks.push(Block::Heading(printable(trace)));
        blocks.push(Block::Table(table(&rows.collect::<Vec<_>>())));
    }
    blocks.push(Block::Note(
        "Capacities are in percent of the trace's distinct keys, or of their bytes where it has sizes. No policy \
         held more at any step."
            .to_owned(),
    ));
    blocks
}

pub(super) fn csv(result: &HitRatios) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in &result.0 {
        writer
            .serialize(row)
            .expect("writing to memory does not fail");
    }
    let bytes = writer.into_inner().expect("memory needs no flush");
    String::from_utf8(bytes).expect("only text was written")
}

fn table(rows: &[&HitRatio]) -> Table {
    let capacities = distinct(rows.iter().copied(), |row| &row.capacity);
    let mut columns = vec!["policy".to_owned()];
    columns.extend(capacities.iter().map(|capacity| printable(capacity)));
    let line = |policy: &String| {
        let figure = |capacity: &&String| {
            let row = rows
                .iter()
                .find(|row| &row.policy == policy && &&row.capacity == capacity);
            row.map_or_else(|| "–".to_owned(), |row| decimal(row.hit_ratio * 100.0, 2))
        };
        let mut cells = vec![printable(policy)];
        cells.extend(capacities.iter().map(figure));
        cells
    };
    let policies = distinct(rows.iter().copied(), |row| &row.policy);
    Table {
        columns,
        lines: policies.into_iter().map(line).collect(),
    }
}

/// Values in the order in which they come first.
fn distinct<'r>(
    rows: impl IntoIterator<Item = &'r HitRatio>,
    field: impl Fn(&'r HitRatio) -> &'r String,
) -> Vec<&'r String> {
    let mut values = Vec::new();
    for row in rows {
        if !values.contains(&field(row)) {
            values.push(field(row));
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_go_down_and_capacities_across_and_each_trace_has_its_table() {
        let row = |trace: &str, capacity: &str, policy: &str, hit_ratio| HitRatio {
            trace: trace.into(),
            capacity: capacity.into(),
            policy: policy.into(),
            hit_ratio,
        };
        let result = HitRatios(vec![
            row("a", "1%", "hotcopy", 0.25),
            row("a", "1%", "exact LRU", 0.125),
            row("a", "5%", "hotcopy", 0.5),
            row("a", "5%", "exact LRU", 0.4),
            row("b", "1%", "hotcopy", 1.0),
        ]);
        let blocks = blocks(&result);
        assert_eq!(blocks[1], Block::Heading("a".into()));
        let table = |columns: &[&str], lines: &[&[&str]]| {
            let owned = |cells: &&[&str]| cells.iter().map(|&cell| cell.to_owned()).collect();
            Block::Table(Table {
                columns: owned(&columns),
                lines: lines.iter().map(owned).collect(),
            })
        };
        assert_eq!(
            blocks[2],
            table(
                &["policy", "1%", "5%"],
                &[
                    &["hotcopy", "25.00", "50.00"],
                    &["exact LRU", "12.50", "40.00"]
                ]
            )
        );
        assert_eq!(
            blocks[4],
            table(&["policy", "1%"], &[&["hotcopy", "100.00"]])
        );
        assert_eq!(
            csv(&result).lines().nth(2),
            Some("a,1%,exact LRU,0.125"),
            "a line a ratio"
        );
    }
}
