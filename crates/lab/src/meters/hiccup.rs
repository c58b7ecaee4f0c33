//! The noise floor: how late a thread wakes that only sleeps. What the machine delays here it also
//! delays in the program that is measured (the idea of Gil Tene's jHiccup).

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::pacer::sleep_until_precise;
use crate::results::Recorder;

/// Time between two intended wake-ups. Shorter sees more and costs more CPU.
pub const PERIOD: Duration = Duration::from_millis(1);

/// A running thread that sleeps and records its delays; dropped, it ends within a period.
#[derive(Debug)]
pub struct HiccupMeter {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Recorder>>,
}

impl HiccupMeter {
    /// Starts the thread. It wakes a thousand times a second, which is charged to this process: a row
    /// to be compared needs a meter too.
    ///
    /// # Errors
    /// The system gives no further thread.
    pub fn start() -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut delays = Delays::from(Instant::now()); // a late start of the thread is a delay too
        let thread = thread::Builder::new().name("hiccup-meter".into()).spawn({
            let stop = Arc::clone(&stop);
            move || {
                while !stop.load(Ordering::Relaxed) {
                    sleep_until_precise(delays.next_wake_up);
                    delays.woke(Instant::now());
                }
                delays.woke(Instant::now());
                delays.recorded
            }
        })?;
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }

    /// Ends the thread; returns the delays, one for every wake-up that was intended.
    #[must_use]
    pub fn stop(mut self) -> Recorder {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("only `stop` takes it");
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for HiccupMeter {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The delay of every intended wake-up, those that a stall swallowed included: a stall of 50 ms is
/// 50, 49, 48, … ms, as it would be for requests that arrived meanwhile.
struct Delays {
    next_wake_up: Instant,
    recorded: Recorder,
}

impl Delays {
    fn from(start: Instant) -> Self {
        Self {
            next_wake_up: start + PERIOD,
            recorded: Recorder::new(),
        }
    }

    fn woke(&mut self, now: Instant) {
        while let Some(delay) = now.checked_duration_since(self.next_wake_up) {
            self.recorded.record(delay);
            self.next_wake_up += PERIOD;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Histogram;

    #[test]
    fn a_stall_counts_for_every_wake_up_that_it_swallowed() {
        let start = Instant::now();
        let mut delays = Delays::from(start);
        // Intended at 1 ms; woke at 51 ms: 50 ms late, and 49 more were due meanwhile, and one now.
        delays.woke(start + Duration::from_millis(51));
        let delays = Histogram::from_recorder(&delays.recorded);
        assert_eq!(delays.count, 51);
        assert_eq!((delays.mean_us, delays.max_us), (25_000.0, 50_000.0));
    }

    #[test]
    fn wake_ups_stay_on_the_grid_after_a_late_one() {
        let start = Instant::now();
        let mut delays = Delays::from(start);
        delays.woke(start + Duration::from_micros(1_300));
        assert_eq!(delays.next_wake_up, start + 2 * PERIOD);
        delays.woke(start + Duration::from_micros(1_900)); // early: nothing was due
        assert_eq!(delays.recorded.count(), 1);
    }

    #[test]
    fn a_running_meter_has_one_delay_for_each_millisecond() {
        let start = Instant::now();
        let meter = HiccupMeter::start().unwrap();
        thread::sleep(Duration::from_millis(50));
        let delays = meter.stop();
        let wall_ms = u64::try_from(start.elapsed().as_millis()).unwrap();
        assert!(delays.count() <= wall_ms, "{} {wall_ms}", delays.count());
        assert!(delays.count() >= 45, "{}", delays.count());
    }

    #[test]
    fn a_meter_stopped_at_once_still_records() {
        let delays = HiccupMeter::start().unwrap().stop();
        assert!(delays.count() <= 50);
        drop(HiccupMeter::start().unwrap());
    }
}
