//! Local copies of data that Redis or Valkey owns, read from process memory.
//!
//! [`Hot<T>`] holds one decoded value, such as a configuration, that every request reads and hardly
//! anything changes. Reading it costs nanoseconds: no transfer, no decoding, no allocation.

mod hot;

pub use hot::{Hot, HotRef};
