//! Hit ratios on recorded traces, beside the peers that evict.
//!
//! Cells (a trace at a capacity) of fewer than [`LEAST_ENTRIES`] entries or of traces shorter than
//! [`LEAST_REFERENCES`] say little about a policy, and are left out of the bars.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use hotcopy_lab::Error;
use hotcopy_lab::hit_ratio::{Options, Percent, run as replay};
use hotcopy_lab::results::hit_ratio::HitRatio;

use super::Section;
use super::bar::{Bar, Limit};
use crate::table::{Row, Table};

pub(super) const TITLE: &str = "hit ratio on traces";
pub(super) const MIXED: &str = "hit ratio on oltp + loop + oltp";

/// Percent of the distinct keys, or of their bytes.
const CAPACITIES: [u32; 3] = [1, 5, 10];

const LEAST_ENTRIES: usize = 100;
const LEAST_REFERENCES: usize = 30_000;

/// What the replay calls ours; what it adds for comparison is no peer that one could use instead.
const OURS: &str = "hotcopy";
const NOT_PEERS: [&str; 3] = [
    "exact LRU",
    "Bélády's optimum",
    "upper bound of the optimum",
];

/// Hit ratios of one trace at one capacity, in percent, by policy.
type Cell = BTreeMap<String, f64>;

pub(super) fn traces(folder: &Path) -> Result<Section, Error> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(|source| failed(folder, source))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "gz"))
        .collect();
    files.sort();
    let mut cells = Vec::new();
    for file in &files {
        let keys = keys(file).map_err(|source| failed(file, source))?;
        let distinct: HashSet<&str> = keys.iter().map(String::as_str).collect();
        if keys.len() < LEAST_REFERENCES {
            continue;
        }
        let entries = |percent: u32| distinct.len() * percent as usize / 100;
        let large_enough = CAPACITIES
            .into_iter()
            .filter(|it| entries(*it) >= LEAST_ENTRIES);
        cells.extend(replay_at(file, large_enough)?);
    }
    Ok(judge(TITLE, &cells, |ours, peers, shortfalls| {
        let best_mean = peers.values().copied().fold(f64::NAN, f64::max);
        vec![
            Bar::new(
                TITLE,
                ours - best_mean,
                "points above the best single peer's mean",
            )
            .limit(Limit::AtLeast(0.0)),
            Bar::new(
                TITLE,
                mean(shortfalls),
                "points short of each cell's best, mean",
            )
            .limit(Limit::AtMost(1.5)),
            Bar::new(
                TITLE,
                largest(shortfalls),
                "points short of each cell's best, worst",
            )
            .limit(Limit::AtMost(6.0)),
        ]
    }))
}

/// A workload that changes its kind and changes back: a policy must adapt twice.
pub(super) fn mixed(folder: &Path) -> Result<Section, Error> {
    let file = tempfile::Builder::new()
        .prefix("oltp-loop-oltp")
        .tempfile()
        .map_err(|source| failed(folder, source))?;
    let mut out = BufWriter::new(file.as_file());
    // Each part has keys of its own.
    for (part, name) in ["oltp.gz", "loop.gz", "oltp.gz"].into_iter().enumerate() {
        let path = folder.join(name);
        for key in keys(&path).map_err(|source| failed(&path, source))? {
            writeln!(out, "{part}:{key}").map_err(|source| failed(&path, source))?;
        }
    }
    out.flush().map_err(|source| failed(folder, source))?;
    let cells = replay_at(file.path(), CAPACITIES)?;
    Ok(judge(MIXED, &cells, |_, _, shortfalls| {
        vec![
            Bar::new(
                MIXED,
                largest(shortfalls),
                "points short of each cell's best, worst",
            )
            .aim(Limit::AtMost(0.0)),
        ]
    }))
}

/// The keys of a trace in their order: the first word of each line.
fn keys(file: &Path) -> io::Result<Vec<String>> {
    let reader = BufReader::new(MultiGzDecoder::new(BufReader::new(File::open(file)?)));
    let mut keys = Vec::new();
    for line in reader.lines() {
        keys.extend(line?.split_whitespace().next().map(str::to_owned));
    }
    Ok(keys)
}

