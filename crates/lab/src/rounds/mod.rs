//! Contenders that take turns, timed in batches; the median round counts.
//!
//! Machines are shared and noisy, so contenders are measured in one run, a round of each after the
//! other, and compared with each other and with nothing else. A figure here is of one operation among
//! many: what a single one takes is below what a clock can tell.

mod together;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use together::{Crowd, measure_together};

/// How long is measured.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Rounds that count; one more warms caches and branch predictors and is forgotten.
    pub rounds: u32,
    /// Time of one contender in one round.
    pub time: Duration,
}

/// What a contender does; any `FnMut(u64)` that does so many operations is one.
pub trait Operation {
    /// Makes ready for `count` operations; not timed.
    fn prepare(&mut self, _count: u64) {}

    /// Does `count` operations.
    fn run(&mut self, count: u64);
}

impl<F: FnMut(u64)> Operation for F {
    fn run(&mut self, count: u64) {
        self(count);
    }
}

/// One thing to be timed.
pub struct Contender<'a> {
    /// What it is called in a table.
    pub name: &'static str,
    /// What it does.
    pub operation: Box<dyn Operation + 'a>,
}

impl<'a> Contender<'a> {
    /// A contender that needs no preparation.
    pub fn new(name: &'static str, operation: impl Operation + 'a) -> Self {
        Contender {
            name,
            operation: Box::new(operation),
        }
    }
}

/// Nanoseconds of one operation over the rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PerOperation {
    /// Of the median round.
    pub median_ns: f64,
    /// Of the fastest round.
    pub min_ns: f64,
    /// Of the slowest round.
    pub max_ns: f64,
}

/// Operations between two looks at the clock, so that the clock does not count: its two readings
/// (about 50 ns) are spread over all of them.
pub(crate) const BATCH: u64 = 1_024;

/// Each contender once in each round, until all rounds are done or `interrupt` is set; `None` for
/// those that were not measured in any whole round.
pub fn measure(
    contenders: &mut [Contender<'_>],
    pace: Pace,
    interrupt: &AtomicBool,
) -> Vec<Option<PerOperation>> {
    let mut rounds = vec![Vec::new(); contenders.len()];
    for round in 0..=pace.rounds {
        for (contender, times) in contenders.iter_mut().zip(&mut rounds) {
            let turn = take_turn(contender.operation.as_mut(), pace.time, interrupt);
            let Some(ns) = turn else { break };
            if round > 0 {
                times.push(ns);
            }
        }
    }
    rounds.into_iter().map(summarize).collect()
}

/// Nanoseconds of one operation, `None` if interrupted.
fn take_turn(
    operation: &mut (impl Operation + ?Sized),
    time: Duration,
    interrupt: &AtomicBool,
) -> Option<f64> {
    // Slow operations in batches as large as those of fast ones would overrun the turn.
    let (mut operations, mut batch) = (0, 1);
    let mut elapsed = Duration::ZERO;
    while elapsed < time {
        if interrupt.load(Ordering::Relaxed) {
            return None;
        }
        operation.prepare(batch);
        let started = Instant::now();
        operation.run(batch);
        elapsed += started.elapsed();
        operations += batch;
        batch = (batch * 2).min(BATCH);
    }
    Some(elapsed.as_nanos() as f64 / operations as f64)
}

fn summarize(mut times: Vec<f64>) -> Option<PerOperation> {
    times.sort_by(f64::total_cmp);
    Some(PerOperation {
        median_ns: *times.get(times.len() / 2)?,
        min_ns: *times.first()?,
        max_ns: *times.last()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace {
        rounds: 3,
        time: Duration::from_micros(10),
    };

    #[test]
    fn every_contender_runs_in_every_round_and_the_median_is_in_the_middle() {
        let mut calls = [0_u64; 2];
        let [first, second] = &mut calls;
        let mut contenders = [
            Contender::new("a", |n| *first += n),
            Contender::new("b", |n| *second += n),
        ];
        let times = measure(&mut contenders, PACE, &AtomicBool::new(false));
        drop(contenders);
        assert!(calls.iter().all(|calls| *calls >= 4));
        for time in times {
            let time = time.expect("every round was done");
            assert!(time.min_ns <= time.median_ns && time.median_ns <= time.max_ns);
        }
    }

    #[test]
    fn what_was_interrupted_before_its_first_round_has_no_time() {
        let interrupt = AtomicBool::new(false);
        let mut contenders = [
            Contender::new("a", |_| {}),
            Contender::new("b", |_| interrupt.store(true, Ordering::Relaxed)),
        ];
        let times = measure(&mut contenders, PACE, &interrupt);
        assert_eq!(times, [None, None]);
    }

    /// Preparation that takes long, for an operation that takes no time.
    struct Prepared {
        ready: u64,
    }

    impl Operation for Prepared {
        fn prepare(&mut self, count: u64) {
            std::thread::sleep(Duration::from_millis(1));
            self.ready += count;
        }

        fn run(&mut self, count: u64) {
            self.ready = self.ready.checked_sub(count).expect("it was prepared");
        }
    }

    #[test]
    fn preparation_is_not_timed() {
        let mut contenders = [Contender::new("a", Prepared { ready: 0 })];
        let pace = Pace {
            rounds: 1,
            time: Duration::from_nanos(200),
        };
        let times = measure(&mut contenders, pace, &AtomicBool::new(false));
        let time = times[0].expect("a round was done");
        assert!(time.median_ns < 500_000.0, "{time:?}");
    }
}
