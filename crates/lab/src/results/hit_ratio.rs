//! What `hotcopy hit-ratio` found.

use serde::{Deserialize, Serialize};

/// Hit ratios of several policies on several traces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HitRatios(pub Vec<HitRatio>);

/// How often one policy hit on one trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HitRatio {
    /// The trace's file without folder and `.gz`, or its path where two have the same name.
    pub trace: String,
    /// In percent of the distinct keys, or of their bytes where the trace has sizes: `5%`.
    pub capacity: String,
    /// The policy.
    pub policy: String,
    /// Hits among all references, from 0 to 1.
    pub hit_ratio: f64,
}
