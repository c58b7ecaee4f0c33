//! The first table: one call, split in its steps.

use super::document::{Block, Footnotes, Table, printable};
use super::quantity::{millis, millis_decimals};
use super::rows::TOO_FEW_SAMPLES;
use crate::results::cost::{Call, CostResult, Step};

pub(super) fn blocks(result: &CostResult) -> Vec<Block> {
    let heading = Block::Heading("One call, split in two".to_owned());
    if result.calls.is_empty() {
        return vec![heading, Block::Note("Not measured.".to_owned())];
    }
    let command = &result.config.value.command;
    let verb = printable(command.split_whitespace().next().unwrap_or("GET"));
    let mut notes = Footnotes::default();
    let table = Table {
        columns: ["step", "mean", "p50", "p95", "p99", "max"]
            .map(str::to_owned)
            .to_vec(),
        lines: result
            .calls
            .iter()
            .map(|call| line(call, &verb, &mut notes))
            .collect(),
    };
    let mut blocks = vec![heading, Block::Table(table)];
    blocks.extend(notes.into_blocks());
    blocks.push(Block::Note(
        "One call at a time on one connection; service time, from sending to having it.".to_owned(),
    ));
    blocks
}

fn line(call: &Call, verb: &str, notes: &mut Footnotes) -> Vec<String> {
    let (step, decode_only) = match call.step {
        Step::Get => (format!("{verb} only"), false),
        Step::GetAndDecode => (format!("{verb} + decode"), false),
        Step::Decode => ("decode alone".to_owned(), true),
        Step::GetAndDecodeTyped => (format!("{verb} + decode, typed struct"), false),
        Step::DecodeTyped => ("decode alone, typed struct".to_owned(), true),
    };
    let time = &call.time;
    // Microseconds of decoding would be rounded to one digit.
    let decimals = if decode_only {
        millis_decimals(time.mean_us)
    } else {
        3
    };
    let mut percentile = |micros: Option<f64>| match micros {
        Some(micros) => millis(micros, decimals),
        None => notes.mark("–", TOO_FEW_SAMPLES),
    };
    vec![
        step,
        millis(time.mean_us, decimals),
        percentile(time.p50_us),
        percentile(time.p95_us),
        percentile(time.p99_us),
        millis(time.max_us, decimals),
    ]
}
