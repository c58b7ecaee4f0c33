//! What the reads of one row add up to.
//!
//! Counters are striped: one stripe for each core, so that threads that finish reads at the same
//! time seldom meet, while the histograms stay few enough not to show in the resident memory.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use crate::results::Recorder;

/// What one read cost beside its time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ReadCost {
    pub(super) payload_bytes: u64,
    /// Time spent decoding, if the read decoded.
    pub(super) decode: Option<Duration>,
    /// The read returned an older version than the store already held.
    pub(super) stale: bool,
}

/// Sums over the reads that finished in the window; `late_reads` after it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) reads: u64,
    pub(super) payload_bytes: u64,
    pub(super) decodes: u64,
    pub(super) decode_time: Duration,
    pub(super) stale_reads: u64,
    /// Reads that were due in the window of an open loop and finished after it.
    pub(super) late_reads: u64,
}

/// The distributions of one row.
#[derive(Debug)]
pub(super) struct Times {
    pub(super) lag: Recorder,
    pub(super) service: Recorder,
    pub(super) response: Recorder,
}

#[derive(Debug)]
struct Stripe {
    counts: Counts,
    times: Times,
}

/// Sums and distributions, shared by all threads of the row.
#[derive(Debug)]
pub(super) struct Tally {
    stripes: Box<[Mutex<Stripe>]>,
}

/// When one read was meant to start, did start, and ended, as differences.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadTimes {
    pub(super) lag: Duration,
    pub(super) service: Duration,
}

impl Tally {
    pub(super) fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let stripe = || {
            Mutex::new(Stripe {
                counts: Counts::default(),
                times: Times::new(),
            })
        };
        Tally {
            stripes: std::iter::repeat_with(stripe).take(cores).collect(),
        }
    }

    /// One read of an open loop that ended in the window.
    pub(super) fn finished(&self, worker: usize, cost: ReadCost, times: ReadTimes) {
        let mut stripe = self.stripe(worker);
        stripe.counts.add(cost);
        stripe.times.add(times);
    }

    /// One read of an open loop that was due in the window and ended after it: its times count,
    /// what it cost does not.
    pub(super) fn finished_late(&self, worker: usize, times: ReadTimes) {
        let mut stripe = self.stripe(worker);
        stripe.counts.late_reads += 1;
        stripe.times.add(times);
    }

    /// One read of a closed loop, which has no intended start.
    pub(super) fn finished_unscheduled(&self, worker: usize, cost: ReadCost, service: Duration) {
        let mut stripe = self.stripe(worker);
        stripe.counts.add(cost);
        stripe.times.service.record(service);
    }

    /// A read of a closed loop that was under way at the end of the row: it waited at least so long.
    pub(super) fn given_up_unscheduled(&self, worker: usize, waited: Duration) {
        self.stripe(worker).times.service.record(waited);
    }

    /// A batch of reads that are too short to be timed one by one: one sample, the mean.
    pub(super) fn finished_batch(&self, worker: usize, reads: u64, stale: bool, time: Duration) {
        let mut stripe = self.stripe(worker);
        stripe.counts.reads += reads;
        stripe.counts.stale_reads += if stale { reads } else { 0 };
        stripe.times.service.record_mean(time, reads);
    }

    /// Reads that were due and never finished: each waited at least so long.
    pub(super) fn abandoned(&self, worker: usize, reads: u64, waited: Duration) {
        self.stripe(worker).times.response.record_n(waited, reads);
    }

    /// The sums up to now.
    pub(super) fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        for stripe in &self.stripes {
            let counts = lock(stripe).counts;
            sum.reads += counts.reads;
            sum.payload_bytes += counts.payload_bytes;
            sum.decodes += counts.decodes;
            sum.decode_time += counts.decode_time;
            sum.stale_reads += counts.stale_reads;
            sum.late_reads += counts.late_reads;
        }
        sum
    }

    /// The distributions up to now, of all stripes together.
    pub(super) fn times(&self) -> Times {
        let mut sum = Times::new();
        for stripe in &self.stripes {
            let times = &lock(stripe).times;
            for (into, from) in [
                (&mut sum.lag, &times.lag),
                (&mut sum.service, &times.service),
                (&mut sum.response, &times.response),
            ] {
                into.add(from);
            }
        }
        sum
    }

    fn stripe(&self, worker: usize) -> MutexGuard<'_, Stripe> {
        lock(&self.stripes[worker % self.stripes.len()])
    }
}

/// A panic elsewhere leaves a stripe's sums usable.
fn lock(stripe: &Mutex<Stripe>) -> MutexGuard<'_, Stripe> {
    stripe
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Counts {
    fn add(&mut self, cost: ReadCost) {
        self.reads += 1;
        self.payload_bytes += cost.payload_bytes;
        self.stale_reads += u64::from(cost.stale);
        if let Some(time) = cost.decode {
            self.decodes += 1;
            self.decode_time += time;
        }
    }
}

impl Times {
    fn new() -> Self {
        Times {
            lag: Recorder::new(),
            service: Recorder::new(),
            response: Recorder::new(),
        }
    }

    fn add(&mut self, times: ReadTimes) {
        self.lag.record(times.lag);
        self.service.record(times.service);
        self.response.record(times.lag + times.service);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Histogram;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn sums_cover_all_stripes_and_response_is_lag_plus_service() {
        let tally = Tally::new();
        for worker in 0..10 {
            let cost = ReadCost {
                payload_bytes: 7,
                decode: Some(MS),
                stale: worker == 3,
            };
            tally.finished(
                worker,
                cost,
                ReadTimes {
                    lag: 2 * MS,
                    service: 3 * MS,
                },
            );
        }
        let counts = tally.counts();
        assert_eq!(
            (counts.reads, counts.payload_bytes, counts.stale_reads),
            (10, 70, 1)
        );
        assert_eq!((counts.decodes, counts.decode_time), (10, 10 * MS));
        let times = tally.times();
        assert_eq!(times.response.count(), 10);
        assert_eq!(Histogram::from_recorder(&times.response).max_us, 5_000.0);
    }

    #[test]
    fn a_late_read_counts_in_the_times_and_not_in_the_window() {
        let tally = Tally::new();
        tally.finished_late(
            0,
            ReadTimes {
                lag: MS,
                service: MS,
            },
        );
        let counts = tally.counts();
        assert_eq!((counts.reads, counts.late_reads), (0, 1));
        assert_eq!((counts.payload_bytes, counts.decodes), (0, 0));
        assert_eq!(tally.times().response.count(), 1);
    }

    #[test]
    fn an_abandoned_read_counts_in_the_response_times_only() {
        let tally = Tally::new();
        tally.abandoned(0, 1, 1000 * MS);
        assert_eq!(tally.counts().reads, 0);
        let times = tally.times();
        assert_eq!((times.response.count(), times.service.count()), (1, 0));
    }

    #[test]
    fn a_batch_is_one_sample_of_its_mean() {
        let tally = Tally::new();
        tally.finished_batch(1, 1000, true, Duration::from_nanos(5_400));
        assert_eq!(
            (tally.counts().reads, tally.counts().stale_reads),
            (1000, 1000)
        );
        let service = Histogram::from_recorder(&tally.times().service);
        assert_eq!((service.count, service.mean_us), (1, 0.0054));
    }
}
