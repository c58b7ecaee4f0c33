//! What people call a row: one name in progress, errors, warnings and reports.

use std::fmt;

use super::cost::{Load, Path, Row};

impl Path {
    /// The name of the row that reads this way at this traffic level, without the level.
    #[must_use]
    pub fn name_at(self, load: Load) -> &'static str {
        match (self, load) {
            (Self::Store, _) => "from the store",
            (Self::Memory, _) => "from memory",
            (Self::Nothing, Load::Rate { .. }) => "schedule only",
            (Self::Nothing, Load::Full { .. }) => "no-op loop",
        }
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate { per_s } => write!(f, "{per_s}/s"),
            Self::Full { .. } => f.write_str("full load"),
        }
    }
}

/// The name of a row, with its level: `from the store, 2730/s`.
#[must_use]
pub fn row_name(path: Path, load: Load) -> String {
    format!("{}, {load}", path.name_at(load))
}

impl Row {
    /// Its name, without the traffic level.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.path.name_at(self.load)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_that_read_nothing_are_named_by_what_they_do() {
        let (rate, full) = (Load::Rate { per_s: 2_730.0 }, Load::Full { workers: 50 });
        assert_eq!(row_name(Path::Nothing, rate), "schedule only, 2730/s");
        assert_eq!(row_name(Path::Nothing, full), "no-op loop, full load");
        assert_eq!(row_name(Path::Store, full), "from the store, full load");
        assert_eq!(row_name(Path::Memory, rate), "from memory, 2730/s");
    }
}
