//! The memory path: a read of `Hot<T>`, beside a loop that reads nothing.

use std::hint::black_box;

use hotcopy::Hot;
use hotcopy_lab::value::config::{Config, generate};

use crate::rounds::{Contender, Pace, measure};
use crate::table::{Row, Table};

pub(crate) fn run(pace: Pace) -> Table {
    let hot: Hot<Config> = Hot::new(generate(0));
    let mut contenders = [
        Contender {
            name: "no-op",
            run: Box::new(|reads| {
                for read in 0..reads {
                    black_box(read);
                }
            }),
        },
        Contender {
            name: "Hot::load, value borrowed",
            run: Box::new(|reads| {
                for _ in 0..reads {
                    // The handle is opaque, or the load would move out of the loop.
                    black_box(&*black_box(&hot).load());
                }
            }),
        },
        Contender {
            name: "Hot::load_owned, value shared",
            run: Box::new(|reads| {
                for _ in 0..reads {
                    drop(black_box(black_box(&hot).load_owned()));
                }
            }),
        },
    ];
    let times = measure(&mut contenders, pace);
    Table {
        title: "Memory read, one thread",
        columns: vec!["ns/read, median", "min", "max"],
        rows: contenders
            .iter()
            .zip(times)
            .map(|(contender, time)| Row {
                name: contender.name.into(),
                figures: vec![time.median_ns, time.min_ns, time.max_ns],
            })
            .collect(),
    }
}
