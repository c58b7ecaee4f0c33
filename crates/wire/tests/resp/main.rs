//! Properties of the RESP codecs on generated input.

mod agreement;
mod chunks;
mod generate;
mod memory;
mod round_trip;
