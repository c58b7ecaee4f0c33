//! CPU time of this process, of its threads, and of another process, in nanoseconds of the
//! kernel's scheduler (not the 10 ms ticks of `/proc/PID/stat`).

#![allow(unsafe_code)] // Reading another process's CPU clock has no safe wrapper in rustix.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// CPU time of this process since it started, user and system, all threads, also those that ended.
#[must_use]
pub fn process_cpu() -> Duration {
    duration_of(clock_gettime(ClockId::ProcessCPUTime))
}

/// CPU time of the calling thread since it started, user and system.
#[must_use]
pub fn thread_cpu() -> Duration {
    duration_of(clock_gettime(ClockId::ThreadCPUTime))
}

fn duration_of(time: rustix::time::Timespec) -> Duration {
    // A CPU clock is never negative.
    Duration::try_from(time).unwrap_or_default()
}

/// The CPU clock of another process: all its threads, those that ended included.
///
/// `/proc/PID/schedstat` would be the leading thread's alone, which hides most of a threaded server.
#[derive(Debug, Clone, Copy)]
pub struct ProcessCpu {
    #[cfg(target_os = "linux")]
    clock: libc::clockid_t,
}

#[cfg(target_os = "linux")]
impl ProcessCpu {
    /// Opens the clock of `pid`.
    ///
    /// # Errors
    /// No such process.
    pub fn of(pid: u32) -> io::Result<Self> {
        let pid = libc::pid_t::try_from(pid)
            .ok()
            .filter(|&pid| pid > 0) // 0 would be this process
            .ok_or_else(|| io::Error::from_raw_os_error(libc::ESRCH))?;
        let mut clock = 0;
        // SAFETY: `clock` is a valid place for the result and outlives the call.
        match unsafe { libc::clock_getcpuclockid(pid, &raw mut clock) } {
            0 => Ok(Self { clock }),
            // This function returns its error instead of setting `errno`.
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }

    /// CPU time of the process since it started.
    ///
    /// # Errors
    /// The process has ended.
    pub fn read(&self) -> io::Result<Duration> {
        read_clock(self.clock)
    }
}

#[cfg(not(target_os = "linux"))]
impl ProcessCpu {
    /// Opens the clock of `pid`.
    ///
    /// # Errors
    /// Always `Unsupported` on this platform.
    pub fn of(_pid: u32) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// CPU time of the process since it started.
    ///
    /// # Errors
    /// Always `Unsupported` on this platform.
    pub fn read(&self) -> io::Result<Duration> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(target_os = "linux")]
fn read_clock(clock: libc::clockid_t) -> io::Result<Duration> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for the result and outlives the call; a clock that does not
    // exist (any more) is an error, not undefined.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    ))
}

/// One thread's name and CPU time.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ThreadCpu {
    name: String,
    cpu: Duration,
}

/// The busiest thread between two snapshots.
#[derive(Debug, Clone, PartialEq)]
pub struct BusiestThread {
    /// Its name, at most 15 bytes of it (the kernel keeps no more).
    pub name: String,
    /// Its CPU time over the wall time: 1 is a whole core.
    pub share: f64,
}

/// CPU times of this process's threads at one moment, to find a load generator that is itself the
/// limit. A thread that ended before the later snapshot is not in it.
#[derive(Debug, Clone, Default)]
pub struct ThreadsCpu {
    threads: BTreeMap<u32, ThreadCpu>,
}

impl ThreadsCpu {
    /// Reads every thread of this process; empty where the platform does not tell.
    ///
    /// Costs some microseconds per thread: take it outside the measured window.
    #[must_use]
    pub fn snapshot() -> Self {
        Self {
            threads: own_threads(),
        }
    }

    /// The thread that used most CPU since `earlier`, `wall` ago.
    #[must_use]
    pub fn busiest_since(&self, earlier: &Self, wall: Duration) -> Option<BusiestThread> {
        if wall.is_zero() {
            return None;
        }
        let (thread, used) = self
            .threads
            .iter()
            .map(|(tid, now)| {
                let before = earlier.threads.get(tid).map_or(Duration::ZERO, |t| t.cpu);
                // Less than before: the thread ended and its number was given to another.
                (now, now.cpu.checked_sub(before).unwrap_or(now.cpu))
            })
            .max_by_key(|&(_, used)| used)?;
        Some(BusiestThread {
            name: thread.name.clone(),
            share: used.as_secs_f64() / wall.as_secs_f64(),
        })
    }

    /// Share of a core that the busiest thread used since `earlier`, `wall` ago.
    #[must_use]
    pub fn busiest_share_since(&self, earlier: &Self, wall: Duration) -> Option<f64> {
        self.busiest_since(earlier, wall)
            .map(|busiest| busiest.share)
    }
}

#[cfg(target_os = "linux")]
fn own_threads() -> BTreeMap<u32, ThreadCpu> {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else {
        return BTreeMap::new();
    };
    tasks
        .filter_map(|task| {
            let task = task.ok()?;
            let tid: u32 = task.file_name().to_str()?.parse().ok()?;
            // A thread may end while we look at it: leave it out.
            let cpu = read_clock(thread_clock(tid)?).ok()?;
            let name = std::fs::read_to_string(task.path().join("comm")).ok()?;
            Some((
                tid,
                ThreadCpu {
                    name: name.trim_end().to_owned(),
                    cpu,
                },
            ))
        })
        .collect()
}

