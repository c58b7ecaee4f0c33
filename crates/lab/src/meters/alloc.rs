//! Allocator work: how often memory is asked for and given back, how much, and for how long.
//!
//! [`CountingAllocator`] forwards to the system's allocator. It counts only between [`start`] and
//! [`stop`], because two clock readings around every call perturb what runs: allocations are counted
//! in a pass of their own. Counting itself never allocates.

#![allow(unsafe_code)] // `GlobalAlloc` is an unsafe trait.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The system's allocator, counted. A binary installs it:
///
/// ```
/// use hotcopy_lab::meters::alloc::{self, CountingAllocator};
///
/// #[global_allocator]
/// static ALLOCATOR: CountingAllocator = CountingAllocator;
///
/// assert!(alloc::is_installed());
/// alloc::start();
/// drop(vec![0_u8; 1_000]);
/// let reading = alloc::stop();
/// assert!(reading.allocations >= 1 && reading.bytes >= 1_000);
/// ```
///
/// While nothing is counted a call costs one relaxed load more than the system's.
#[derive(Debug, Clone, Copy, Default)]
pub struct CountingAllocator;

/// Allocator work of all threads between [`start`] and [`stop`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AllocatorReading {
    /// Calls to allocate or reallocate.
    pub allocations: u64,
    /// Calls to free. (A reallocation is one allocation and no free.)
    pub frees: u64,
    /// Bytes asked for; a reallocation asks for its whole new size.
    pub bytes: u64,
    /// Bytes given back; a reallocation gives back its whole old size. What is held has grown by
    /// `bytes - freed_bytes`, which is negative if older memory was freed.
    pub freed_bytes: u64,
    /// Wall time inside the allocator, summed over threads; the mean cost of the clock is subtracted.
    pub time: Duration,
}

/// Starts counting from zero.
///
/// Calls that are in the allocator of another thread at this moment may or may not be counted.
pub fn start() {
    COUNTING.store(false, Relaxed);
    let clock_ps = clock_pair_ps();
    CLOCK_PAIR_PS.store(clock_ps, Relaxed);
    for stripe in &STRIPES {
        for counter in [
            &stripe.allocations,
            &stripe.frees,
            &stripe.bytes,
            &stripe.freed_bytes,
            &stripe.time_ns,
        ] {
            counter.store(0, Relaxed);
        }
    }
    COUNTING.store(true, Relaxed);
}

/// Stops counting and returns what was counted since [`start`].
pub fn stop() -> AllocatorReading {
    COUNTING.store(false, Relaxed);
    let mut sum = AllocatorReading::default();
    let mut time_ns = 0;
    for stripe in &STRIPES {
        sum.allocations += stripe.allocations.load(Relaxed);
        sum.frees += stripe.frees.load(Relaxed);
        sum.bytes += stripe.bytes.load(Relaxed);
        sum.freed_bytes += stripe.freed_bytes.load(Relaxed);
        time_ns += stripe.time_ns.load(Relaxed);
    }
    let calls = sum.allocations + sum.frees;
    let clock_ns = calls.saturating_mul(CLOCK_PAIR_PS.load(Relaxed)) / 1_000;
    sum.time = Duration::from_nanos(time_ns.saturating_sub(clock_ns));
    sum
}

/// Whether this program runs on a [`CountingAllocator`]; without it every reading is zero.
///
/// Not for use between [`start`] and [`stop`].
#[must_use]
pub fn is_installed() -> bool {
    start();
    drop(black_box(Box::new(0_u64)));
    stop().allocations > 0
}

static COUNTING: AtomicBool = AtomicBool::new(false);
static CLOCK_PAIR_PS: AtomicU64 = AtomicU64::new(0);

/// More than the cores that a load generator uses; threads beyond it share, which is only slower.
const STRIPE_COUNT: usize = 64;

static STRIPES: [Stripe; STRIPE_COUNT] = [const { Stripe::new() }; STRIPE_COUNT];
static NEXT_STRIPE: AtomicUsize = AtomicUsize::new(0);

/// Counters of one thread, apart from every other's: 128 bytes, since some processors fetch cache
/// lines in pairs.
#[repr(align(128))]
struct Stripe {
    allocations: AtomicU64,
    frees: AtomicU64,
    bytes: AtomicU64,
    freed_bytes: AtomicU64,
    time_ns: AtomicU64,
}

