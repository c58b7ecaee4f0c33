//! How long a loop bears with its clients: with those that take nothing of what waits for them, and with
//! those that say nothing.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::EventLoop;

/// How often clients that do not read are looked for.
pub(super) const STALL_INTERVAL: Duration = Duration::from_millis(500);

/// How often idle clients are looked for. Not all at once where there are many: those that are busy wait
/// meanwhile.
const IDLE_INTERVAL: Duration = Duration::from_millis(500);
const IDLE_AGAIN: Duration = Duration::from_millis(10);
const IDLE_STEP: usize = 256;

/// Where the look for idle clients is.
#[derive(Debug)]
pub(super) struct IdleWatch {
    pub(super) due: Instant,
    next_token: usize,
}

impl IdleWatch {
    pub(super) fn new(now: Instant) -> Self {
        IdleWatch {
            due: now,
            next_token: 0,
        }
    }
}

impl EventLoop {
    pub(super) fn close_stalled(&mut self, now: Instant) {
        if now.saturating_duration_since(self.checked_stalls_at) < STALL_INTERVAL {
            return;
        }
        self.checked_stalls_at = now;
        let timeout = self.shared.config.write_timeout;
        let is_stalled = |token: &usize| {
            let connection = self.connections.get(*token);
            connection.is_some_and(|it| it.is_stalled(now, timeout))
        };
        let stalled: Vec<usize> = self.waiting.iter().copied().filter(is_stalled).collect();
        for token in stalled {
            let disconnections = &self.shared.totals.output_limit_disconnections;
            disconnections.fetch_add(1, Ordering::Relaxed);
            self.close(token);
        }
    }

    pub(super) fn close_idle(&mut self, now: Instant) {
        let Some(timeout) = self.shared.config.idle_timeout else {
            return;
        };
        if now < self.idle_watch.due {
            return;
        }
        let first = self.idle_watch.next_token;
        let end = (first + IDLE_STEP).min(self.connections.capacity());
        for token in first..end {
            let connection = self.connections.get(token);
            if connection.is_some_and(|it| it.is_idle(now, timeout)) {
                self.close(token);
            }
        }
        self.idle_watch = if end == self.connections.capacity() {
            IdleWatch::new(now + IDLE_INTERVAL)
        } else {
            IdleWatch {
                due: now + IDLE_AGAIN,
                next_token: end,
            }
        };
    }

    /// When clients have to be looked at again although nothing happens.
    pub(super) fn patience_ends(&self, now: Instant) -> Option<Duration> {
        let stalls = (!self.waiting.is_empty()).then_some(STALL_INTERVAL);
        let watches_idle = self.shared.config.idle_timeout.is_some();
        let idle = (watches_idle && !self.connections.is_empty())
            .then(|| self.idle_watch.due.saturating_duration_since(now));
        stalls.into_iter().chain(idle).min()
    }
}
