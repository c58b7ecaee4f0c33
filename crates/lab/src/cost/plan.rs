//! Which rows are measured, in which order.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::options::Options;
use crate::results::cost::{Load, Path};
use crate::results::row_name;

/// A pass over one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pass {
    pub(super) purpose: Purpose,
    pub(super) load: Load,
    pub(super) time: Duration,
}

/// What a pass is for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum Purpose {
    /// The row itself.
    Row(Path),
    /// What the allocator does in that row: counting perturbs everything else.
    Allocator(Reads),
}

/// The ways to read that ask something of the allocator; reading nothing does not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum Reads {
    Store,
    Memory,
}

/// An allocator pass measures counts for each read, which need no long window.
const MOST_ALLOCATOR_TIME: Duration = Duration::from_secs(2);

/// The rows: first those at the given rate, the schedule by itself before them, since its cost is
/// subtracted from theirs; then full load; then the allocator's passes.
pub(super) fn passes(options: &Options, full_load: bool) -> Vec<Pass> {
    let rate = Load::Rate {
        per_s: options.rate_per_s,
    };
    let full = Load::Full {
        workers: options.workers,
    };
    let mut rows = vec![
        (Path::Nothing, rate),
        (Path::Store, rate),
        (Path::Memory, rate),
    ];
    let mut levels = vec![rate];
    if full_load {
        rows.extend([
            (Path::Store, full),
            (Path::Memory, full),
            (Path::Nothing, full),
        ]);
        levels.push(full);
    }
    let measured = rows.into_iter().map(|(path, load)| Pass {
        purpose: Purpose::Row(path),
        load,
        time: options.row_time,
    });
    let counted = levels.into_iter().flat_map(|load| {
        [Reads::Store, Reads::Memory].map(|reads| Pass {
            purpose: Purpose::Allocator(reads),
            load,
            time: options.row_time.min(MOST_ALLOCATOR_TIME),
        })
    });
    measured.chain(counted).collect()
}

impl Purpose {
    /// The way to read.
    pub(super) fn path(self) -> Path {
        match self {
            Purpose::Row(path) => path,
            Purpose::Allocator(Reads::Store) => Path::Store,
            Purpose::Allocator(Reads::Memory) => Path::Memory,
        }
    }
}

impl Pass {
    /// As progress and errors name it.
    pub(super) fn name(&self) -> String {
        let name = row_name(self.purpose.path(), self.load);
        match self.purpose {
            Purpose::Row(_) => name,
            Purpose::Allocator(_) => format!("{name}, allocator"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::{Encoding, ValueChoice};
    use super::*;
    use crate::target::Target;

    fn names(full_load: bool) -> Vec<String> {
        let options = Options {
            target: Target::Embedded,
            value: ValueChoice::Generated,
            decode: Some(Encoding::Json),
            pool: 1,
            rate_per_s: 100.0,
            workers: 1,
            row_time: Duration::from_secs(5),
            full_load,
            instances: 1,
            change_every: None,
            command_line: Vec::new(),
        };
        let passes = passes(&options, full_load);
        passes.iter().map(Pass::name).collect()
    }

    #[test]
    fn the_schedule_comes_before_what_it_is_subtracted_from_and_the_allocator_last() {
        let at_rate = [
            "schedule only, 100/s",
            "from the store, 100/s",
            "from memory, 100/s",
        ];
        let counted = [
            "from the store, 100/s, allocator",
            "from memory, 100/s, allocator",
        ];
        assert_eq!(names(false), [&at_rate[..], &counted].concat());
        let at_full_load = [
            "from the store, full load",
            "from memory, full load",
            "no-op loop, full load",
        ];
        let counted_too = [
            "from the store, full load, allocator",
            "from memory, full load, allocator",
        ];
        let all = [&at_rate[..], &at_full_load, &counted, &counted_too].concat();
        assert_eq!(names(true), all);
    }
}
