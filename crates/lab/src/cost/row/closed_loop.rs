//! Full load: each worker reads again as soon as it has the value.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use super::super::reading::ReadError;
use super::super::tally::Tally;
use super::reader::{InstantReader, Reader};

/// Reads in one timed batch: enough that the clock costs less than a percent of it.
pub(super) const BATCH: u64 = 4096;

/// How long reads that are under way at the end of the window may take to finish.
const GRACE: Duration = Duration::from_secs(1);

/// Runs `workers` that read one value at a time until `window_end`.
///
/// A read that is under way then is in the service times only: with the time it took, or with the
/// time it had waited when it was given up. Else a stall that lasts to the end would not show.
pub(super) fn drive<R: Reader, T>(
    runtime: Runtime,
    reader: &Arc<R>,
    tally: &Arc<Tally>,
    workers: usize,
    window_end: Instant,
    window_closed: impl FnOnce() -> T,
) -> Result<T, ReadError> {
    let stop = Arc::new(AtomicBool::new(false));
    let (failed, failure) = mpsc::channel();
    for worker in 0..workers {
        let (reader, tally) = (Arc::clone(reader), Arc::clone(tally));
        let (stop, failed) = (Arc::clone(&stop), failed.clone());
        runtime.spawn(async move {
            // Together the workers count through all numbers.
            for number in (worker as u64..).step_by(workers) {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let mut under_way = UnderWay {
                    tally: &tally,
                    worker,
                    started: Instant::now(),
                    ended: false,
                };
                let result = reader.read(number).await;
                let service = under_way.started.elapsed();
                under_way.ended = true;
                match result {
                    Ok(cost) => tally.finished_unscheduled(worker, cost, service),
                    Err(error) => {
                        let _ = failed.send(error);
                        return;
                    }
                }
            }
        });
    }
    drop(failed);
    until_window_end(runtime, &stop, &failure, window_end, window_closed)
}

/// The same for reads of nanoseconds: counted all, timed in batches.
pub(super) fn drive_batches<R: InstantReader, T>(
    runtime: Runtime,
    reader: &Arc<R>,
    tally: &Arc<Tally>,
    workers: usize,
    window_end: Instant,
    window_closed: impl FnOnce() -> T,
) -> Result<T, ReadError> {
    let stop = Arc::new(AtomicBool::new(false));
    let (running, ended) = mpsc::channel();
    for worker in 0..workers {
        let (reader, tally, stop) = (Arc::clone(reader), Arc::clone(tally), Arc::clone(&stop));
        // Nothing here can fail; dropped, it tells that the worker has ended.
        let running = running.clone();
        runtime.spawn(async move {
            let _running = running;
            while !stop.load(Ordering::Relaxed) {
                let started = Instant::now();
                let stale = reader.read_batch(BATCH);
                tally.finished_batch(worker, BATCH, stale, started.elapsed());
                tokio::task::yield_now().await;
            }
        });
    }
    drop(running);
    until_window_end(runtime, &stop, &ended, window_end, window_closed)
}

/// Lets the workers, who hold the other end of `failure`, run until the window ends.
fn until_window_end<T>(
    runtime: Runtime,
    stop: &AtomicBool,
    failure: &mpsc::Receiver<ReadError>,
    window_end: Instant,
    window_closed: impl FnOnce() -> T,
) -> Result<T, ReadError> {
    if let Ok(error) = failure.recv_timeout(window_end - Instant::now()) {
        return Err(error);
    }
    // Before the meters are read: closing may wait for the last change, and reads meanwhile would
    // be in the times and not in the counts.
    stop.store(true, Ordering::Relaxed);
    let closed = window_closed();
    // Disconnected when the last worker has ended.
    if let Ok(error) = failure.recv_timeout(GRACE) {
        return Err(error);
    }
    runtime.shutdown_timeout(Duration::from_secs(1));
    Ok(closed)
}

/// A read that has started. Dropped before its end, it has waited so long at least.
struct UnderWay<'a> {
    tally: &'a Tally,
    worker: usize,
    started: Instant,
    ended: bool,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.tally
                .given_up_unscheduled(self.worker, self.started.elapsed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tally::{Counts, ReadCost};
    use super::super::reader::NoReader;
    use super::*;
    use crate::results::Histogram;

    const WINDOW: Duration = Duration::from_millis(200);

    fn runtime() -> Runtime {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap()
    }

    /// Answers after a millisecond, until it never answers again.
    struct Stalled {
        from: Instant,
    }

    impl Reader for Stalled {
        async fn read(&self, _number: u64) -> Result<ReadCost, ReadError> {
            if Instant::now() >= self.from {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
            Ok(ReadCost::default())
        }
    }

    #[test]
    fn a_stall_that_reaches_the_end_of_the_window_is_in_the_service_times_and_nowhere_else() {
        let start = Instant::now();
        let stalled = Arc::new(Stalled {
            from: start + WINDOW / 2,
        });
        let tally = Arc::new(Tally::new());
        let close = || tally.counts();
        let counts: Counts = drive(runtime(), &stalled, &tally, 5, start + WINDOW, close).unwrap();
        let times = tally.times();
        assert_eq!(tally.counts().reads, counts.reads);
        assert_eq!(times.service.count(), counts.reads + 5);
        assert_eq!(times.response.count(), 0);
        let waited = Histogram::from_recorder(&times.service).max_us;
        assert!(waited >= 90_000.0, "{waited} µs");
    }

    #[test]
    fn reads_end_with_the_window_though_closing_it_takes_long() {
        let tally = Arc::new(Tally::new());
        let workers = 4;
        let close = || {
            let counts = tally.counts();
            std::thread::sleep(WINDOW);
            counts
        };
        let end = Instant::now() + WINDOW;
        let reader = Arc::new(NoReader);
        let counts = drive_batches(runtime(), &reader, &tally, workers, end, close).unwrap();
        let samples = tally.times().service.count();
        let (least, most) = (counts.reads / BATCH, counts.reads / BATCH + workers as u64);
        assert!((least..=most).contains(&samples), "{samples} of {least}");
    }

    #[test]
    fn a_read_that_fails_ends_the_row_at_once_with_its_cause() {
        struct Failing;
        impl Reader for Failing {
            async fn read(&self, _number: u64) -> Result<ReadCost, ReadError> {
                Err(ReadError::Missing)
            }
        }
        let start = Instant::now();
        let end = start + Duration::from_secs(60);
        let tally = Arc::new(Tally::new());
        let result = drive(runtime(), &Arc::new(Failing), &tally, 2, end, || ());
        assert!(matches!(result, Err(ReadError::Missing)));
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}
