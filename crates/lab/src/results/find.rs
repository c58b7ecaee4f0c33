//! Finds the rows and calls of a result by what they are.

use super::cost::{Call, CostResult, Load, Path, Row, Step};

impl Load {
    /// An open loop at a rate, not full load.
    #[must_use]
    pub fn is_rate(self) -> bool {
        matches!(self, Self::Rate { .. })
    }
}

impl CostResult {
    /// The row that read this way at the given rate, if it was measured.
    #[must_use]
    pub fn row_at_rate(&self, path: Path) -> Option<&Row> {
        find_row(&self.rows, path, Load::is_rate)
    }

    /// The row that read this way at full load, if it was measured.
    #[must_use]
    pub fn row_at_full_load(&self, path: Path) -> Option<&Row> {
        find_row(&self.rows, path, |load| !load.is_rate())
    }

    /// The line of the first table for this step, if it was measured.
    #[must_use]
    pub fn call(&self, step: Step) -> Option<&Call> {
        self.calls.iter().find(|call| call.step == step)
    }
}

pub(super) fn find_row(rows: &[Row], path: Path, load: impl Fn(Load) -> bool) -> Option<&Row> {
    rows.iter().find(|row| row.path == path && load(row.load))
}
