//! Which rows are measured, in which order.

use std::time::Duration;

use super::options::Options;
use crate::results::cost::{Load, Path};
use crate::results::row_name;

/// A pass over one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pass {
    pub(super) path: Path,
    pub(super) load: Load,
    pub(super) time: Duration,
    /// Counts the allocator's work instead of everything else.
    pub(super) count_allocations: bool,
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
    if full_load {
        rows.extend([
            (Path::Store, full),
            (Path::Memory, full),
            (Path::Nothing, full),
        ]);
    }
    let pass = |count_allocations, time| {
        move |&(path, load): &(Path, Load)| Pass {
            path,
            load,
            time,
            count_allocations,
        }
    };
    let measured = rows.iter().map(pass(false, options.row_time));
    let counted = rows
        .iter()
        .filter(|(path, _)| *path != Path::Nothing)
        .map(pass(true, options.row_time.min(MOST_ALLOCATOR_TIME)));
    measured.chain(counted).collect()
}

impl Pass {
    /// As progress and errors name it.
    pub(super) fn name(&self) -> String {
        let name = row_name(self.path, self.load);
        if self.count_allocations {
            format!("{name}, allocator")
        } else {
            name
        }
    }
}
