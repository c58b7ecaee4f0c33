//! Requests at a rate, each due at a time that does not depend on the answers before it.

use std::thread;
use std::time::{Duration, Instant};

use super::Failure;

/// When the requests of one connection are due.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schedule {
    pub(super) first: Instant,
    pub(super) interval: Duration,
    pub(super) end: Instant,
}

impl Schedule {
    /// The schedules of `count` connections that make `per_s` requests in all, evenly staggered.
    pub(super) fn staggered(
        count: u32,
        per_s: f64,
        time: Duration,
    ) -> impl Iterator<Item = Schedule> {
        // Time for all threads to be there.
        let start = Instant::now() + Duration::from_millis(50);
        let interval = Duration::from_secs_f64(f64::from(count) / per_s);
        (0..count).map(move |number| Schedule {
            first: start + interval * number / count,
            interval,
            end: start + time,
        })
    }

    /// Makes the requests, and returns how long after it was due each was answered. What is due after the end,
    /// or is still not begun a while after it, is not made.
    pub(super) fn run(
        self,
        mut request: impl FnMut() -> Result<(), Failure>,
    ) -> Result<Answered, Failure> {
        let give_up = self.end + (self.end - self.first) / 2;
        let mut answered = Answered::default();
        let mut due = self.first;
        while due < self.end {
            answered.offered += 1;
            let now = Instant::now();
            if now < due {
                thread::sleep(due - now);
            }
            if now < give_up {
                request()?;
                let now = Instant::now();
                answered.times.push(now - due);
                answered.in_time += u64::from(now <= self.end + self.interval);
            }
            due += self.interval;
        }
        Ok(answered)
    }
}

/// What became of the requests of a schedule.
#[derive(Debug, Default)]
pub(super) struct Answered {
    pub(super) offered: u64,
    /// Answered before the end, or within one interval of it.
    pub(super) in_time: u64,
    pub(super) times: Vec<Duration>,
}

impl Answered {
    pub(super) fn join(&mut self, other: Answered) {
        self.offered += other.offered;
        self.in_time += other.in_time;
        self.times.extend(other.times);
    }

    /// In milliseconds; not a number if there are none.
    pub(super) fn percentile_ms(&mut self, percentile: f64) -> f64 {
        self.times.sort_unstable();
        let rank = (self.times.len() as f64 * percentile / 100.0).ceil() as usize;
        let time = self.times.get(rank.saturating_sub(1));
        time.map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
    }

    /// The part of what was offered that was answered in time.
    pub(super) fn share_in_time(&self) -> f64 {
        self.in_time as f64 / self.offered as f64
    }
}

/// The middle one, or the upper of the two in the middle.
pub(super) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_waits_for_another_is_charged_from_when_it_was_due() {
        let start = Instant::now();
        let schedule = Schedule {
            first: start,
            interval: Duration::from_millis(10),
            end: start + Duration::from_millis(30),
        };
        let mut is_first = true;
        let mut answered = schedule
            .run(|| {
                if std::mem::take(&mut is_first) {
                    thread::sleep(Duration::from_millis(25));
                }
                Ok(())
            })
            .expect("nothing fails");
        assert_eq!(answered.offered, 3);
        assert!(answered.percentile_ms(100.0) >= 25.0);
        // The second was due ten milliseconds after the start and waited for the first.
        assert!(answered.percentile_ms(50.0) >= 15.0);
    }

    #[test]
    fn staggered_schedules_share_the_rate() {
        let schedules: Vec<_> = Schedule::staggered(4, 100.0, Duration::from_secs(1)).collect();
        assert_eq!(schedules[0].interval, Duration::from_millis(40));
        assert_eq!(
            schedules[1].first - schedules[0].first,
            Duration::from_millis(10)
        );
    }

    #[test]
    fn the_median_of_nothing_is_no_number() {
        assert!(median(Vec::new()).is_nan());
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
    }
}
