//! `flush_all` with a delay: a flush of the first database at a time to come.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hotcopy_engine::bytes::UnixMillis;

/// Stands for no time.
const NEVER: u64 = u64::MAX;

/// When the flush is due. Every loop looks at it, and whoever finds it due first does it.
#[derive(Debug)]
pub(crate) struct ScheduledFlush(AtomicU64);

impl Default for ScheduledFlush {
    fn default() -> Self {
        ScheduledFlush(AtomicU64::new(NEVER))
    }
}

impl ScheduledFlush {
    /// Takes the place of what was scheduled before.
    pub(crate) fn schedule(&self, due: UnixMillis) {
        self.0.store(due.0, Ordering::Relaxed);
    }

    pub(crate) fn cancel(&self) {
        self.0.store(NEVER, Ordering::Relaxed);
    }

    /// How long it is until then, if anything is scheduled.
    pub(crate) fn due_in(&self) -> Option<Duration> {
        match self.0.load(Ordering::Relaxed) {
            NEVER => None,
            due => Some(Duration::from_millis(
                due.saturating_sub(UnixMillis::now().0),
            )),
        }
    }

    /// Whether the caller shall flush now.
    pub(crate) fn take_if_due(&self) -> bool {
        let due = self.0.load(Ordering::Relaxed);
        due != NEVER
            && due <= UnixMillis::now().0
            && self
                .0
                .compare_exchange(due, NEVER, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_is_due_once_and_not_before_its_time() {
        let flush = ScheduledFlush::default();
        assert!(!flush.take_if_due() && flush.due_in().is_none());
        let now = UnixMillis::now();
        flush.schedule(UnixMillis(now.0 + 60_000));
        assert!(!flush.take_if_due());
        assert!(flush.due_in().unwrap() > Duration::from_secs(50));
        flush.schedule(now);
        assert_eq!(flush.due_in(), Some(Duration::ZERO));
        assert!(flush.take_if_due() && !flush.take_if_due());
        flush.schedule(now);
        flush.cancel();
        assert!(!flush.take_if_due());
    }
}
