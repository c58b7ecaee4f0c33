//! When memory that readers may still look at can be freed.
//!
//! Readers take no lock and write only to memory of their own thread. A reader
//!
//! 1. *pins* itself: marks in its thread's [`Record`] that it is about to follow pointers;
//! 2. probes, and *protects* what it found: publishes the address in a hazard slot of the record;
//! 3. unpins. The hazard stays as long as the borrow lives and pins that one address, nothing else.
//!
//! A writer
//!
//! 1. unlinks what shall go, so that no new reader can find it, collects it in a batch, and takes a
//!    [`Cookie`];
//! 2. sees to it that a grace period begins after that, if nobody else does: a barrier that all threads
//!    take part in, and a note of the threads that are pinned at that moment;
//! 3. once each of them has unpinned, looks at all hazard slots and frees what none names.
//!
//! Why that is enough: a reader that was not pinned after the barrier can only find what is linked
//! then. One that was pinned may have found what was unlinked; when it has unpinned, the address is
//! already in its hazard slot, and the release of the pin makes that visible to the writer that
//! acquires it.
//!
//! Where all that a reader follows is one pointer, as in [`crate::cell`], it needs no pin: it publishes what the
//! pointer holds, executes its side of the barrier, and looks whether the pointer still holds it. Then
//! a writer that replaces the pointer and executes the other side finds the address in the slot.
//! If not, the slot has named for a moment what may have been gone already; so such names are
//! [marked](unpinned), and nobody but their owner withdraws them.
//!
//! The order "pin, then read a pointer" needs a full barrier between a store and a load. That would be
//! the dearest instruction of a hit, so on Linux the writer pays for both sides, see the module `barrier`.

mod barrier;
mod counters;
mod grace;
mod hazard;
#[cfg(all(test, loom))]
pub(crate) mod models;
mod record;
mod registry;
#[cfg(all(test, not(loom)))]
mod tests;
#[cfg(not(loom))]
mod thread;

#[cfg(not(loom))]
pub(crate) use counters::{CounterId, Counts};
pub(crate) use grace::{Cookie, Passed};
pub(crate) use hazard::{Hazard, Hazards, unpinned};
pub(crate) use record::{Pin, Record};
pub(crate) use registry::Registry;
#[cfg(not(loom))]
pub(crate) use thread::{global, pin, pinned, record};
