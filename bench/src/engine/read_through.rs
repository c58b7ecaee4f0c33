//! Read-through: two threads read keys of a Zipf distribution and insert what they miss, in a cache
//! that holds a tenth of them. Only peers that evict.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hotcopy_lab::contenders::{Foyer, Moka, Ours, QuickCache, SEED, Setup, TinyUfo, Writes, key};
use hotcopy_lab::rounds::{Crowd, Operation, Pace, measure_together};

use super::bar::{Bar, Limit};
use super::hits::OURS;
use super::keys::{Zipf, value};
use super::{Section, Value};
use crate::table::{Row, Table, columns};

pub(super) const TITLE: &str = "read-through, zipf 0.99, 100,000 keys, capacity 10 %, 2 threads";

const KEYS: usize = 100_000;
const CAPACITY: usize = KEYS / 10;
const EXPONENT: f64 = 0.99;
const THREADS: usize = 2;

/// Reads of one thread before it begins again.
const SEQUENCE: usize = 1 << 20;

/// Where the missing values come from, and who asks for what.
struct Origin {
    keys: Vec<String>,
    values: Vec<Value>,
    sequences: [Vec<u32>; THREADS],
}

struct ReadThrough<S> {
    store: S,
    origin: Arc<Origin>,
    thread: usize,
    next: usize,
    tally: Arc<Tally>,
}

/// Reads and hits of all threads.
#[derive(Default)]
struct Tally {
    reads: AtomicU64,
    hits: AtomicU64,
}

impl Tally {
    fn hit_ratio(&self) -> f64 {
        self.hits.load(Ordering::Relaxed) as f64 / self.reads.load(Ordering::Relaxed) as f64
    }
}

impl<S: Writes<Value>> Operation for ReadThrough<S> {
    fn run(&mut self, count: u64) {
        let sequence = &self.origin.sequences[self.thread];
        let mut hits = 0;
        for _ in 0..count {
            let number = sequence[self.next] as usize;
            self.next += 1;
            if self.next == sequence.len() {
                self.next = 0;
            }
            let key = &self.origin.keys[number];
            let found = self.store.read(key, |value| {
                black_box::<&[u8]>(value);
            });
            if found.is_some() {
                hits += 1;
            } else {
                let value = Arc::clone(&self.origin.values[number]);
                self.store.write(key.clone(), value);
            }
        }
        self.tally.reads.fetch_add(count, Ordering::Relaxed);
        self.tally.hits.fetch_add(hits, Ordering::Relaxed);
    }
}

fn crowd<S>(origin: &Arc<Origin>) -> (Crowd<'static>, Arc<Tally>)
where
    S: Setup<Value> + Clone + Send + 'static,
{
    let store = S::with_room_for(CAPACITY);
    let tally = Arc::new(Tally::default());
    let operation = |thread| -> Box<dyn Operation + Send> {
        Box::new(ReadThrough {
            store: store.clone(),
            origin: Arc::clone(origin),
            thread,
            next: 0,
            tally: Arc::clone(&tally),
        })
    };
    let crowd = Crowd {
        name: S::NAME,
        operations: (0..THREADS).map(operation).collect(),
    };
    (crowd, tally)
}

pub(super) fn run(pace: Pace) -> Section {
    let zipf = Zipf::new(KEYS, EXPONENT);
    let origin = Arc::new(Origin {
        keys: (0..KEYS).map(key).collect(),
        values: (0..KEYS).map(value).collect(),
        sequences: std::array::from_fn(|thread| zipf.sequence(SEQUENCE, SEED + thread as u64)),
    });
    let (mut crowds, tallies): (Vec<_>, Vec<_>) = [
        crowd::<Ours<Value>>(&origin),
        crowd::<QuickCache<Value>>(&origin),
        crowd::<Moka<Value>>(&origin),
        crowd::<Foyer<Value>>(&origin),
        crowd::<TinyUfo<Value>>(&origin),
    ]
    .into_iter()
    .unzip();
    let times = measure_together(&mut crowds, pace, &AtomicBool::new(false));
    let rows: Vec<Row> = crowds
        .iter()
        .zip(times)
        .zip(tallies)
        .filter_map(|((crowd, time), tally)| {
            let millions_per_s = |ns: f64| THREADS as f64 * 1e3 / ns;
            let time = time?;
            Some(Row {
                name: crowd.name.into(),
                figures: vec![
                    millions_per_s(time.median_ns),
                    millions_per_s(time.max_ns),
                    millions_per_s(time.min_ns),
                    tally.hit_ratio() * 100.0,
                ],
            })
        })
        .collect();
    let peers = rows.iter().filter(|row| row.name != OURS);
    let best = peers.map(|row| row.figures[0]).fold(f64::NAN, f64::max);
    let table = Table {
        title: TITLE,
        columns: columns(["million operations/s, median", "min", "max", "hits, %"]),
        rows,
    };
    let ours = table.figure(OURS).unwrap_or(f64::NAN);
    let bar = Bar::new(TITLE, ours / best, "× the best peer")
        .limit(Limit::AtLeast(1.5))
        .aim(Limit::AtLeast(2.0));
    Section {
        table,
        bars: vec![bar],
    }
}
