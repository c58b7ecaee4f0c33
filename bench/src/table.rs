//! A table of readings: kept as data, printed from it.

use std::fmt;

use comfy_table::{CellAlignment, Table as Grid, TableStyle};
use serde::Serialize;

/// One benchmark's readings.
#[derive(Debug, Serialize)]
pub(crate) struct Table {
    pub(crate) title: &'static str,
    /// Names of the figures, units in them.
    pub(crate) columns: Vec<&'static str>,
    pub(crate) rows: Vec<Row>,
}

/// One contender's figures, one for each column.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) figures: Vec<f64>,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut grid = Grid::new();
        grid.load_style(TableStyle::new());
        let mut header = vec![""];
        header.extend(&self.columns);
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
