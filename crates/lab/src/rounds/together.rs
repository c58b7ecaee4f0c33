//! Contenders of several threads: all start together, each on a core of its own.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{BATCH, Operation, Pace, PerOperation, summarize};

/// One thing to be timed that several threads do at once.
pub struct Crowd<'a> {
    /// What it is called in a table.
    pub name: &'static str,
    /// What each thread does.
    pub operations: Vec<Box<dyn Operation + Send + 'a>>,
}

/// Each crowd once in each round, as [`measure`](super::measure) does it. A figure is the time of
/// one operation on one thread: the time of all threads over the operations of all.
pub fn measure_together(
    crowds: &mut [Crowd<'_>],
    pace: Pace,
    interrupt: &AtomicBool,
) -> Vec<Option<PerOperation>> {
    let mut rounds = vec![Vec::new(); crowds.len()];
    for round in 0..=pace.rounds {
        for (crowd, times) in crowds.iter_mut().zip(&mut rounds) {
            let Some(ns) = take_turn(&mut crowd.operations, pace.time, interrupt) else {
                break;
            };
            if round > 0 {
                times.push(ns);
            }
        }
    }
    rounds.into_iter().map(summarize).collect()
}

/// What one thread did in its turn.
struct Done {
    operations: u64,
    time: Duration,
}

fn take_turn(
    operations: &mut [Box<dyn Operation + Send + '_>],
    time: Duration,
    interrupt: &AtomicBool,
) -> Option<f64> {
    let gate = Gate::for_threads(operations.len());
    let done: Vec<Option<Done>> = thread::scope(|scope| {
        let threads: Vec<_> = operations
            .iter_mut()
            .enumerate()
            .map(|(index, operation)| {
                let gate = &gate;
                scope.spawn(move || {
                    run_on_core(index);
                    gate.pass();
                    repeat(operation.as_mut(), time, interrupt)
                })
            })
            .collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined
            .map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let done: Vec<Done> = done.into_iter().collect::<Option<_>>()?;
    let time: Duration = done.iter().map(|done| done.time).sum();
    let operations: u64 = done.iter().map(|done| done.operations).sum();
    Some(time.as_nanos() as f64 / operations as f64)
}

/// Unlike a turn of one thread this one times preparation too: a thread that waited for its own
/// would let the others run alone. Operations of crowds prepare nothing.
fn repeat(
    operation: &mut (dyn Operation + Send + '_),
    time: Duration,
    interrupt: &AtomicBool,
) -> Option<Done> {
    let started = Instant::now();
    let mut operations = 0;
    loop {
        operation.prepare(BATCH);
        operation.run(BATCH);
        operations += BATCH;
        let elapsed = started.elapsed();
        if elapsed >= time {
            return Some(Done {
                operations,
                time: elapsed,
            });
        }
        if interrupt.load(Ordering::Relaxed) {
            return None;
        }
    }
}

/// Lets threads go on at once when all have come. Spinning, because a wake-up by the kernel comes
/// tens of microseconds apart for each.
struct Gate {
    threads: usize,
    arrived: AtomicUsize,
}

impl Gate {
    fn for_threads(threads: usize) -> Self {
        Gate {
            threads,
            arrived: AtomicUsize::new(0),
        }
    }

    fn pass(&self) {
        self.arrived.fetch_add(1, Ordering::AcqRel);
        while self.arrived.load(Ordering::Acquire) < self.threads {
            // With fewer cores than threads a pure spin would keep the others from coming.
            thread::yield_now();
        }
    }
}

/// Binds the calling thread to the core with this number among those it may use; where that is not
/// possible, the scheduler decides.
fn run_on_core(index: usize) {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

        let Ok(allowed) = sched_getaffinity(None) else {
            return;
        };
        let usable: Vec<usize> = (0..CpuSet::MAX_CPU)
            .filter(|cpu| allowed.is_set(*cpu))
            .collect();
        if usable.len() > index {
            let mut own = CpuSet::new();
            own.set(usable[index]);
            // Refused in some sandboxes; the figures are then noisier and still right.
            let _ = sched_setaffinity(None, &own);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = index;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_a_crowd_run_at_the_same_time() {
        let running = AtomicUsize::new(0);
        let met = AtomicBool::new(false);
        let meet = || {
            |_: u64| {
                running.fetch_add(1, Ordering::SeqCst);
                if running.load(Ordering::SeqCst) == 2 {
                    met.store(true, Ordering::SeqCst);
                }
                thread::sleep(Duration::from_millis(1));
                running.fetch_sub(1, Ordering::SeqCst);
            }
        };
        let mut crowds = [Crowd {
            name: "two",
            operations: vec![Box::new(meet()), Box::new(meet())],
        }];
        let pace = Pace {
            rounds: 2,
            time: Duration::from_millis(10),
        };
        let times = measure_together(&mut crowds, pace, &AtomicBool::new(false));
        assert!(met.load(Ordering::SeqCst));
        let time = times[0].expect("both rounds were done");
        // A batch of about a millisecond, on each of the two.
        assert!(time.median_ns >= 1e6 / BATCH as f64, "{time:?}");
    }
}
