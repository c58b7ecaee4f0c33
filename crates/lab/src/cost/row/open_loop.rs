//! The open loop: every read has an intended start, whatever the server does.
//!
//! A pacing thread sleeps until each intended start and hands out a permit; a worker that is free
//! takes the permit and the next read of the schedule. If no worker is free another one is added,
//! so a stalled server meets the load that real clients would send, and neither the schedule nor the
//! memory depends on how fast it answers. A read's response time counts from its intended start.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

use super::super::reading::ReadError;
use super::super::tally::{ReadTimes, Tally};
use super::Due;
use super::reader::Reader;
use crate::meters::pacer::{Schedule, minimize_timer_slack, sleep_until_precise};

/// Reads that may be under way at once. Beyond it they wait, and their wait counts.
const MOST_WORKERS: usize = 10_000;

/// How long after the window reads that were due in it may still finish.
const GRACE: Duration = Duration::from_secs(3);

/// Reads that never started are recorded in at most so many steps.
const ABANDONED_STEPS: u64 = 4096;

struct Loop<R> {
    reader: Arc<R>,
    tally: Arc<Tally>,
    schedule: Schedule,
    window_end: Instant,
    permits: Semaphore,
    /// The next read of the schedule that nobody has taken.
    next: AtomicU64,
    done: AtomicU64,
    workers: AtomicUsize,
    failed: mpsc::Sender<ReadError>,
}

/// Drives `reader` by `schedule`; `window_closed` runs at the end of the window, on this thread.
pub(super) fn drive<R: Reader, T>(
    runtime: Runtime,
    reader: Arc<R>,
    tally: &Arc<Tally>,
    schedule: Schedule,
    window_end: Instant,
    window_closed: impl FnOnce() -> T,
) -> Result<(T, Due), ReadError> {
    let (failed, failure) = mpsc::channel();
    let due = schedule.due_count();
    let shared = Arc::new(Loop {
        reader,
        tally: Arc::clone(tally),
        schedule,
        window_end,
        permits: Semaphore::new(0),
        next: AtomicU64::new(0),
        done: AtomicU64::new(0),
        workers: AtomicUsize::new(0),
        failed,
    });
    let pacer = {
        let shared = Arc::clone(&shared);
        let handle = runtime.handle().clone();
        std::thread::Builder::new()
            .name("pacer".into())
            .spawn(move || shared.pace(&handle))
    };
    let pacer = pacer.map_err(|error| ReadError::Store(error.into()))?;

    let closed = match failure.recv_timeout(window_end - Instant::now()) {
        Ok(error) => return Err(error),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => window_closed(),
    };
    let give_up = window_end + GRACE;
    while shared.done.load(Ordering::Acquire) < due && Instant::now() < give_up {
        if let Ok(error) = failure.recv_timeout(Duration::from_millis(1)) {
            return Err(error);
        }
    }
    // Nobody takes another read from here on. Reads under way are dropped with the runtime, and
    // each counts with the time it has waited.
    let started = shared.next.swap(u64::MAX / 2, Ordering::AcqRel).min(due);
    shared.permits.close();
    runtime.shutdown_timeout(Duration::from_secs(1));
    let now = Instant::now();
    // In so few steps that it ends, whatever the rate: reads of one step count as long as the first
    // of them waited, which is off by 1/4096 of the window at most.
    let step = (due - started).div_ceil(ABANDONED_STEPS).max(1);
    for first in (started..due).step_by(step as usize) {
        let waited = now.saturating_duration_since(shared.schedule.intended(first));
        tally.abandoned(0, step.min(due - first), waited);
    }
    pacer.join().expect("the pacer does not panic");
    let abandoned = due - shared.done.load(Ordering::Acquire);
    Ok((closed, Due { due, abandoned }))
}

