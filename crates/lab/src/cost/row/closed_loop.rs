//! Full load: each worker reads again as soon as it has the value.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use super::super::reading::ReadError;
use super::super::tally::Tally;
use super::reader::{InstantReader, Reader};

/// Reads in one timed batch: enough that the clock costs less than a percent of it.
pub(super) const BATCH: u64 = 4096;

/// Runs `workers` that read one value at a time until `window_end`.
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
            while !stop.load(Ordering::Relaxed) {
                let started = Instant::now();
                match reader.read(worker).await {
                    Ok(cost) => tally.finished_unscheduled(worker, cost, started.elapsed()),
                    Err(error) => {
                        let _ = failed.send(error);
                        return;
                    }
                }
            }
        });
    }
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
    // Nothing here can fail; the other loop's channel is only waited on.
    let (failed, failure) = mpsc::channel();
    for worker in 0..workers {
        let (reader, tally, stop) = (Arc::clone(reader), Arc::clone(tally), Arc::clone(&stop));
        runtime.spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                let started = Instant::now();
                let stale = reader.read_batch(BATCH);
                tally.finished_batch(worker, BATCH, stale, started.elapsed());
                tokio::task::yield_now().await;
            }
        });
    }
    let closed = until_window_end(runtime, &stop, &failure, window_end, window_closed);
    drop(failed);
    closed
}

fn until_window_end<T>(
    runtime: Runtime,
    stop: &AtomicBool,
    failure: &mpsc::Receiver<ReadError>,
    window_end: Instant,
    window_closed: impl FnOnce() -> T,
) -> Result<T, ReadError> {
    match failure.recv_timeout(window_end - Instant::now()) {
        Ok(error) => return Err(error),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
    }
    let closed = window_closed();
    stop.store(true, Ordering::Relaxed);
    runtime.shutdown_timeout(Duration::from_secs(1));
    Ok(closed)
}
