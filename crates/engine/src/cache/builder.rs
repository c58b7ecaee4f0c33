//! How a cache is set up.

use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use super::Cache;
use super::budget::Budget;
use super::inner::{Inner, Times};
use crate::clock::{Clock, ManualClock};

/// Tells how many bytes of heap a key and a value own.
pub(super) type Weigher<K, V> = dyn Fn(&K, &V) -> u64 + Send + Sync;

/// Sets up a [`Cache`].
#[must_use = "a builder does nothing until `build` is called"]
pub struct CacheBuilder<K, V> {
    max_entries: Option<u64>,
    max_bytes: Option<u64>,
    weigher: Option<Box<Weigher<K, V>>>,
    times: Times,
    clock: Clock,
    entry: PhantomData<fn(K, V)>,
}

impl<K, V> CacheBuilder<K, V> {
    pub(super) fn new() -> Self {
        CacheBuilder {
            max_entries: None,
            max_bytes: None,
            weigher: None,
            times: Times::default(),
            clock: Clock::system(),
            entry: PhantomData,
        }
    }

    /// At most so many entries. With 0 nothing is ever stored.
    pub fn max_entries(mut self, max_entries: usize) -> Self {
        self.max_entries = Some(max_entries as u64);
        self
    }

    /// At most so many bytes for all entries: the engine's own share, keys and values, the heap they own as
    /// [`weigher`](Self::weigher) tells, and what was taken out and could not be freed yet. With 0
    /// nothing is ever stored.
    ///
    /// A sixty-fourth of it is kept free for entries that wait to be freed.
    pub fn max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = Some(max_bytes);
        self
    }

    /// How many bytes of heap a key and a value own, beside their own size, which the engine knows.
    /// Called once for each entry that is stored, under no lock. Without it only the entries
    /// themselves are counted. Has no effect without [`max_bytes`](Self::max_bytes).
    pub fn weigher(mut self, weigher: impl Fn(&K, &V) -> u64 + Send + Sync + 'static) -> Self {
        self.weigher = Some(Box::new(weigher));
        self
    }

    /// Entries expire so long after they were stored. Times are exact to one
    /// [`TICK`](crate::clock::TICK).
    pub fn time_to_live(mut self, time_to_live: Duration) -> Self {
        self.times.time_to_live = Some(time_to_live);
        self
    }

    /// Entries expire when they were not read for so long; beyond 49 days exact to a billionth.
    pub fn time_to_idle(mut self, time_to_idle: Duration) -> Self {
        self.times.time_to_idle = Some(time_to_idle);
        self
    }

    /// Shortens each time to live by a random part of up to this fraction, so that entries which
    /// were stored together do not expire together. Between 0 and 1; what lies outside counts as the
    /// nearer bound, what is not a number as 0.
    pub fn jitter(mut self, fraction: f64) -> Self {
        self.times.jitter = if fraction.is_nan() {
            0.0
        } else {
            fraction.clamp(0.0, 1.0)
        };
        self
    }

    /// Takes the time from a clock that is moved by hand.
    pub fn clock(mut self, clock: &ManualClock) -> Self {
        self.clock = clock.to_clock();
        self
    }
}

impl<K: Send + Sync + 'static, V: Send + Sync + 'static> CacheBuilder<K, V> {
    /// Makes the cache.
    pub fn build(self) -> Cache<K, V> {
        let budget = Budget::new(self.max_entries, self.max_bytes);
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let inner = Arc::new(Inner::new(
            budget,
            self.weigher,
            self.times,
            self.clock,
            cores,
        ));
        Inner::watch(&inner);
        Cache { inner }
    }
}

impl<K, V> fmt::Debug for CacheBuilder<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheBuilder")
            .field("max_entries", &self.max_entries)
            .field("max_bytes", &self.max_bytes)
            .field("times", &self.times)
            .finish_non_exhaustive()
    }
}
