//! Printing results.

use crate::results::cost::CostResult;
use crate::results::to_json;

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
pub fn render(result: &CostResult, _format: Format, _style: Style) -> String {
    to_json(result)
}
