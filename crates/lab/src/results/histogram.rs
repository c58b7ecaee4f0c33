//! A distribution of durations as it stands in a results file: the figures people read, and the
//! serialized HDR histogram from which they came, so that runs can be merged later.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A duration in microseconds, with decimals.
pub type Micros = f64;

/// One measured distribution of durations.
///
/// A percentile is present only if at least ten samples lie beyond it: with fewer it says nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Histogram {
    /// Number of samples.
    pub count: u64,
    /// Arithmetic mean.
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
    /// The whole histogram of nanoseconds: HdrHistogram V2, deflate-free, in base64.
    pub hdr_v2_base64: String,
}
