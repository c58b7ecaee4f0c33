//! How often caches hit on recorded traces of requests, beside the best that any could do.
//!
//! Every policy replays the same trace reading through: it looks a key up, and on a miss inserts it.
//! After each reference what it holds is compared with the capacity; a policy that holds more ends the
//! run with an error, because its ratio would be that of a larger cache.

mod capacity;
mod error;
mod lru;
mod optimum;
mod ours;
#[cfg(feature = "peers")]
mod peers;
mod replay;
mod trace;

use std::path::PathBuf;

use crate::results::hit_ratio::{HitRatio, HitRatios};

pub use capacity::{Percent, PercentError};
pub use error::HitRatioError;
use replay::{Policy, Room, replay};
use trace::Trace;

/// What to replay, and in how large a cache.
#[derive(Debug, Clone)]
pub struct Options {
    /// Traces: one key a line and optionally its size in bytes after it, plain or gzip.
    pub files: Vec<PathBuf>,
    /// Capacities in percent of the distinct keys, or of their bytes where the trace has sizes.
    pub capacities: Vec<Percent>,
}

/// Replays all traces in caches of all capacities.
///
/// # Errors
/// If a file is no trace, a capacity of it holds nothing, or a policy holds more than its capacity.
pub fn run(options: &Options) -> Result<HitRatios, HitRatioError> {
    let names = names(&options.files);
    let mut ratios = Vec::new();
    for (file, name) in options.files.iter().zip(names) {
        let trace = Trace::read(file)?;
        for &capacity in &options.capacities {
            let room = capacity.of(&trace, file)?;
            for (policy, hits) in hits(&trace, room)? {
                ratios.push(HitRatio {
                    trace: name.clone(),
                    capacity: capacity.to_string(),
                    policy,
                    hit_ratio: hits as f64 / trace.references.len() as f64,
                });
            }
        }
    }
    Ok(HitRatios(ratios))
}

/// The hits of every policy, ours first and the optimum last.
fn hits(trace: &Trace, room: Room) -> Result<Vec<(String, u64)>, HitRatioError> {
    let mut policies: Vec<Box<dyn Policy>> = vec![Box::new(ours::Ours::new(room))];
    #[cfg(feature = "peers")]
    policies.extend(peers::all(room));
    policies.push(Box::new(lru::ExactLru::new(room)));
    let mut hits = Vec::new();
    for mut policy in policies {
        let count = replay(trace, room, &mut *policy)?;
        hits.push((policy.name().to_owned(), count));
    }
    hits.push(if trace.is_sized {
        let bound = optimum::upper_bound(trace, room.capacity);
        ("upper bound of the optimum".to_owned(), bound)
    } else {
        let optimum = optimum::belady(trace, room.capacity);
        ("Bélády's optimum".to_owned(), optimum)
    });
    Ok(hits)
}

/// What the traces are called: the files' names, or their paths where two have the same name.
fn names(files: &[PathBuf]) -> Vec<String> {
    let short = |file: &PathBuf| {
        let name = file.file_name().unwrap_or(file.as_os_str());
        let name = name.to_string_lossy();
        name.strip_suffix(".gz").unwrap_or(&name).to_owned()
    };
    let all: Vec<String> = files.iter().map(short).collect();
    let is_alone = |name: &String| all.iter().filter(|other| *other == name).count() == 1;
    files
        .iter()
        .zip(&all)
        .map(|(file, name)| match is_alone(name) {
            true => name.clone(),
            false => file.display().to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_are_called_by_their_file_unless_two_have_the_same() {
        let names = |files: [&str; 2]| names(&files.map(PathBuf::from));
        assert_eq!(names(["a/oltp.gz", "loop"]), ["oltp", "loop"]);
        assert_eq!(names(["a/oltp.gz", "b/oltp"]), ["a/oltp.gz", "b/oltp"]);
    }

    #[test]
    fn no_policy_hits_more_often_than_the_optimum_on_one_size_and_on_many() {
        let mut random = fastrand::Rng::with_seed(3);
        for is_sized in [false, true] {
            let references = (0..20_000).map(|_| {
                let key = (random.f64() * random.f64() * 500.0) as u32;
                let size = if is_sized { 1 + key * 37 % 1000 } else { 1 };
                (key, size)
            });
            let trace = Trace::from_references(references, is_sized);
            for capacity in [20, 100, 300] {
                let capacity = if is_sized { capacity * 500 } else { capacity };
                let hits = hits(&trace, Room::of(&trace, capacity)).unwrap();
                let (best, others) = hits.split_last().unwrap();
                assert!(!others.is_empty());
                for (name, count) in others {
                    assert!(*count > 0, "{name} never hits");
                    assert!(*count <= best.1, "{name}: {count} of {}", best.1);
                }
            }
        }
    }
}
