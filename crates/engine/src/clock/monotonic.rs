//! The system's monotonic clock, also in its coarse and cheap form.

use super::Millis;

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
    use super::{Millis, Precision};

    /// Time since some moment before the process began.
    pub(in super::super) fn now(precision: Precision) -> Millis {
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
        time.tv_sec as Millis * 1_000 + time.tv_nsec as Millis / 1_000_000
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::sync::LazyLock;
    use std::time::Instant;

    use super::{Millis, Precision};

    static BEGINNING: LazyLock<Instant> = LazyLock::new(Instant::now);

    /// Time since some moment of the process.
    pub(in super::super) fn now(_precision: Precision) -> Millis {
        BEGINNING.elapsed().as_millis() as Millis
    }
}
