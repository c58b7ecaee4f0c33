//! Codecs of the protocols that hotcopy speaks. Nothing here does I/O: bytes go in, requests and
//! replies come out, and what is not yet there is asked for.

pub mod memcached;
mod progress;
pub mod resp;
