//! What the operating system says about this process.
//!
//! `getrusage` has no safe wrapper among the crates in use, so this module calls it itself.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::time::Duration;

/// Processor time of all threads.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ProcessorTime {
    pub(crate) user: Duration,
    pub(crate) system: Duration,
}

/// Processor time of this process (`RUSAGE_SELF`) or its children (`RUSAGE_CHILDREN`).
fn processor_time_of(who: libc::c_int) -> ProcessorTime {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the pointer is valid for a write of the structure, and the structure is read only if
    // the call says that it was filled in.
    let usage = unsafe {
        if libc::getrusage(who, usage.as_mut_ptr()) != 0 {
            return ProcessorTime::default();
        }
        usage.assume_init()
    };
    let duration = |time: libc::timeval| {
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        let micros = u64::try_from(time.tv_usec).unwrap_or(0);
        Duration::from_secs(seconds) + Duration::from_micros(micros)
    };
    ProcessorTime {
        user: duration(usage.ru_utime),
        system: duration(usage.ru_stime),
    }
}

pub(crate) fn processor_time() -> ProcessorTime {
    processor_time_of(libc::RUSAGE_SELF)
}

pub(crate) fn children_processor_time() -> ProcessorTime {
    processor_time_of(libc::RUSAGE_CHILDREN)
}

/// Resident memory, where the system has `/proc`.
pub(crate) fn resident_bytes() -> Option<u64> {
    status_bytes("VmRSS:")
}

/// The highest resident memory so far, where the system has `/proc`.
pub(crate) fn peak_resident_bytes() -> Option<u64> {
    status_bytes("VmHWM:")
}

fn status_bytes(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
