//! A clock that a test moves by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{Clock, Millis, NEVER, to_millis};

/// The end of time, before what never happens.
const LAST: Millis = NEVER - 1;

/// A clock that stands still until it is moved. Clones are the same clock.
///
/// ```
/// use std::time::Duration;
/// use hotcopy_engine::cache::Cache;
/// use hotcopy_engine::clock::ManualClock;
///
/// let clock = ManualClock::new();
/// let cache: Cache<&str, u32> = Cache::builder()
///     .max_entries(10)
///     .time_to_live(Duration::from_secs(60))
///     .clock(&clock)
///     .build();
/// cache.insert("a", 1);
/// clock.advance(Duration::from_secs(59));
/// assert!(cache.contains("a"));
/// clock.advance(Duration::from_secs(1));
/// assert!(!cache.contains("a"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct ManualClock {
    now: Arc<AtomicU64>,
}

impl ManualClock {
    /// A clock at its beginning.
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the clock on. Counts whole milliseconds, rounded up.
    pub fn advance(&self, by: Duration) {
        let by = to_millis(by);
        let _ = self
            .now
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |now| {
                Some(now.saturating_add(by).min(LAST))
            });
    }

    /// Moves the clock to a time since its beginning, also backwards. What has expired and was
    /// reclaimed stays gone; what was not yet reclaimed can be read again until its deadline comes.
    pub fn set(&self, since_beginning: Duration) {
        self.now
            .store(to_millis(since_beginning).min(LAST), Ordering::Relaxed);
    }

    /// The time since the clock's beginning.
    pub fn now(&self) -> Duration {
        Duration::from_millis(self.now.load(Ordering::Relaxed))
    }

    pub(crate) fn to_clock(&self) -> Clock {
        Clock {
            now: self.now.clone(),
            is_manual: true,
        }
    }
}
