//! A table of readings: kept as data, printed from it.

use std::borrow::Cow;
use std::fmt;

use comfy_table::{CellAlignment, Table as Grid, TableStyle};
use hotcopy_lab::rounds::PerOperation;
use serde::Serialize;

use crate::engine::Bar;

/// One benchmark's readings.
#[derive(Debug, Serialize)]
pub(crate) struct Table {
    pub(crate) title: &'static str,
    /// Names of the figures, units in them.
    pub(crate) columns: Vec<Cow<'static, str>>,
    pub(crate) rows: Vec<Row>,
}

/// One contender's figures, one for each column.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) figures: Vec<f64>,
}

/// Column names that are known when this is compiled.
pub(crate) fn columns<const N: usize>(names: [&'static str; N]) -> Vec<Cow<'static, str>> {
    names.map(Cow::Borrowed).to_vec()
}

/// The times of contenders by name; those that were not measured have no row.
pub(crate) fn rows_of<'a>(
    title: &'static str,
    times: impl Iterator<Item = (&'a str, Option<PerOperation>)>,
) -> Table {
    let row = |(name, time): (&str, Option<PerOperation>)| {
        let time = time?;
        Some(Row {
            name: name.to_owned(),
            figures: vec![time.median_ns, time.min_ns, time.max_ns],
        })
    };
    Table {
        title,
        columns: columns(["ns each, median", "min", "max"]),
        rows: times.filter_map(row).collect(),
    }
}

impl Table {
    /// The first figure of the row with this name.
    pub(crate) fn figure(&self, name: &str) -> Option<f64> {
        let row = self.rows.iter().find(|row| row.name == name)?;
        row.figures.first().copied()
    }

    /// One row's first figure as a multiple (`of`) of another's; not a number if one is missing.
    pub(crate) fn compare(
        &self,
        what: &'static str,
        ours: &str,
        other: &str,
        of: &'static str,
    ) -> Bar {
        let figure = |name| self.figure(name).unwrap_or(f64::NAN);
        Bar::new(what, figure(ours) / figure(other), of)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut grid = Grid::new();
        grid.load_style(TableStyle::new());
        let mut header = vec![""];
        header.extend(self.columns.iter().map(AsRef::as_ref));
        grid.set_header(header);
        for row in &self.rows {
            let mut cells = vec![row.name.clone()];
            cells.extend(row.figures.iter().map(|figure| format_figure(*figure)));
            grid.add_row(cells);
        }
        for column in grid.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        writeln!(f, "{}\n{grid}", self.title)
    }
}

/// Three or more significant digits.
fn format_figure(figure: f64) -> String {
    match figure.abs() {
        size if size >= 100.0 => format!("{figure:.0}"),
        size if size >= 10.0 => format!("{figure:.1}"),
        _ => format!("{figure:.2}"),
    }
}
