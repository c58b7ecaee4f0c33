//! Hot data in process memory: an in-process cache, and local copies of what Redis or Valkey owns.
//!
//! [`Cache`] is a bounded map for many threads whose entries may expire; a hit costs nanoseconds with
//! deadlines, eviction and statistics on.
//!
//! [`Hot<T>`] holds one decoded value, such as a configuration, that every request reads and hardly
//! anything changes. Reading it costs nanoseconds: no transfer, no decoding, no allocation.

mod hot;

pub use hot::{Hot, HotRef};
pub use hotcopy_engine::cache::{self, Cache};
pub use hotcopy_engine::clock;