impl<R: Reader> Loop<R> {
    fn pace(self: &Arc<Self>, handle: &tokio::runtime::Handle) {
        minimize_timer_slack();
        let due = self.schedule.due_count();
        let mut handed_out = 0;
        while handed_out < due && !self.permits.is_closed() {
            sleep_until_precise(self.schedule.intended(handed_out));
            let now_due = self
                .schedule
                .due_by(Instant::now())
                .clamp(handed_out + 1, due);
            let waiting = self.permits.available_permits();
            let wanted = (now_due - handed_out) as usize;
            // A permit that lies about means that every worker is busy.
            let workers = self.workers.load(Ordering::Relaxed);
            let missing = if workers == 0 || waiting > 0 {
                waiting + wanted
            } else {
                0
            };
            for worker in workers..(workers + missing).min(MOST_WORKERS) {
                self.workers.fetch_add(1, Ordering::Relaxed);
                handle.spawn(Arc::clone(self).work(worker));
            }
            self.permits.add_permits(wanted);
            handed_out = now_due;
        }
    }

    async fn work(self: Arc<Self>, worker: usize) {
        while let Ok(permit) = self.permits.acquire().await {
            permit.forget();
            let read = self.next.fetch_add(1, Ordering::AcqRel);
            if read >= self.schedule.due_count() {
                return;
            }
            let intended = self.schedule.intended(read);
            let mut under_way = UnderWay {
                tally: &self.tally,
                worker,
                intended,
                ended: false,
            };
            let started = Instant::now();
            let result = self.reader.read(read).await;
            let ended = Instant::now();
            under_way.ended = true;
            match result {
                Ok(cost) => {
                    let times = ReadTimes {
                        lag: started.saturating_duration_since(intended),
                        service: ended - started,
                    };
                    // By its own clock: the thread that closes the window may wake late.
                    if ended <= self.window_end {
                        self.tally.finished(worker, cost, times);
                    } else {
                        self.tally.finished_late(worker, times);
                    }
                    self.done.fetch_add(1, Ordering::AcqRel);
                }
                Err(error) => {
                    // The first failure ends the row; who hears it has gone after that.
                    let _ = self.failed.send(error);
                    return;
                }
            }
        }
    }
}

