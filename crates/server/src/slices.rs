//! How long the scheduler lets a loop run at once.
//!
//! A loop's turns are short, so it needs the processor soon rather than for long. Where all cores are busy (a client
//! on the same machine is copying a large reply, say), a thread that wakes up waits until the slice of one that runs
//! has ended, and those are milliseconds by default. One that asks for shorter slices itself may
//! go first. Linux has known such a wish of ordinary threads since 6.12; others ignore it.

#![allow(unsafe_code, reason = "sched_setattr has no safe wrapper")]

/// The shortest that Linux grants.
#[cfg(target_os = "linux")]
const SLICE_NS: u64 = 100_000;

/// As `sched_setattr` takes it in its first version.
#[cfg(target_os = "linux")]
#[repr(C)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    /// For ordinary threads, the slice.
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
}

/// Asks for short slices for this thread. Its nice value and policy stay the ordinary ones; a thread that has others is
/// left alone, and so is one whose wish is refused.
#[cfg(target_os = "linux")]
pub fn ask_for_short_ones() {
    let size = size_of::<Attributes>();
    let mut attributes = Attributes {
        size: size as u32,
        policy: 0,
        flags: 0,
        nice: 0,
        priority: 0,
        runtime_ns: 0,
        deadline_ns: 0,
        period_ns: 0,
    };
    // SAFETY: the pointer is good for a write of `size` bytes, which is as many as are written at the most.
    let outcome =
        unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size, 0) };
    let is_ordinary = attributes.policy == libc::SCHED_OTHER.cast_unsigned();
    if outcome != 0 || !is_ordinary {
        return;
    }
    attributes.size = size as u32;
    attributes.runtime_ns = SLICE_NS;
    // SAFETY: the structure is as long as it says.
    unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
}

/// Nothing where there is no such wish.
#[cfg(not(target_os = "linux"))]
pub fn ask_for_short_ones() {}
