//! How much a large reply may take at once: little beside other clients, more where there are none.
//!
//! What sits in the kernel cannot be taken back and delays others, so a piece is small and so is the send
//! buffer. But a reader that is alone then waits for the next piece again and again; with the
//! larger ones it was measured to get 0.96 of what memcached gives it instead of 0.66, and there is nobody to be
//! kept waiting.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::shared::{LoopHandle, Shared};

/// How long nobody else must have been served.
const ALONE_AFTER: Duration = Duration::from_millis(10);

/// Whether a client is the only one that the server serves at the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Share {
    Alone,
    WithOthers,
}

impl Share {
    /// Most bytes given to the kernel in one call.
    pub(crate) fn piece_bytes(self) -> usize {
        match self {
            Share::Alone => 256 * 1024,
            Share::WithOthers => 32 * 1024,
        }
    }

    /// Send buffer on loopback and Unix sockets. The kernel doubles it. Beside a reader of large values,
    /// small reads were measured to be faster with 64 KiB than with 128 KiB or the kernel's default
    /// of several megabytes.
    pub(crate) fn local_send_buffer_bytes(self) -> usize {
        match self {
            Share::Alone => 256 * 1024,
            Share::WithOthers => 64 * 1024,
        }
    }
}

/// When a loop last served somebody, for the other loops.
#[derive(Debug, Default)]
pub(crate) struct LastServed {
    /// Milliseconds from the server's start.
    at_ms: AtomicU64,
}

/// Whom a loop served, and when somebody else than the last one.
#[derive(Debug)]
pub(crate) struct Company {
    last: usize,
    others_at: Instant,
}

impl Company {
    pub(crate) fn new(now: Instant) -> Self {
        Company {
            last: usize::MAX,
            others_at: now,
        }
    }

    /// Notes a turn of the connection with this token.
    pub(crate) fn note(&mut self, token: usize, now: Instant) {
        if self.last != token {
            self.last = token;
            self.others_at = now;
        }
    }

    /// Whether nobody was served lately but the connection that was noted last, on its loop or another.
    pub(crate) fn share(&self, own: usize, shared: &Shared, now: Instant) -> Share {
        let is_recent = |at: Instant| now.saturating_duration_since(at) < ALONE_AFTER;
        let others = shared.loops.iter().enumerate();
        let mut others = others.filter(|(index, _)| *index != own);
        let has_company = is_recent(self.others_at)
            || others.any(|(_, each)| is_recent(shared.started + each.last_served.since_start()));
        if has_company {
            Share::WithOthers
        } else {
            Share::Alone
        }
    }
}

impl LastServed {
    fn since_start(&self) -> Duration {
        Duration::from_millis(self.at_ms.load(Ordering::Relaxed))
    }
}

impl LoopHandle {
    /// Tells the other loops that this one serves somebody.
    pub(crate) fn note_served(&self, since_start: Duration) {
        let now_ms = u64::try_from(since_start.as_millis()).unwrap_or(u64::MAX);
        if self.last_served.at_ms.load(Ordering::Relaxed) != now_ms {
            self.last_served.at_ms.store(now_ms, Ordering::Relaxed);
        }
    }
}