/// A read that has started. Dropped before its end, it counts as abandoned.
struct UnderWay<'a> {
    tally: &'a Tally,
    worker: usize,
    intended: Instant,
    ended: bool,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.tally
                .abandoned(self.worker, 1, self.intended.elapsed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tally::ReadCost;
    use super::*;
    use crate::results::Histogram;

    /// Answers at once, but stands still for the whole of one stall.
    struct Stalling {
        start: Instant,
        stall: std::ops::Range<Duration>,
    }

    impl Reader for Stalling {
        async fn read(&self, _number: u64) -> Result<ReadCost, ReadError> {
            if self.stall.contains(&self.start.elapsed()) {
                tokio::time::sleep_until((self.start + self.stall.end).into()).await;
            }
            Ok(ReadCost::default())
        }
    }

    fn run<R: Reader>(reader: R, start: Instant, rate: f64, ms: u64) -> (Tally, Due) {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let window = Duration::from_millis(ms);
        let schedule = Schedule::new(start, rate, window).unwrap();
        let tally = Arc::new(Tally::new());
        let ((), due) = drive(
            runtime,
            Arc::new(reader),
            &tally,
            schedule,
            start + window,
            || (),
        )
        .unwrap();
        (Arc::into_inner(tally).expect("all workers have gone"), due)
    }

    #[test]
    fn a_stall_counts_in_full_for_every_read_that_was_due_in_it() {
        let start = Instant::now();
        let ms = Duration::from_millis;
        let (tally, due) = run(
            Stalling {
                start,
                stall: ms(100)..ms(300),
            },
            start,
            500.0,
            500,
        );
        assert_eq!((due.due, due.abandoned), (250, 0));
        let response = Histogram::from_recorder(&tally.times().response);
        assert_eq!(response.count, 250);
        // 200 ms at 500/s: a hundred reads were due in the stall, spread evenly over their waits.
        let waited = response
            .to_hdr()
            .unwrap()
            .count_between(50_000_000_000, u64::MAX);
        assert!(
            (70..=90).contains(&waited),
            "{waited} reads waited 50 ms and more"
        );
    }

    #[test]
    fn a_read_belongs_to_the_window_by_its_own_end_however_late_the_window_closes() {
        /// Every read takes so long.
        struct Taking(Duration);
        impl Reader for Taking {
            async fn read(&self, _number: u64) -> Result<ReadCost, ReadError> {
                tokio::time::sleep(self.0).await;
                Ok(ReadCost::default())
            }
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let start = Instant::now();
        let window = Duration::from_millis(400);
        let schedule = Schedule::new(start, 100.0, window).unwrap();
        let tally = Arc::new(Tally::new());
        let reader = Arc::new(Taking(Duration::from_millis(100)));
        let close = || {
            std::thread::sleep(Duration::from_millis(300));
            tally.counts()
        };
        let (at_close, due) =
            drive(runtime, reader, &tally, schedule, start + window, close).unwrap();
        assert_eq!((due.due, due.abandoned), (40, 0));
        // The ten reads of the last 100 ms end after the window, though before it is closed.
        assert_eq!(at_close.reads + at_close.late_reads, 40);
        assert!(at_close.late_reads >= 10, "{at_close:?}");
        assert!(at_close.reads >= 20, "{at_close:?}");
        assert_eq!(tally.times().response.count(), 40);
    }

    #[test]
    fn reads_at_a_rate_take_the_connections_of_a_pool_in_turn_however_few_workers_there_are() {
        struct Pool(Arc<[AtomicU64; 10]>);
        impl Reader for Pool {
            async fn read(&self, number: u64) -> Result<ReadCost, ReadError> {
                self.0[number as usize % 10].fetch_add(1, Ordering::Relaxed);
                Ok(ReadCost::default())
            }
        }
        let used = Arc::new(std::array::from_fn(|_| AtomicU64::new(0)));
        run(Pool(Arc::clone(&used)), Instant::now(), 200.0, 200);
        let used: Vec<u64> = used.iter().map(|it| it.load(Ordering::Relaxed)).collect();
        assert_eq!(used, [4; 10]);
    }

    #[test]
    fn reads_that_never_finish_count_with_the_time_they_waited() {
        struct Never;
        impl Reader for Never {
            async fn read(&self, _number: u64) -> Result<ReadCost, ReadError> {
                std::future::pending().await
            }
        }
        let (tally, due) = run(Never, Instant::now(), 100.0, 100);
        assert_eq!((due.due, due.abandoned), (10, 10));
        assert_eq!(tally.counts().reads, 0);
        let response = Histogram::from_recorder(&tally.times().response);
        assert_eq!(response.count, 10);
        assert!(response.min_us >= 2_900_000.0, "{}", response.min_us);
    }

    #[test]
    fn a_rate_that_nobody_can_keep_ends_promptly_and_its_row_says_so() {
        let start = Instant::now();
        let (tally, due) = run(super::super::reader::NoReader, start, 1e9, 200);
        assert!(start.elapsed() < Duration::from_secs(20));
        assert_eq!(due.due, 200_000_000);
        let counts = tally.counts();
        let kept = crate::results::cost::Schedule::new(due.due, counts.reads, due.abandoned).kept;
        assert!(!kept, "{counts:?}");
        let response = Histogram::from_recorder(&tally.times().response);
        assert_eq!(response.count, due.due);
        let all = counts.reads + counts.late_reads + due.abandoned;
        assert_eq!(all, due.due);
    }

    #[test]
    fn a_failing_read_ends_the_row_with_its_cause() {
        struct Failing;
        impl Reader for Failing {
            async fn read(&self, _number: u64) -> Result<ReadCost, ReadError> {
                Err(ReadError::Missing)
            }
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
        let start = Instant::now();
        let window = Duration::from_secs(60);
        let schedule = Schedule::new(start, 100.0, window).unwrap();
        let tally = Arc::new(Tally::new());
        let result = drive(
            runtime,
            Arc::new(Failing),
            &tally,
            schedule,
            start + window,
            || (),
        );
        assert!(matches!(result, Err(ReadError::Missing)));
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}
