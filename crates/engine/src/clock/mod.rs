//! Time, as the cache sees it: coarse, cheap to read, and injectable.
//!
//! A hit compares a deadline with the time. Asking the kernel would cost more than the rest of the
//! hit, so the time is one number in memory that a thread of the process, the ticker, writes every
//! [`TICK`] while anybody could tell the difference.
//!
//! Times are milliseconds since the clock's own beginning.

mod manual;
mod monotonic;
mod ticker;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub use manual::ManualClock;
pub(crate) use ticker::{NextTick, Ticked, wake, watch};

/// How far the time that caches see lags behind at most, plus what the scheduler adds on a machine
/// that is short of processor time. Expiry is exact to this.
pub const TICK: Duration = Duration::from_millis(4);

/// A time: milliseconds since the clock's beginning.
pub(crate) type Millis = u64;

/// The deadline of what never expires.
pub(crate) const NEVER: Millis = u64::MAX;

/// Where a cache reads the time.
#[derive(Debug, Clone)]
pub(crate) struct Clock {
    now: Arc<AtomicU64>,
    is_manual: bool,
}

impl Clock {
    /// The process's clock.
    pub(crate) fn system() -> Self {
        Clock {
            now: ticker::time(),
            is_manual: false,
        }
    }

    /// The time as of the last tick.
    #[inline(always)]
    pub(crate) fn now(&self) -> Millis {
        self.now.load(Ordering::Relaxed)
    }

    /// Whether it is moved by hand.
    pub(crate) fn is_manual(&self) -> bool {
        self.is_manual
    }

    /// The time for what gets a deadline: also right if the ticker is late or asleep, which it is
    /// woken from.
    pub(crate) fn now_for_deadline(&self) -> Millis {
        if self.is_manual {
            self.now()
        } else {
            ticker::time_for_deadline()
        }
    }
}

/// A duration in whole milliseconds, rounded up; [`NEVER`] if it is too long to be counted.
pub(crate) fn to_millis(duration: Duration) -> Millis {
    let whole = u64::try_from(duration.as_millis()).unwrap_or(NEVER);
    let has_rest = !duration.subsec_nanos().is_multiple_of(1_000_000);
    whole.saturating_add(u64::from(has_rest))
}
