//! `hotcopy serve` beside the servers that users have now: each bar that it is held to, met or missed.
//!
//! Every server runs in a process of its own and is asked from this one. Contenders take turns in rounds.
//! Times of requests at a rate are counted from when each was due, so a server that stands still is
//! charged for every request that it keeps waiting.

mod bulk;
mod connection;
mod interference;
mod items;
mod load;
mod peers;
mod schedule;

use crate::engine::Section;

/// Why there is no figure.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Missing(#[from] hotcopy_tests::locate::Missing),
    #[error("{name} did not come up on a free port")]
    Start { name: &'static str },
    #[error("a server answered {line:?}")]
    Answer { line: String },
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Measures the groups whose title contains `filter`, in so many rounds, and hands over each when it is done.
pub(crate) fn run(
    rounds: u32,
    filter: Option<&str>,
    mut done: impl FnMut(Section),
) -> Result<(), Failure> {
    type Measure = fn(u32) -> Result<Section, Failure>;
    let sections: [(&str, Measure); 9] = [
        (interference::READERS, interference::readers),
        (interference::WRITERS, interference::writers),
        (interference::ONE_READER, interference::one_reader),
        (bulk::TITLE, bulk::run),
        (load::CPU_PIPELINE_1, load::cpu_pipeline_1),
        (load::CPU_PIPELINE_16, load::cpu_pipeline_16),
        (load::THROUGHPUT, load::throughput),
        (items::RESIDENT, items::resident),
        (items::SHIFT, items::shift),
    ];
    for (title, measure) in sections {
        if filter.is_none_or(|filter| title.contains(filter)) {
            done(measure(rounds)?);
        }
    }
    Ok(())
}
