//! Schedules, meters, experiments, results and reports: what reading a value really costs.
//!
//! An experiment ([`cost`]) measures and returns a result ([`results`]); a report ([`report`])
//! prints a result and computes nothing. What is measured with is in [`meters`].

mod child;
mod connect;
pub mod contenders;
pub mod cost;
mod error;
pub mod hit_ratio;
mod inspect;
pub mod meters;
pub mod modes;
mod private_server;
pub mod report;
pub mod results;
pub mod rounds;
pub mod stamp;
pub mod target;
pub mod value;

pub use error::Error;
