//! The built binary and real servers, from the outside.

mod architecture;
mod clients;
mod conformance;
mod faults;
mod protocol_table;
mod serve;
