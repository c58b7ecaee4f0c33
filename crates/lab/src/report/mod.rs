//! Printing results: the same blocks for a terminal and for Markdown, the file itself as JSON, and
//! one line for each figure as CSV.
//!
//! A report formats and never computes, and it sees the figures only as the file holds them. So
//! what a run prints and what `hotcopy report` prints from its file are the same bytes.

mod calls;
mod changes;
mod csv;
mod document;
mod header;
mod markdown;
mod meaning;
mod quantity;
mod rows;
mod terminal;

use document::{Block, printable};

use crate::results::cost::CostResult;
use crate::results::{as_written, to_json};

/// How a result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Tables and plain words for a terminal.
    Table,
    /// The same for a README.
    Markdown,
    /// The results file itself.
    Json,
    /// One line for each figure.
    Csv,
}

/// How [`Format::Table`] looks; the other formats have no style.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    /// Bold headings, dim notes, yellow warnings.
    pub color: bool,
    /// Columns of the terminal; 100 if unknown, and never more.
    pub width: Option<u16>,
}

/// The result as text, with a line feed at its end.
#[must_use]
pub fn render(result: &CostResult, format: Format, style: Style) -> String {
    let result = as_written(result);
    match format {
        Format::Table => terminal::print(&blocks(&result), style),
        Format::Markdown => markdown::print(&blocks(&result)),
        Format::Json => to_json(&result),
        Format::Csv => csv::print(&result),
    }
}

fn blocks(result: &CostResult) -> Vec<Block> {
    let mut blocks = header::blocks(result);
    blocks.extend(calls::blocks(result));
    blocks.extend(rows::blocks(result));
    blocks.extend(meaning::blocks(result));
    blocks.extend(changes::blocks(result));
    let warnings = result.warnings.iter();
    blocks.extend(warnings.map(|warning| Block::Warning(printable(warning))));
    if result.interrupted {
        blocks.push(Block::Warning(
            "the run was interrupted: what stands here was measured until then".to_owned(),
        ));
    }
    blocks
}
