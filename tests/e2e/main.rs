//! The built binary and real servers, from the outside.

mod architecture;
mod clients;
mod conformance;
mod cost;
mod faults;
mod hit_ratio;
mod modes;
mod protocol_table;
mod readme;
#[cfg(target_os = "linux")]
mod send_buffers;
mod serve;