#[cfg(not(target_os = "linux"))]
fn own_threads() -> BTreeMap<u32, ThreadCpu> {
    BTreeMap::new()
}

/// The clock of a thread of this process by its kernel number. The layout is the kernel's interface
/// to user space (`pthread_getcpuclockid` builds the same): the number's complement above three bits
/// that say "per thread" (4) and "scheduler time" (2).
#[cfg(target_os = "linux")]
fn thread_clock(tid: u32) -> Option<libc::clockid_t> {
    let tid = libc::pid_t::try_from(tid).ok()?;
    Some((!tid << 3) | 4 | 2)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};
    use std::sync::mpsc;
    use std::thread;
    use std::time::Instant;

    use super::*;

    /// Keeps the calling thread on the processor for `cpu` of its own CPU time.
    fn burn(cpu: Duration) {
        let start = thread_cpu();
        while thread_cpu() - start < cpu {
            std::hint::black_box(0);
        }
    }

    #[test]
    fn a_thread_that_works_is_charged_to_thread_and_process() {
        let (process, thread) = (process_cpu(), thread_cpu());
        burn(Duration::from_millis(20));
        assert!(thread_cpu() - thread >= Duration::from_millis(20));
        assert!(process_cpu() - process >= Duration::from_millis(20));
    }

    #[test]
    fn a_process_read_from_outside_includes_threads_that_are_not_its_leader() {
        let meter = ProcessCpu::of(std::process::id()).unwrap();
        let (inside, outside) = (process_cpu(), meter.read().unwrap());
        // Ended threads stay in the sum too.
        thread::spawn(|| burn(Duration::from_millis(30)))
            .join()
            .unwrap();
        let outside = meter.read().unwrap() - outside;
        assert!(outside >= Duration::from_millis(30), "{outside:?}");
        assert!(process_cpu() - inside >= outside);
    }

    #[test]
    fn a_child_that_sleeps_uses_next_to_nothing_and_one_that_ended_is_an_error() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let meter = ProcessCpu::of(child.id()).unwrap();
        thread::sleep(Duration::from_millis(20));
        let used = meter.read().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(used < Duration::from_millis(20), "{used:?}");
        assert!(meter.read().is_err());
        assert!(ProcessCpu::of(child.id()).is_err());
        assert!(ProcessCpu::of(0).is_err());
        assert!(ProcessCpu::of(u32::MAX).is_err());
    }

    #[test]
    fn a_busy_child_shows_its_cpu() {
        let mut child = Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let meter = ProcessCpu::of(child.id()).unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while meter.read().unwrap() < Duration::from_millis(30) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
        let used = meter.read().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(used >= Duration::from_millis(30), "{used:?}");
    }

    #[test]
    fn the_busiest_thread_is_found_by_name() {
        let (burned, wait_burned) = mpsc::channel();
        let (release, wait_release) = mpsc::channel::<()>();
        let (before, start) = (ThreadsCpu::snapshot(), Instant::now());
        let worker = thread::Builder::new()
            .name("burner".into())
            .spawn(move || {
                burn(Duration::from_millis(30));
                burned.send(()).unwrap();
                wait_release.recv().unwrap();
            })
            .unwrap();
        wait_burned.recv().unwrap();
        let mut after = ThreadsCpu::snapshot();
        let wall = start.elapsed();
        release.send(()).unwrap();
        worker.join().unwrap();
        // Threads of tests beside this one may burn more.
        let own = rustix::thread::gettid().as_raw_nonzero().get();
        after
            .threads
            .retain(|tid, thread| i64::from(*tid) == i64::from(own) || thread.name == "burner");
        assert_eq!(after.threads.len(), 2);
        let busiest = after.busiest_since(&before, wall).unwrap();
        assert_eq!(busiest.name, "burner");
        assert!(busiest.share > 0.0 && busiest.share < 1.05, "{busiest:?}");
        assert_eq!(
            after.busiest_share_since(&before, wall),
            Some(busiest.share)
        );
    }

    #[test]
    fn no_wall_time_and_no_threads_have_no_busiest_one() {
        let now = ThreadsCpu::snapshot();
        assert_eq!(now.busiest_since(&now, Duration::ZERO), None);
        let nobody = ThreadsCpu::default();
        assert_eq!(nobody.busiest_since(&now, Duration::from_secs(1)), None);
    }

    #[test]
    fn a_reused_thread_number_counts_from_zero() {
        let at = |name: &str, ms| ThreadsCpu {
            threads: BTreeMap::from([(
                7,
                ThreadCpu {
                    name: name.into(),
                    cpu: Duration::from_millis(ms),
                },
            )]),
        };
        let busiest = at("new", 10)
            .busiest_since(&at("old", 900), Duration::from_millis(100))
            .unwrap();
        assert!((busiest.share - 0.1).abs() < 1e-9);
    }
}
