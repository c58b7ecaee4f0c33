//! The counting allocator against programs whose allocations are known, in a process that does
//! nothing else.

#![allow(unsafe_code)] // An alignment of one's own is asked for through `std::alloc` only.

use std::alloc::Layout;
use std::cell::RefCell;
use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use hotcopy_lab::meters::alloc::{self, AllocatorReading, CountingAllocator};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() {
    let cases: [(&str, fn()); 9] = [
        ("the allocator is found installed", is_found),
        ("boxes of one size are counted exactly", boxes),
        ("growing asks for the whole new size", growing),
        ("zeroed memory is zero and not touched", zeroed),
        ("an alignment is kept", aligned),
        ("threads are summed exactly", || {
            threads(4, 10_000);
        }),
        ("more threads than stripes are summed too", || {
            threads(100, 100);
        }),
        ("threads may end while counting", ending_threads),
        ("nothing is counted while off", off),
    ];
    for (name, case) in cases {
        case();
        println!("test {name} ... ok");
    }
}

fn counted(run: impl FnOnce()) -> AllocatorReading {
    alloc::start();
    run();
    alloc::stop()
}

#[track_caller]
fn assert_counts(reading: &AllocatorReading, allocations: u64, frees: u64, bytes: u64) {
    assert_eq!(
        (reading.allocations, reading.frees, reading.bytes),
        (allocations, frees, bytes),
        "allocations, frees, bytes"
    );
}

fn is_found() {
    assert!(alloc::is_installed());
}

fn boxes() {
    let start = Instant::now();
    let reading = counted(|| {
        for i in 0..1_000_u64 {
            drop(black_box(Box::new([i; 8])));
        }
    });
    assert_counts(&reading, 1_000, 1_000, 64_000);
    assert!(reading.time <= start.elapsed());

    let mut kept = Vec::with_capacity(10);
    let reading = counted(|| kept.extend((0..10).map(|i: u64| Box::new(i))));
    assert_counts(&reading, 10, 0, 80);
    let reading = counted(|| kept.clear());
    assert_counts(&reading, 0, 10, 0);
}

fn growing() {
    let reading = counted(|| {
        let mut bytes: Vec<u8> = Vec::with_capacity(16);
        bytes.extend(0..16);
        bytes.reserve_exact(4_096 - 16);
        assert!(bytes.iter().copied().eq(0..16));
        bytes.shrink_to(100);
        assert!(bytes.iter().copied().eq(0..16));
        drop(black_box(bytes));
    });
    assert_counts(&reading, 3, 1, 16 + 4_096 + 100);
}

fn zeroed() {
    const SIZE: usize = 100_000;
    // Used memory first, which comes back from the allocator's own lists.
    drop(black_box(vec![0xff_u8; SIZE]));
    let reading = counted(|| {
        let bytes = black_box(vec![0_u8; SIZE]);
        assert!(bytes.iter().all(|&byte| byte == 0));
    });
    assert_counts(&reading, 1, 1, SIZE as u64);

    #[cfg(target_os = "linux")]
    {
        use hotcopy_lab::meters::memory::resident;
        let before = resident().unwrap();
        alloc::start();
        let large = black_box(vec![0_u8; 64 << 20]);
        let reading = alloc::stop();
        let after = resident().unwrap();
        assert_counts(&reading, 1, 0, 64 << 20);
        assert!(after < before + (32 << 20), "zeros were written: {after}");
        drop(large);
    }
}

fn aligned() {
    let layout = Layout::from_size_align(100, 4_096).unwrap();
    let reading = counted(|| {
        // SAFETY: the layout has a size.
        let pointer = unsafe { std::alloc::alloc(layout) };
        assert!(!pointer.is_null() && pointer.addr() % 4_096 == 0);
        // SAFETY: `pointer` was allocated with this layout just now.
        unsafe { std::alloc::dealloc(pointer, layout) };
    });
    assert_counts(&reading, 1, 1, 100);
}

fn threads(count: usize, boxes: u64) {
    // One barrier for all steps: some systems allocate it when it is first waited at.
    let step = Barrier::new(count + 1);
    let mut counted = None;
    let mut wall = Duration::ZERO;
    thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                step.wait(); // started: that allocated
                step.wait();
                for i in 0..boxes {
                    drop(black_box(Box::new(i)));
                }
                step.wait();
                step.wait(); // counted: now it may end, which frees
            });
        }
        step.wait();
        let start = Instant::now();
        alloc::start();
        step.wait();
        step.wait();
        counted = Some(alloc::stop());
        wall = start.elapsed();
        step.wait();
    });
    let (reading, all) = (counted.unwrap(), count as u64 * boxes);
    assert_counts(&reading, all, all, 8 * all);
    assert!(reading.time > Duration::ZERO);
    assert!(reading.time <= wall * u32::try_from(count).unwrap());
}

fn ending_threads() {
    /// Allocates when its thread ends, after other thread-locals may be gone.
    struct Last;
    impl Drop for Last {
        fn drop(&mut self) {
            drop(black_box(Box::new([0_u8; 1_000])));
        }
    }
    thread_local! {
        static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
    }
    let reading = counted(|| {
        for _ in 0..8 {
            thread::spawn(|| LAST.set(Some(Last))).join().unwrap();
        }
    });
    assert!(reading.bytes >= 8 * 1_000, "{reading:?}");
    assert!(
        reading.allocations >= 8 && reading.frees >= 8,
        "{reading:?}"
    );
}

fn off() {
    let before = counted(|| drop(black_box(Box::new(1_u8))));
    drop(black_box(Box::new(2_u8)));
    assert_counts(&before, 1, 1, 1);
    assert_eq!(counted(|| ()), AllocatorReading::default());
}
