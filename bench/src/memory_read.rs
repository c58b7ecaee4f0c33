//! The memory path: a read and a replacement of `Hot<T>`, beside `arc-swap` and a loop that reads nothing.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arc_swap::ArcSwap;
use hotcopy::Hot;
use hotcopy_lab::rounds::{Contender, Crowd, Operation, Pace, measure, measure_together};
use hotcopy_lab::value::config::{Config, generate};

use crate::table::{Table, rows_of};

/// Threads that read at once.
const THREADS: usize = 2;

/// Something that a thread does again and again.
type Turn = fn(&Cells, u64);

/// One value in each kind of cell.
#[derive(Clone)]
struct Cells {
    hot: Hot<Config>,
    arc_swap: Arc<ArcSwap<Config>>,
}

// Handles are opaque in all of them, or the load would move out of the loop.
const READS: [(&str, Turn); 5] = [
    ("no-op", |_, reads| {
        for read in 0..reads {
            black_box(read);
        }
    }),
    ("Hot::load, value borrowed", |cells, reads| {
        for _ in 0..reads {
            black_box(&*black_box(&cells.hot).load());
        }
    }),
    ("arc-swap load, value borrowed", |cells, reads| {
        for _ in 0..reads {
            black_box(&**black_box(&cells.arc_swap).load());
        }
    }),
    ("Hot::load_owned, value shared", |cells, reads| {
        for _ in 0..reads {
            drop(black_box(black_box(&cells.hot).load_owned()));
        }
    }),
    ("arc-swap load_full, value shared", |cells, reads| {
        for _ in 0..reads {
            drop(black_box(black_box(&cells.arc_swap).load_full()));
        }
    }),
];

/// The rows for the thread that holds a borrow already.
const NESTED: [(&str, Turn); 2] = [
    ("Hot::load beside another borrow", |cells, reads| {
        let _held = cells.hot.load();
        READS[1].1(cells, reads);
    }),
    (
        "arc-swap load beside eight other borrows",
        |cells, reads| {
            let _held: [_; 8] = std::array::from_fn(|_| cells.arc_swap.load());
            READS[2].1(cells, reads);
        },
    ),
];

pub(crate) fn run(pace: Pace) -> [Table; 3] {
    let cells = Cells {
        hot: Hot::new(generate(0)),
        arc_swap: Arc::new(ArcSwap::from_pointee(generate(0))),
    };
    [
        one_thread(&cells, pace),
        two_threads(&cells, pace),
        replacements(pace),
    ]
}

fn one_thread(cells: &Cells, pace: Pace) -> Table {
    let rows = READS.into_iter().chain(NESTED);
    let mut contenders: Vec<_> = rows
        .map(|(name, turn)| Contender::new(name, move |reads| turn(cells, reads)))
        .collect();
    let times = measure(&mut contenders, pace, &AtomicBool::new(false));
    let names = contenders.iter().map(|contender| contender.name);
    rows_of("Memory read, one thread", names.zip(times))
}

fn two_threads(cells: &Cells, pace: Pace) -> Table {
    let crowd = |(name, turn): (&'static str, Turn)| Crowd {
        name,
        operations: (0..THREADS)
            .map(|_| -> Box<dyn Operation + Send> {
                let cells = cells.clone();
                Box::new(move |reads| turn(&cells, reads))
            })
            .collect(),
    };
    let mut crowds = READS.map(crowd);
    let times = measure_together(&mut crowds, pace, &AtomicBool::new(false));
    let names = crowds.iter().map(|crowd| crowd.name);
    rows_of("Memory read, two threads", names.zip(times))
}

/// Of a small value, so that the cell counts and not the value.
fn replacements(pace: Pace) -> Table {
    let hot = Hot::new(0);
    let arc_swap = ArcSwap::from_pointee(0);
    let mut contenders = [
        Contender::new("Hot::replace", |writes| {
            (0..writes).for_each(|n| hot.replace(n));
        }),
        Contender::new("arc-swap store", |writes| {
            (0..writes).for_each(|n| arc_swap.store(Arc::new(n)));
        }),
    ];
    let times = measure(&mut contenders, pace, &AtomicBool::new(false));
    let names = contenders.iter().map(|contender| contender.name);
    rows_of("Replacement in memory, one thread", names.zip(times))
}
