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
mod hit_ratio;
mod markdown;
mod meaning;
mod modes;
mod quantity;
mod rows;
mod terminal;

use document::{Block, printable};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::results::cost::CostResult;
use crate::results::hit_ratio::HitRatios;
use crate::results::modes::ModesResult;
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

/// What can be printed: the result of a command.
pub trait Report: Serialize + DeserializeOwned + Clone + sealed::Printed {}

impl Report for CostResult {}
impl Report for ModesResult {}
impl Report for HitRatios {}

mod sealed {
    use super::document::Block;

    pub trait Printed {
        #[doc(hidden)]
        fn blocks(&self) -> Vec<Block>;

        #[doc(hidden)]
        fn csv(&self) -> String;
    }
}

/// The result as text, with a line feed at its end.
#[must_use]
pub fn render<R: Report>(result: &R, format: Format, style: Style) -> String {
    let result = as_written(result);
    match format {
        Format::Table => terminal::print(&result.blocks(), style),
        Format::Markdown => markdown::print(&result.blocks()),
        Format::Json => to_json(&result),
        Format::Csv => result.csv(),
    }
}

impl sealed::Printed for CostResult {
    fn blocks(&self) -> Vec<Block> {
        let mut blocks = header::blocks(self);
        blocks.extend(calls::blocks(self));
        blocks.extend(rows::blocks(self));
        blocks.extend(meaning::blocks(self));
        blocks.extend(changes::blocks(self));
        blocks.extend(last_words(&self.warnings, self.interrupted));
        blocks
    }

    fn csv(&self) -> String {
        csv::print(self)
    }
}

impl sealed::Printed for ModesResult {
    fn blocks(&self) -> Vec<Block> {
        let mut blocks = modes::blocks(self);
        blocks.extend(last_words(&self.warnings, self.interrupted));
        blocks
    }

    fn csv(&self) -> String {
        csv::print_modes(self)
    }
}

impl sealed::Printed for HitRatios {
    fn blocks(&self) -> Vec<Block> {
        hit_ratio::blocks(self)
    }

    fn csv(&self) -> String {
        hit_ratio::csv(self)
    }
}

fn last_words(warnings: &[String], interrupted: bool) -> Vec<Block> {
    let mut blocks: Vec<Block> = warnings
        .iter()
        .map(|warning| Block::Warning(printable(warning)))
        .collect();
    if interrupted {
        blocks.push(Block::Warning(
            "the run was interrupted: what stands here was measured until then".to_owned(),
        ));
    }
    blocks
}
