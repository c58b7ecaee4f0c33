//! The built binary and real servers, from the outside.

mod architecture;
mod conformance;
mod cost;
