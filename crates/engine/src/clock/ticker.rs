//! The ticker: one thread of the process that writes the time and looks after idle caches.
//!
//! It starts with the first cache that needs it. While nobody writes deadlines it sleeps until the next
//! one is due, since a time that lags behind is as good as the right one until then.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread::{self, Thread};
use std::time::Duration;

use super::monotonic::{self, Precision};
use super::{Millis, TICK};

/// What the ticker looks after.
pub(crate) trait Ticked: Send + Sync {
    /// Expires and frees what is due.
    fn tick(&self) -> NextTick;
}

/// When something wants to be looked at again, unless the ticker is woken before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NextTick {
    /// At the next tick.
    Soon,
    /// When it is this late.
    At(Millis),
    /// Nothing is to be done.
    Idle,
}

struct Ticker {
    /// When the time was 0.
    started: Millis,
    time: Arc<AtomicU64>,
    /// Whether the time stands still.
    is_asleep: AtomicBool,
    /// Whether somebody asked for the time since the last tick.
    is_asked: AtomicBool,
    watched: Mutex<Vec<Weak<dyn Ticked>>>,
    thread: OnceLock<Thread>,
}

static TICKER: LazyLock<Ticker> = LazyLock::new(|| Ticker {
    started: monotonic::now(Precision::Fine),
    time: Arc::default(),
    is_asleep: AtomicBool::new(true),
    is_asked: AtomicBool::new(false),
    watched: Mutex::default(),
    thread: OnceLock::new(),
});

/// The number that the ticker writes the time to.
pub(super) fn time() -> Arc<AtomicU64> {
    TICKER.time.clone()
}

/// Adds something to look after, as long as it lives.
pub(crate) fn watch(ticked: Weak<dyn Ticked>) {
    TICKER.watched().push(ticked);
}

/// The time for what gets a deadline, which the ticker is to keep. Read from a clock that costs little, because
/// the ticker may be late on a busy machine, and an entry must not pay for that with its life.
pub(super) fn time_for_deadline() -> Millis {
    wake();
    TICKER
        .elapsed_to(Precision::Coarse)
        .max(TICKER.time.load(Ordering::Relaxed))
}

/// Makes the time be right for at least one more tick, and has everything looked at. A load or two
/// while the ticker is awake.
#[inline]
pub(crate) fn wake() {
    if !TICKER.is_asked.load(Ordering::Relaxed) {
        TICKER.is_asked.store(true, Ordering::SeqCst);
    }
    if TICKER.is_asleep.load(Ordering::SeqCst) {
        TICKER.wake();
    }
}

impl Ticker {
    #[cold]
    fn wake(&'static self) {
        self.write_time();
        self.is_asleep.store(false, Ordering::SeqCst);
        let thread = self.thread.get_or_init(|| {
            thread::Builder::new()
                .name("hotcopy-ticker".to_string())
                .spawn(|| self.run())
                .expect("the system refuses a thread")
                .thread()
                .clone()
        });
        thread.unpark();
    }

    fn run(&self) {
        loop {
            self.write_time();
            let is_asked = self.is_asked.swap(false, Ordering::SeqCst);
            if self.tick_all() > NextTick::Soon && !is_asked {
                self.sleep();
            } else {
                thread::sleep(TICK);
            }
        }
    }

    /// Lets the time stand still until something is due or somebody wakes us.
    fn sleep(&self) {
        // Who has work for us from here on finds us asleep; who had it before is found by the
        // second look.
        self.is_asleep.store(true, Ordering::SeqCst);
        let next = self.tick_all();
        while self.is_asleep.load(Ordering::SeqCst) {
            match next {
                NextTick::Soon => break,
                NextTick::Idle => thread::park(),
                NextTick::At(due) => match due.checked_sub(self.elapsed()) {
                    Some(left @ 1..) => thread::park_timeout(Duration::from_millis(left)),
                    _ => break,
                },
            }
        }
        self.is_asleep.store(false, Ordering::SeqCst);
    }

    fn elapsed(&self) -> Millis {
        self.elapsed_to(Precision::Fine)
    }

    fn elapsed_to(&self, precision: Precision) -> Millis {
        // A coarse clock is behind, at the very beginning before the start.
        monotonic::now(precision).saturating_sub(self.started)
    }

    fn write_time(&self) {
        self.time.fetch_max(self.elapsed(), Ordering::Relaxed);
    }

    fn watched(&self) -> MutexGuard<'_, Vec<Weak<dyn Ticked>>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the earliest time at which anybody wants to be called again.
    fn tick_all(&self) -> NextTick {
        let watched = {
            let mut watched = self.watched();
            watched.retain(|ticked| ticked.strong_count() > 0);
            watched.clone()
        };
        let mut next = NextTick::Idle;
        for ticked in watched.iter().filter_map(Weak::upgrade) {
            // Values are dropped here, and a `Drop` that panics shall not stop the clock.
            let wanted = catch_unwind(AssertUnwindSafe(|| ticked.tick()));
            next = next.min(wanted.unwrap_or(NextTick::Soon));
            // If this was the last handle, the whole cache is dropped here, with the same risk.
            let _ = catch_unwind(AssertUnwindSafe(move || drop(ticked)));
        }
        next
    }
}
