//! Contenders that take turns, timed in batches.

use std::time::{Duration, Instant};

/// How long is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) rounds: u32,
    /// Of one contender in one round.
    pub(crate) time: Duration,
}

/// One thing to be timed: does so many operations at a call.
pub(crate) struct Contender<'a> {
    pub(crate) name: &'static str,
    pub(crate) run: Box<dyn FnMut(u64) + 'a>,
}

/// Nanoseconds of one operation over the rounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PerOperation {
    pub(crate) median_ns: f64,
    pub(crate) min_ns: f64,
    pub(crate) max_ns: f64,
}

/// Operations between two looks at the clock at the least, so that the clock does not count.
const BATCH: u64 = 256;

/// Each contender once in each round.
pub(crate) fn measure(contenders: &mut [Contender<'_>], pace: Pace) -> Vec<PerOperation> {
    let mut rounds = vec![Vec::new(); contenders.len()];
    // The first round warms caches and branch predictors, and is forgotten.
    for round in 0..=pace.rounds {
        for (contender, times) in contenders.iter_mut().zip(&mut rounds) {
            let (started, mut operations) = (Instant::now(), 0);
            let mut elapsed = Duration::ZERO;
            while elapsed < pace.time {
                (contender.run)(BATCH);
                operations += BATCH;
                elapsed = started.elapsed();
            }
            if round > 0 {
                times.push(elapsed.as_nanos() as f64 / operations as f64);
            }
        }
    }
    rounds.into_iter().map(summarize).collect()
}

fn summarize(mut times: Vec<f64>) -> PerOperation {
    times.sort_by(f64::total_cmp);
    PerOperation {
        median_ns: times[times.len() / 2],
        min_ns: times[0],
        max_ns: times[times.len() - 1],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contender_runs_in_every_round_and_the_median_is_in_the_middle() {
        let mut calls = [0_u64; 2];
        let [first, second] = &mut calls;
        let pace = Pace {
            rounds: 3,
            time: Duration::from_micros(10),
        };
        let times = measure(
            &mut [
                Contender {
                    name: "a",
                    run: Box::new(|n| *first += n),
                },
                Contender {
                    name: "b",
                    run: Box::new(|n| *second += n),
                },
            ],
            pace,
        );
        assert!(calls.iter().all(|calls| *calls >= 4 * BATCH));
        assert!(
            times
                .iter()
                .all(|t| t.min_ns <= t.median_ns && t.median_ns <= t.max_ns)
        );
    }
}
