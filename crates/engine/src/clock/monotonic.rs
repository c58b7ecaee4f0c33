//! The system's monotonic clock, also in its coarse and cheap form.

/// How exact a time has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Precision {
    Fine,
    /// To some 4 ms, for a third of the cost; where the system offers it.
    Coarse,
}

pub(super) use system::now;

#[cfg(target_os = "linux")]
#[allow(
    unsafe_code,
    reason = "the standard library does not read the coarse clock"
)]
mod system {
    use std::time::Duration;

    use super::Precision;

    /// Time since some moment before the process began.
    pub(in super::super) fn now(precision: Precision) -> Duration {
        let clock = match precision {
            Precision::Fine => libc::CLOCK_MONOTONIC,
            Precision::Coarse => libc::CLOCK_MONOTONIC_COARSE,
        };
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: writes to the given time only.
        let failed = unsafe { libc::clock_gettime(clock, &raw mut time) };
        debug_assert_eq!(failed, 0, "these clocks exist");
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::sync::LazyLock;
    use std::time::{Duration, Instant};

    use super::Precision;

    static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);

    /// Time since some moment of the process.
    pub(in super::super) fn now(_precision: Precision) -> Duration {
        BEGINNING.elapsed()
    }
}