fn replay_at(
    file: &Path,
    capacities: impl IntoIterator<Item = u32>,
) -> Result<Vec<(String, Cell)>, Error> {
    let capacities: Vec<Percent> = capacities
        .into_iter()
        .map(|percent| format!("{percent}%").parse().expect("a percentage"))
        .collect();
    let options = Options {
        files: vec![file.to_owned()],
        capacities,
    };
    let ratios = replay(&options).map_err(|error| Error::Row {
        row: TITLE.into(),
        cause: error.to_string(),
    })?;
    let mut cells: BTreeMap<(String, String), Cell> = BTreeMap::new();
    for HitRatio {
        trace,
        capacity,
        policy,
        hit_ratio,
    } in ratios.0
    {
        let cell = cells.entry((trace, capacity)).or_default();
        cell.insert(policy, hit_ratio * 100.0);
    }
    let named = |((trace, capacity), cell)| (format!("{trace} {capacity}"), cell);
    Ok(cells.into_iter().map(named).collect())
}

/// The table of all cells, and the bars that `bars` makes of our mean, the peers' means, and how far we
/// are below each cell's best peer (zero where we are the best).
fn judge(
    title: &'static str,
    cells: &[(String, Cell)],
    bars: impl Fn(f64, &BTreeMap<&str, f64>, &[f64]) -> Vec<Bar>,
) -> Section {
    let policies: BTreeSet<&str> = cells
        .iter()
        .flat_map(|(_, cell)| cell.keys().map(String::as_str))
        .collect();
    let is_peer = |policy: &&str| *policy != OURS && !NOT_PEERS.contains(policy);
    let ratio = |cell: &Cell, policy: &str| cell.get(policy).copied().unwrap_or(f64::NAN);
    let mean_of = |policy: &str| {
        let ratios: Vec<f64> = cells.iter().map(|(_, cell)| ratio(cell, policy)).collect();
        mean(&ratios)
    };
    let peers: BTreeMap<&str, f64> = policies
        .iter()
        .copied()
        .filter(is_peer)
        .map(|policy| (policy, mean_of(policy)))
        .collect();
    let shortfalls: Vec<f64> = cells
        .iter()
        .map(|(_, cell)| {
            let best = peers
                .keys()
                .map(|peer| ratio(cell, peer))
                .fold(f64::NAN, f64::max);
            (best - ratio(cell, OURS)).max(0.0)
        })
        .collect();
    let mut rows: Vec<Row> = cells
        .iter()
        .map(|(name, cell)| Row {
            name: name.clone(),
            figures: policies.iter().map(|policy| ratio(cell, policy)).collect(),
        })
        .collect();
    rows.push(Row {
        name: "mean".to_owned(),
        figures: policies.iter().map(|policy| mean_of(policy)).collect(),
    });
    let columns = policies
        .iter()
        .map(|policy| Cow::Owned((*policy).to_owned()));
    Section {
        table: Table {
            title,
            columns: columns.collect(),
            rows,
        },
        bars: bars(mean_of(OURS), &peers, &shortfalls),
    }
}

fn mean(figures: &[f64]) -> f64 {
    figures.iter().sum::<f64>() / figures.len() as f64
}

fn largest(figures: &[f64]) -> f64 {
    figures.iter().copied().fold(f64::NAN, f64::max)
}

fn failed(path: &Path, source: io::Error) -> Error {
    Error::System {
        doing: format!("reading {}", path.display()),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(ratios: &[(&str, f64)]) -> (String, Cell) {
        let ratios = ratios
            .iter()
            .map(|(policy, ratio)| ((*policy).to_owned(), *ratio));
        ("trace 1%".to_owned(), ratios.collect())
    }

    #[test]
    fn the_optimum_is_no_peer_and_being_best_is_no_negative_shortfall() {
        let cells = [
            cell(&[
                ("hotcopy", 50.0),
                ("moka", 40.0),
                ("Bélády's optimum", 70.0),
            ]),
            cell(&[
                ("hotcopy", 30.0),
                ("moka", 34.0),
                ("Bélády's optimum", 60.0),
            ]),
        ];
        judge("title", &cells, |ours, peers, shortfalls| {
            assert_eq!(ours, 40.0);
            assert_eq!(peers.get("moka"), Some(&37.0));
            assert_eq!(peers.len(), 1);
            assert_eq!(shortfalls, [0.0, 4.0]);
            Vec::new()
        });
    }
}
