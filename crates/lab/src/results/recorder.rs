//! Collects durations while an experiment runs, at the cost of a few nanoseconds each.

use std::time::Duration;

use hdrhistogram::Histogram as Hdr;

/// Longer durations count as this long: no experiment waits an hour for one read.
const LONGEST_PS: u64 = 3_600 * 1_000_000_000_000;

/// Three digits: a percentile is off by at most 0.1 %.
const SIGNIFICANT_DIGITS: u8 = 3;

/// A growing distribution of durations.
///
/// Buckets are of picoseconds, because the mean of a batch of reads from memory is a few
/// nanoseconds and rounding it to whole ones would be off by a quarter. Sum, smallest and largest
/// are kept beside the buckets, so these are exact.
#[derive(Debug, Clone)]
pub struct Recorder {
    buckets: Hdr<u64>,
    sum_ps: u128,
    min_ps: u64,
    max_ps: u64,
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

impl Recorder {
    /// An empty recorder. It allocates once, about 340 KiB.
    #[must_use]
    pub fn new() -> Self {
        Self {
            buckets: empty_buckets(),
            sum_ps: 0,
            min_ps: u64::MAX,
            max_ps: 0,
        }
    }

    /// Records one duration; more than an hour counts as an hour.
    pub fn record(&mut self, duration: Duration) {
        self.record_n(duration, 1);
    }

    /// Records as many equal durations, at the cost of one.
    pub fn record_n(&mut self, duration: Duration, samples: u64) {
        self.record_ps(picoseconds(duration), samples);
    }

    /// Records a batch of `reads` that took `total` as one sample: its mean per read.
    pub fn record_mean(&mut self, total: Duration, reads: u64) {
        self.record_ps(picoseconds(total) / reads.max(1), 1);
    }

    /// Adds all samples of `other`, for example those of another worker.
    pub fn add(&mut self, other: &Self) {
        self.buckets
            .add(&other.buckets)
            .expect("all recorders have the same bounds");
        self.sum_ps += other.sum_ps;
        self.min_ps = self.min_ps.min(other.min_ps);
        self.max_ps = self.max_ps.max(other.max_ps);
    }

    /// Number of samples.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.len()
    }

    pub(super) fn buckets(&self) -> &Hdr<u64> {
        &self.buckets
    }

    pub(super) fn mean_ps(&self) -> f64 {
        match self.count() {
            0 => 0.0,
            count => self.sum_ps as f64 / count as f64,
        }
    }

    pub(super) fn min_ps(&self) -> u64 {
        self.min_ps.min(self.max_ps)
    }

    pub(super) fn max_ps(&self) -> u64 {
        self.max_ps
    }

    fn record_ps(&mut self, picoseconds: u64, samples: u64) {
        if samples == 0 {
            return;
        }
        self.buckets.saturating_record_n(picoseconds, samples);
        self.sum_ps += u128::from(picoseconds) * u128::from(samples);
        self.min_ps = self.min_ps.min(picoseconds);
        self.max_ps = self.max_ps.max(picoseconds);
    }
}

/// Buckets with the bounds that every recorder has.
fn empty_buckets() -> Hdr<u64> {
    Hdr::new_with_bounds(1, LONGEST_PS, SIGNIFICANT_DIGITS).expect("the bounds are in order")
}

fn picoseconds(duration: Duration) -> u64 {
    let picoseconds = duration.as_nanos().saturating_mul(1_000);
    u64::try_from(picoseconds).map_or(LONGEST_PS, |it| it.min(LONGEST_PS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_beyond_an_hour_count_as_an_hour() {
        let mut recorder = Recorder::new();
        recorder.record(Duration::MAX);
        recorder.record(Duration::ZERO);
        assert_eq!(recorder.count(), 2);
        assert_eq!(recorder.max_ps(), LONGEST_PS);
        assert_eq!(recorder.min_ps(), 0);
    }

    #[test]
    fn recording_many_equal_durations_is_like_recording_each() {
        let (mut at_once, mut singly) = (Recorder::new(), Recorder::new());
        let duration = Duration::from_micros(7);
        at_once.record_n(Duration::from_secs(1), 0);
        at_once.record_n(duration, 1_000);
        (0..1_000).for_each(|_| singly.record(duration));
        assert_eq!(at_once.buckets(), singly.buckets());
        assert_eq!(at_once.mean_ps(), singly.mean_ps());
        assert_eq!((at_once.min_ps(), at_once.max_ps()), (7_000_000, 7_000_000));
    }

    #[test]
    fn the_mean_of_a_batch_keeps_fractions_of_a_nanosecond() {
        let mut recorder = Recorder::new();
        recorder.record_mean(Duration::from_nanos(1_370), 1_000);
        assert_eq!(recorder.max_ps(), 1_370);
        recorder.record_mean(Duration::from_nanos(7), 0);
        assert_eq!(recorder.max_ps(), 7_000);
    }

    #[test]
    fn adding_keeps_sum_smallest_and_largest_exact() {
        let mut one = Recorder::new();
        one.record(Duration::from_micros(10));
        let mut other = Recorder::new();
        other.record(Duration::from_micros(31));
        one.add(&other);
        one.add(&Recorder::new());
        assert_eq!(one.count(), 2);
        assert_eq!(one.mean_ps(), 20_500_000.0);
        assert_eq!((one.min_ps(), one.max_ps()), (10_000_000, 31_000_000));
    }

    #[test]
    fn an_empty_recorder_has_zeros_and_not_infinities() {
        let recorder = Recorder::new();
        assert_eq!(recorder.mean_ps(), 0.0);
        assert_eq!((recorder.min_ps(), recorder.max_ps()), (0, 0));
    }
}
