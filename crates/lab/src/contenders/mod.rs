//! Caches and maps under one interface, so that a benchmark treats them alike.
//!
//! Keys are text, looked up by `&String` because `TinyUFO` can look up by nothing else. A contender is
//! a *handle*: those that several threads may use are cloned for each thread. Peers hash with foldhash like ours wherever they let their user choose, and are set up with
//! nothing but room for the entries: what they can do beyond that would only slow them down.

#[cfg(feature = "peers")]
mod foyer;
mod keys;
#[cfg(feature = "peers")]
mod lru;
#[cfg(feature = "peers")]
mod maps;
#[cfg(feature = "peers")]
mod moka;
mod operations;
mod ours;
#[cfg(feature = "peers")]
mod quick_cache;
#[cfg(feature = "peers")]
mod tiny_ufo;

use std::ops::Deref;

#[cfg(feature = "peers")]
pub use self::{
    foyer::Foyer,
    lru::Lru,
    maps::{FrozenMap, HashMap, Papaya},
    moka::Moka,
    quick_cache::{QuickCache, QuickCacheUnsync},
    tiny_ufo::TinyUfo,
};

pub use keys::{KeySet, SEED, key};
pub use operations::{Get, Overwrite};
pub use ours::{Feature, Ours, OursShared};

/// What contenders keep: a counted pointer, or another handle that is cheap to clone.
pub trait Payload: Clone + Send + Sync + Deref + 'static {}

impl<V: Clone + Send + Sync + Deref + 'static> Payload for V {}

/// Reading.
#[allow(clippy::ptr_arg)] // See the module.
pub trait Reads<V> {
    /// Hands the value of `key` to `look`, as cheaply as this contender allows: borrowed where it
    /// lends, else cloned. `None` if there is no such key.
    fn read<R>(&mut self, key: &String, look: impl FnOnce(&V) -> R) -> Option<R>;
}

/// Writing.
#[allow(clippy::ptr_arg)] // See the module.
pub trait Writes<V>: Reads<V> {
    /// Inserts or replaces.
    fn write(&mut self, key: String, value: V);

    /// Removes; whether the key was there.
    fn remove(&mut self, key: &String) -> bool;

    /// Does the housekeeping that is due, for a measure of memory.
    fn settle(&mut self) {}
}

/// A contender that knows its name and how to set itself up.
pub trait Setup<V>: Writes<V> + Sized {
    /// What it is called in a table.
    const NAME: &'static str;

    /// Whether a read borrows the value; otherwise it gets a handle of its own.
    const LENDS: bool;

    /// Room for so many entries of equal weight; beyond that it evicts, if it can.
    fn with_room_for(entries: usize) -> Self;
}
