//! A distribution of durations as it stands in a results file: the figures people read, and the
//! serialized HDR histogram from which they came, so that runs can be merged later.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Recorder;

/// A duration in microseconds, with decimals.
pub type Micros = f64;

/// A percentile with fewer samples beyond it is an accident of the run, and is not given.
const LEAST_SAMPLES_BEYOND: u64 = 10;

/// One measured distribution of durations.
///
/// A percentile is present only if at least ten samples lie beyond it: with fewer it says nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Histogram {
    /// Number of samples.
    pub count: u64,
    /// Arithmetic mean; 0 without samples, like the smallest and the largest.
    pub mean_us: Micros,
    /// Smallest sample.
    pub min_us: Micros,
    /// Half of all samples are at most this.
    pub p50_us: Option<Micros>,
    /// 95 % of all samples are at most this.
    pub p95_us: Option<Micros>,
    /// 99 % of all samples are at most this.
    pub p99_us: Option<Micros>,
    /// 99.9 % of all samples are at most this.
    pub p999_us: Option<Micros>,
    /// Largest sample.
    pub max_us: Micros,
    /// The whole histogram of picoseconds: `HdrHistogram` V2, not deflated, in base64.
    pub hdr_v2_base64: String,
}

/// Why the buckets of a [`Histogram`] cannot be read back.
#[derive(Debug, thiserror::Error)]
pub enum HistogramError {
    /// The text is not base64.
    #[error("the histogram is not base64: {0}")]
    Base64(#[from] base64::DecodeError),
    /// The bytes are no V2 histogram.
    #[error("the histogram is not HdrHistogram V2: {0}")]
    Hdr(#[from] hdrhistogram::serialization::DeserializeError),
}

impl Histogram {
    /// The figures of what was recorded. Mean, smallest and largest are exact; a percentile is off
    /// by at most 0.1 %.
    #[must_use]
    pub fn from_recorder(recorder: &Recorder) -> Self {
        Self::from_parts(
            recorder.buckets(),
            micros(recorder.mean_ps()),
            micros(recorder.min_ps() as f64),
            micros(recorder.max_ps() as f64),
        )
    }

    /// The buckets, in picoseconds.
    ///
    /// # Errors
    /// If `hdr_v2_base64` was not written by hotcopy.
    pub fn to_hdr(&self) -> Result<Hdr<u64>, HistogramError> {
        let bytes = BASE64.decode(&self.hdr_v2_base64)?;
        Ok(Deserializer::new().deserialize(&mut bytes.as_slice())?)
    }

    fn from_parts(buckets: &Hdr<u64>, mean_us: Micros, min_us: Micros, max_us: Micros) -> Self {
        let count = buckets.len();
        let percentile = |per_mille: u64| {
            let beyond = u128::from(count) * u128::from(1_000 - per_mille) / 1_000;
            // A bucket answers with its upper end, which may lie above the largest sample.
            (beyond >= u128::from(LEAST_SAMPLES_BEYOND)).then(|| {
                micros(buckets.value_at_quantile(per_mille as f64 / 1_000.0) as f64)
                    .clamp(min_us, max_us)
            })
        };
        let mut bytes = Vec::new();
        V2Serializer::new()
            .serialize(buckets, &mut bytes)
            .expect("writing to memory does not fail");
        Self {
            count,
            mean_us,
            min_us,
            p50_us: percentile(500),
            p95_us: percentile(950),
            p99_us: percentile(990),
            p999_us: percentile(999),
            max_us,
            hdr_v2_base64: BASE64.encode(bytes),
        }
    }
}

fn micros(picoseconds: f64) -> Micros {
    picoseconds / 1e6
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn of_micros(samples: impl IntoIterator<Item = u64>) -> Histogram {
        let mut recorder = Recorder::new();
        for sample in samples {
            recorder.record(Duration::from_micros(sample));
        }
        Histogram::from_recorder(&recorder)
    }

    fn near(found: Option<f64>, expected: f64) {
        let found = found.expect("enough samples");
        assert!(
            (found - expected).abs() <= expected / 1_000.0,
            "{found} is not {expected}"
        );
    }

    #[test]
    fn known_samples_give_known_figures() {
        let histogram = of_micros(1..=10_000);
        assert_eq!(histogram.count, 10_000);
        assert_eq!(histogram.mean_us, 5_000.5);
        assert_eq!(histogram.min_us, 1.0);
        assert_eq!(histogram.max_us, 10_000.0);
        near(histogram.p50_us, 5_000.0);
        near(histogram.p95_us, 9_500.0);
        near(histogram.p99_us, 9_900.0);
        near(histogram.p999_us, 9_990.0);
    }

    #[test]
    fn a_percentile_needs_ten_samples_beyond_it() {
        let present = |count| {
            let it = of_micros((0..count).map(|_| 7));
            [it.p50_us, it.p95_us, it.p99_us, it.p999_us].map(|figure| figure.is_some())
        };
        assert_eq!(present(0), [false, false, false, false]);
        assert_eq!(present(19), [false, false, false, false]);
        assert_eq!(present(20), [true, false, false, false]);
        assert_eq!(present(199), [true, false, false, false]);
        assert_eq!(present(200), [true, true, false, false]);
        assert_eq!(present(999), [true, true, false, false]);
        assert_eq!(present(1_000), [true, true, true, false]);
        assert_eq!(present(9_999), [true, true, true, false]);
        assert_eq!(present(10_000), [true, true, true, true]);
    }

    #[test]
    fn a_percentile_is_never_above_the_largest_sample() {
        let histogram = of_micros((0..1_000).map(|_| 123_457));
        assert_eq!(histogram.p99_us, Some(histogram.max_us));
    }

    #[test]
    fn the_buckets_come_back() {
        let histogram = of_micros(1..=1_000);
        let hdr = histogram.to_hdr().unwrap();
        assert_eq!(hdr.len(), 1_000);
        near(Some(hdr.value_at_quantile(0.5) as f64 / 1e6), 500.0);
    }

    #[test]
    fn foreign_buckets_are_an_error() {
        let mut histogram = of_micros(1..=3);
        histogram.hdr_v2_base64 = "not base64!".into();
        assert!(matches!(histogram.to_hdr(), Err(HistogramError::Base64(_))));
        histogram.hdr_v2_base64 = BASE64.encode(b"something else");
        assert!(matches!(histogram.to_hdr(), Err(HistogramError::Hdr(_))));
    }
}
