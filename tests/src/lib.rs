//! What the end-to-end tests stand on: servers that start on free ports and end with the test,
//! a protocol client that shares no code with what it tests, and the conformance cases.

pub mod conformance;
pub mod locate;
pub mod process;
pub mod resp;
pub mod servers;
pub mod skip;
