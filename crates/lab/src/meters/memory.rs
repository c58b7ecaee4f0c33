//! Memory that this process holds and that is left to take.

#![allow(unsafe_code)] // rustix has no `getrusage`, the only source on macOS.

use std::fs;

/// Resident memory of this process at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ProcessMemory {
    /// Bytes resident now.
    resident_bytes: u64,
    /// The most it ever held.
    peak_bytes: u64,
}

/// Bytes of this process that are resident now; `None` where the platform does not tell.
#[must_use]
pub fn resident() -> Option<u64> {
    of_this_process().map(|memory| memory.resident_bytes)
}

/// The most bytes that this process ever held resident.
#[must_use]
pub fn peak_resident() -> Option<u64> {
    if cfg!(target_os = "macos") {
        return peak_by_getrusage();
    }
    of_this_process().map(|memory| memory.peak_bytes)
}

/// Bytes of memory in the machine.
#[must_use]
pub fn total() -> Option<u64> {
    if cfg!(target_os = "macos") {
        return crate::stamp::sysctl("hw.memsize")?.parse().ok();
    }
    field_kib(&fs::read_to_string("/proc/meminfo").ok()?, "MemTotal")
}

/// Bytes that this process can still take without swapping: what the kernel reckons is available,
/// or less if a control group leaves less. `None` where the platform does not tell.
#[must_use]
pub fn available_memory() -> Option<u64> {
    let machine = field_kib(&fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable")?;
    Some(super::cgroup::available().map_or(machine, |group| machine.min(group)))
}

fn of_this_process() -> Option<ProcessMemory> {
    parse_status(&fs::read_to_string("/proc/self/status").ok()?)
}

/// The kernel batches these counters per core, so they may be off by some pages per core;
/// `smaps_rollup` is exact but walks the whole address space.
fn parse_status(status: &str) -> Option<ProcessMemory> {
    Some(ProcessMemory {
        resident_bytes: field_kib(status, "VmRSS")?,
        peak_bytes: field_kib(status, "VmHWM")?,
    })
}

/// The field `name` of a `Name:   123 kB` file, in bytes.
fn field_kib(text: &str, name: &str) -> Option<u64> {
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kib: u64 = value.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(target_os = "macos")]
fn peak_by_getrusage() -> Option<u64> {
    // SAFETY: all zeros is a valid `rusage`: it holds integers only.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid place for the result and outlives the call.
    let failed = unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) } != 0;
    // Bytes on macOS, unlike the KiB of other systems.
    (!failed).then(|| u64::try_from(usage.ru_maxrss).ok())?
}

#[cfg(not(target_os = "macos"))]
fn peak_by_getrusage() -> Option<u64> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn pages_that_were_touched_are_resident_and_stay_in_the_peak_when_freed() {
        let before = resident().unwrap();
        let block = vec![1_u8; 64 << 20];
        std::hint::black_box(&block);
        let during = resident().unwrap();
        drop(block);
        assert!(during >= before + 60 * MIB, "{before} {during}");
        assert!(peak_resident().unwrap() >= before + 60 * MIB);
    }

    #[test]
    fn less_is_available_than_the_machine_has() {
        let (available, total) = (available_memory().unwrap(), total().unwrap());
        assert!(available > 0 && available < total, "{available} {total}");
    }

    #[test]
    fn a_status_file_is_read_in_bytes_and_a_kernel_thread_has_no_memory() {
        let status = "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        let expected = ProcessMemory {
            resident_bytes: MIB,
            peak_bytes: 2 * MIB,
        };
        assert_eq!(parse_status(status), Some(expected));
        assert_eq!(parse_status("Name:\tkthreadd\n"), None);
        assert_eq!(parse_status("VmHWM: x kB\nVmRSS: 1 kB\n"), None);
    }
}
