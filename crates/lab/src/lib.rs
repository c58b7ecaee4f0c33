//! Schedules, meters, experiments, results and reports: what reading a value really costs.
//!
//! An experiment ([`cost`]) measures and returns a result ([`results`]); a report ([`report`])
//! prints a result and computes nothing. What is measured with is in [`meters`], what is read in
//! [`value`], and where in [`stamp`].

pub mod meters;
pub mod report;
pub mod results;
pub mod stamp;
pub mod value;
