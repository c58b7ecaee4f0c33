//! Open-loop pacing: when each request is intended to start, whatever became of those before it,
//! and a sleep that wakes as close to a moment as the kernel can without spinning.

use std::cell::Cell;
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

/// Rates that a [`Schedule`] takes, in requests a second: one in eleven days to one a nanosecond,
/// the grain of the clock.
pub const RATES_PER_S: std::ops::RangeInclusive<f64> = 1e-6..=1e9;

/// At the highest rate its requests still fit in 64 bits.
const MAX_WINDOW: Duration = Duration::from_secs(10 * 365 * 86_400);

/// A rate that no schedule can keep.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error(
    "a rate of {per_s} requests a second cannot be scheduled; give one from {} to {}",
    RATES_PER_S.start(),
    RATES_PER_S.end()
)]
pub struct RateError {
    /// The rate that was asked for.
    pub per_s: f64,
}

/// Request `i` is intended at `start + i / rate`, for every such moment inside the window.
///
/// Each moment is computed from `i` alone, so no rounding adds up and no delay shifts the rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    start: Instant,
    rate_per_s: f64,
    due_count: u64,
}

impl Schedule {
    /// Requests at `rate_per_s` from `start` until `window` later (exclusive), ten years at most.
    ///
    /// # Errors
    /// The rate is outside [`RATES_PER_S`] or not a number.
    pub fn new(start: Instant, rate_per_s: f64, window: Duration) -> Result<Self, RateError> {
        if !RATES_PER_S.contains(&rate_per_s) {
            return Err(RateError { per_s: rate_per_s });
        }
        let mut schedule = Self {
            start,
            rate_per_s,
            due_count: 0,
        };
        schedule.due_count = schedule.count_before(window.min(MAX_WINDOW));
        Ok(schedule)
    }

    /// Requests that are intended within the window.
    #[must_use]
    pub fn due_count(&self) -> u64 {
        self.due_count
    }

    /// Intended start of request `i`, counted from 0.
    #[must_use]
    pub fn intended(&self, i: u64) -> Instant {
        self.start + self.offset(i)
    }

    /// Requests whose intended start is `now` or earlier, at most [`due_count`](Self::due_count).
    #[must_use]
    pub fn due_by(&self, now: Instant) -> u64 {
        let Some(elapsed) = now.checked_duration_since(self.start) else {
            return 0;
        };
        // "At or before" is "before one nanosecond later": offsets are whole nanoseconds.
        let before = elapsed.saturating_add(Duration::from_nanos(1));
        self.count_before(before).min(self.due_count)
    }

    /// In floating point, whose 53 bits hold an hour to less than a picosecond.
    fn offset(&self, i: u64) -> Duration {
        Duration::try_from_secs_f64(i as f64 / self.rate_per_s).unwrap_or(Duration::MAX)
    }

    /// Number of requests whose offset is less than `limit`.
    fn count_before(&self, limit: Duration) -> u64 {
        let mut count = (limit.as_secs_f64() * self.rate_per_s) as u64;
        // The product may be one off the rounding of `offset`, which decides.
        while count > 0 && self.offset(count - 1) >= limit {
            count -= 1;
        }
        while self.offset(count) < limit {
            count += 1;
        }
        count
    }
}

/// Sleeps until `deadline`, giving the processor away; returns at once if it has passed.
///
/// Usually some 0.05 to 0.1 ms late on an idle Linux machine: the price of not spinning, which would
/// take the core from the very server that is measured.
pub fn sleep_until_precise(deadline: Instant) {
    minimize_timer_slack();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::sleep(left);
    }
}

/// Lets the calling thread's timers fire on time: by default Linux may delay each by 0.05 ms so as
/// to wake for several at once. Costs a system call the first time in a thread, then nothing.
pub fn minimize_timer_slack() {
    thread_local! {
        static DONE: Cell<bool> = const { Cell::new(false) };
    }
    if DONE.replace(true) {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        // Refused only inside some sandboxes; the default slack then stays, and shows as lag.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(rate_per_s: f64, window: Duration) -> Schedule {
        Schedule::new(Instant::now(), rate_per_s, window).unwrap()
    }

    #[test]
    fn a_rate_that_cannot_be_scheduled_is_refused_with_what_can() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 2e9] {
            let error = Schedule::new(Instant::now(), rate, Duration::from_secs(1)).unwrap_err();
            assert!(error.to_string().contains("give one from"), "{error}");
        }
    }

    #[test]
    fn the_window_holds_rate_times_seconds() {
        for (rate, seconds, due) in [
            (2_730.0, 5, 13_650),
            (0.1, 5, 1),
            (0.1, 10, 1),
            (0.1, 11, 2),
            (1.0, 1, 1),
            (3.0, 1, 3),
            (10_000_000.0, 60, 600_000_000),
            (1.0, 0, 0),
        ] {
            let schedule = schedule(rate, Duration::from_secs(seconds));
            assert_eq!(schedule.due_count(), due, "{rate}/s for {seconds} s");
        }
    }

    #[test]
    fn the_last_request_after_an_hour_has_not_drifted() {
        for rate in [0.1, 2_730.0, 333.0, 10_000_000.0] {
            let schedule = schedule(rate, Duration::from_secs(3_600));
            let hour = schedule.offset((rate * 3_600.0) as u64);
            let drift = hour.abs_diff(Duration::from_secs(3_600));
            assert!(drift <= Duration::from_nanos(1), "{rate}/s: {drift:?}");
        }
    }

    #[test]
    fn a_request_is_due_from_its_intended_start_on_and_not_a_nanosecond_before() {
        let tick = Duration::from_nanos(1);
        for rate in [0.1, 3.0, 2_730.0, 777_777.7, 10_000_000.0] {
            let schedule = schedule(rate, Duration::from_secs(100));
            let last = schedule.due_count() - 1;
            for i in [0, 1, 2, 7, 1_000, 12_345, last] {
                let i = i.min(last);
                let intended = schedule.intended(i);
                assert_eq!(schedule.due_by(intended), i + 1, "{rate}/s, request {i}");
                assert_eq!(schedule.due_by(intended - tick), i, "{rate}/s, request {i}");
            }
        }
    }

    #[test]
    fn nothing_is_due_before_the_start_nor_more_than_the_window_after_it() {
        let start = Instant::now() + Duration::from_secs(1);
        let schedule = Schedule::new(start, 1_000.0, Duration::from_secs(1)).unwrap();
        assert_eq!(schedule.due_by(start - Duration::from_nanos(1)), 0);
        assert_eq!(schedule.due_by(start), 1);
        assert_eq!(schedule.due_by(start + Duration::from_secs(3_600)), 1_000);
    }

    #[test]
    fn an_endless_window_is_cut_and_not_a_panic() {
        let schedule = schedule(1e9, Duration::MAX);
        // So many that floating point counts them in steps of 64.
        assert!(schedule.due_count().abs_diff(315_360_000_000_000_000) <= 64);
        assert_eq!(schedule.due_by(schedule.intended(41)), 42);
    }

    #[test]
    fn a_sleep_never_ends_early_and_a_past_deadline_is_no_sleep() {
        let deadline = Instant::now() + Duration::from_millis(3);
        sleep_until_precise(deadline);
        assert!(Instant::now() >= deadline);
        let past = Instant::now();
        sleep_until_precise(past);
        assert!(past.elapsed() < Duration::from_secs(1));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_precise_sleep_asks_the_kernel_for_the_smallest_slack() {
        sleep_until_precise(Instant::now());
        assert_eq!(rustix::thread::current_timer_slack().unwrap(), 1);
    }
}
