//! A cell that holds one shared value, read far more often than it is replaced.
//!
//! A read takes no lock and writes only to a hazard slot of its own thread, so readers on several cores do
//! not slow each other. A replacement pays for that: with a barrier that all cores take part in.
//!
//! What a borrow keeps alive is one version of the value. Who frees a version that was replaced: the
//! replacement if nobody borrows it, else whoever ends its last borrow. Nothing waits for anybody.

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;
#[cfg(not(loom))]
mod value;
mod versions;

#[cfg(not(loom))]
pub use value::{ValueCell, ValueRef};