impl Stripe {
    const fn new() -> Self {
        Self {
            allocations: AtomicU64::new(0),
            frees: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            freed_bytes: AtomicU64::new(0),
            time_ns: AtomicU64::new(0),
        }
    }

    /// The calling thread's. The thread-local is constant and has no destructor: reaching it neither
    /// allocates nor fails while a thread ends.
    fn of_thread() -> &'static Self {
        thread_local! {
            static INDEX: Cell<usize> = const { Cell::new(usize::MAX) };
        }
        let index = INDEX.with(|index| {
            if index.get() == usize::MAX {
                index.set(NEXT_STRIPE.fetch_add(1, Relaxed) % STRIPE_COUNT);
            }
            index.get()
        });
        &STRIPES[index]
    }

    fn allocated(&self, bytes: usize, time: Duration) {
        self.allocations.fetch_add(1, Relaxed);
        self.bytes.fetch_add(bytes as u64, Relaxed);
        self.took(time);
    }

    fn reallocated(&self, from_bytes: usize, to_bytes: usize, time: Duration) {
        self.freed_bytes.fetch_add(from_bytes as u64, Relaxed);
        self.allocated(to_bytes, time);
    }

    fn freed(&self, bytes: usize, time: Duration) {
        self.frees.fetch_add(1, Relaxed);
        self.freed_bytes.fetch_add(bytes as u64, Relaxed);
        self.took(time);
    }

    fn took(&self, time: Duration) {
        // A single call that lasts 584 years does not happen: the cast keeps all.
        self.time_ns.fetch_add(time.as_nanos() as u64, Relaxed);
    }
}

/// Calls `allocate` for `bytes`; counts and times it if counting is on.
fn counted_allocation(bytes: usize, allocate: impl FnOnce() -> *mut u8) -> *mut u8 {
    if !COUNTING.load(Relaxed) {
        return allocate();
    }
    let start = Instant::now();
    let pointer = allocate();
    Stripe::of_thread().allocated(bytes, start.elapsed());
    pointer
}

// SAFETY: every call is forwarded to `System` with the caller's own arguments, and its result is
// returned unchanged; what is added touches only atomics and a constant thread-local.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the contract of `alloc`, which is `System`'s too.
        counted_allocation(layout.size(), || unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // The default would allocate and then write zeros over fresh pages that are zero already.
        // SAFETY: the caller upholds the contract of `alloc_zeroed`, which is `System`'s too.
        counted_allocation(layout.size(), || unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // The default would always copy, where the system often grows in place.
        // SAFETY: the caller upholds the contract of `realloc`; `pointer` came from `System`.
        let reallocate = || unsafe { System.realloc(pointer, layout, new_size) };
        if !COUNTING.load(Relaxed) {
            return reallocate();
        }
        let start = Instant::now();
        let pointer = reallocate();
        Stripe::of_thread().reallocated(layout.size(), new_size, start.elapsed());
        pointer
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`; `pointer` came from `System`.
        let free = || unsafe { System.dealloc(pointer, layout) };
        if !COUNTING.load(Relaxed) {
            return free();
        }
        let start = Instant::now();
        free();
        Stripe::of_thread().freed(layout.size(), start.elapsed());
    }
}

/// What two clock readings around nothing measure, in picoseconds: the part of every timed call that
/// is the clock's. The least mean of several batches, since only the machine's noise can add to it.
fn clock_pair_ps() -> u64 {
    const BATCHES: u32 = 16;
    const PAIRS: u32 = 512;
    (0..BATCHES)
        .map(|_| {
            let batch: Duration = (0..PAIRS)
                .map(|_| {
                    let start = Instant::now();
                    black_box(&start).elapsed()
                })
                .sum();
            u64::try_from(batch.as_nanos())
                .unwrap_or(u64::MAX)
                .saturating_mul(1_000)
                / u64::from(PAIRS)
        })
        .min()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_on_another_allocator_says_so() {
        assert!(!is_installed());
    }

    #[test]
    fn the_clock_costs_nanoseconds_and_not_nothing() {
        let pair = clock_pair_ps();
        assert!(pair > 1_000 && pair < 20_000_000, "{pair} ps");
    }

    #[test]
    fn no_two_stripes_share_a_cache_line() {
        assert_eq!(size_of::<Stripe>() % 128, 0);
    }
}
