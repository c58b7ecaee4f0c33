//! Everything a row reads off its own process, at the two ends of the window.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::super::clock::monotonic_now;
use super::super::tally::{Counts, Tally};
use super::{AllocatorWork, Due, RowReading};
use crate::connect::WireBytes;
use crate::meters::cpu::{ThreadsCpu, process_cpu};
use crate::meters::{alloc, memory};
use crate::results::Histogram;

/// The readings at the start of the window.
pub(super) struct WindowStart {
    at: Instant,
    clock: Duration,
    cpu: Duration,
    threads: ThreadsCpu,
    wire_read: u64,
    wire_written: u64,
    count_allocations: bool,
}

/// The differences over the window, until the meters were read.
pub(super) struct Window {
    wall: Duration,
    clock: Range<Duration>,
    counts: Counts,
    cpu: Duration,
    busiest_thread_share: Option<f64>,
    wire_read: u64,
    wire_written: u64,
    resident_end_bytes: Option<u64>,
    resident_peak_bytes: Option<u64>,
    allocator: Option<AllocatorWork>,
}

impl WindowStart {
    pub(super) fn open(wire: &WireBytes, count_allocations: bool) -> Self {
        let threads = ThreadsCpu::snapshot();
        if count_allocations {
            alloc::start();
        }
        WindowStart {
            threads,
            count_allocations,
            wire_read: wire.read(),
            wire_written: wire.written(),
            cpu: process_cpu(),
            clock: monotonic_now(),
            at: Instant::now(),
        }
    }

    pub(super) fn close(self, wire: &WireBytes, tally: &Tally) -> Window {
        let wall = self.at.elapsed();
        let counts = tally.counts();
        let cpu = process_cpu().saturating_sub(self.cpu);
        let (wire_read, wire_written) = (wire.read(), wire.written());
        let clock = self.clock..monotonic_now();
        let allocator = self.count_allocations.then(|| {
            let reading = alloc::stop();
            AllocatorWork {
                allocations: reading.allocations,
                frees: reading.frees,
                bytes: reading.bytes,
                time: reading.time,
            }
        });
        Window {
            wall,
            clock,
            counts,
            cpu,
            busiest_thread_share: ThreadsCpu::snapshot().busiest_share_since(&self.threads, wall),
            wire_read: wire_read - self.wire_read,
            wire_written: wire_written - self.wire_written,
            resident_end_bytes: memory::resident(),
            resident_peak_bytes: memory::peak_resident(),
            allocator,
        }
    }
}

impl Window {
    /// The reading of a closed loop, whose reads go on until the meters are read.
    pub(super) fn into_reading(self, tally: &Tally, reads_per_sample: u64) -> RowReading {
        let (counts, wall) = (self.counts, self.wall);
        self.reading(tally, counts, wall, reads_per_sample)
    }

    /// The reading of an open loop over its scheduled `window`. What finished in it is counted only
    /// now: a worker may end a read in time and be held up before it says so.
    pub(super) fn into_scheduled_reading(
        self,
        tally: &Tally,
        window: Duration,
        due: Due,
    ) -> RowReading {
        let counts = tally.counts();
        let reads_at_close = counts.reads + self.counts.late_reads;
        RowReading {
            reads_at_close,
            due: Some(due),
            ..self.reading(tally, counts, window, 1)
        }
    }

    /// Distributions are taken from `tally` as it stands now, so that reads due in the window that
    /// finished after it are in them.
    fn reading(
        self,
        tally: &Tally,
        counts: Counts,
        window: Duration,
        reads_per_sample: u64,
    ) -> RowReading {
        let times = tally.times();
        let scheduled = times.response.count() > 0;
        let optional = |recorder| scheduled.then(|| Histogram::from_recorder(recorder));
        RowReading {
            window,
            wall: self.wall,
            clock: self.clock,
            reads: counts.reads,
            reads_at_close: counts.reads,
            payload_bytes: counts.payload_bytes,
            wire_out_bytes: self.wire_written,
            wire_in_bytes: self.wire_read,
            decodes: counts.decodes,
            decode_time: counts.decode_time,
            stale_reads: counts.stale_reads,
            cpu: self.cpu,
            busiest_thread_share: self.busiest_thread_share,
            resident_end_bytes: self.resident_end_bytes,
            resident_peak_bytes: self.resident_peak_bytes,
            allocator: self.allocator,
            due: None,
            lag: optional(&times.lag),
            service: Histogram::from_recorder(&times.service),
            response: optional(&times.response),
            reads_per_sample,
            sightings: super::Sightings::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tally::{ReadCost, ReadTimes};
    use super::*;

    #[test]
    fn the_window_of_an_open_loop_is_as_long_as_scheduled_however_late_the_meters_are_read() {
        let (wire, tally) = (WireBytes::default(), Tally::new());
        let scheduled = Duration::from_millis(10);
        let times = ReadTimes {
            lag: Duration::ZERO,
            service: Duration::from_millis(1),
        };
        let start = WindowStart::open(&wire, false);
        for worker in 0..10 {
            tally.finished(worker, ReadCost::default(), times);
        }
        tally.finished_late(0, times);
        std::thread::sleep(4 * scheduled);
        let window = start.close(&wire, &tally);
        // Ended in time, by a worker that was held up before it said so; and one later still.
        tally.finished(0, ReadCost::default(), times);
        tally.finished_late(0, times);
        let due = Due {
            due: 13,
            abandoned: 0,
        };
        let reading = window.into_scheduled_reading(&tally, scheduled, due);
        assert_eq!(reading.window, scheduled);
        assert!(reading.wall >= 4 * scheduled);
        assert_eq!((reading.reads, reading.reads_at_close), (11, 12));
        assert_eq!(reading.service.count, 13);
    }
}
