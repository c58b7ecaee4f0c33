//! The memory path: a read of `Hot<T>`, beside a loop that reads nothing.

use std::hint::black_box;
use std::sync::atomic::AtomicBool;

use hotcopy::Hot;
use hotcopy_lab::rounds::{Contender, Pace, measure};
use hotcopy_lab::value::config::{Config, generate};

use crate::table::{Table, rows_of};

pub(crate) fn run(pace: Pace) -> Table {
    let hot: Hot<Config> = Hot::new(generate(0));
    let mut contenders = [
        Contender::new("no-op", |reads| {
            for read in 0..reads {
                black_box(read);
            }
        }),
        Contender::new("Hot::load, value borrowed", |reads| {
            for _ in 0..reads {
                // The handle is opaque, or the load would move out of the loop.
                black_box(&*black_box(&hot).load());
            }
        }),
        Contender::new("Hot::load_owned, value shared", |reads| {
            for _ in 0..reads {
                drop(black_box(black_box(&hot).load_owned()));
            }
        }),
    ];
    let times = measure(&mut contenders, pace, &AtomicBool::new(false));
    let names = contenders.iter().map(|contender| contender.name);
    rows_of("Memory read, one thread", names.zip(times))
}
