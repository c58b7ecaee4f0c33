//! How the figures of a row follow from its readings: pure arithmetic, here and nowhere else. A
//! window without length gives zeros, never infinities, which JSON cannot hold.

use std::time::Duration;

use super::cost::{
    Allocator, ChangesOfRow, ClientCpu, DecodeTime, Load, Schedule, ServerCpu, ServerCpuSource,
    Transfer,
};
use super::{Histogram, Recorder};

const MIB: f64 = 1024.0 * 1024.0;
const SECONDS_PER_MINUTE: f64 = 60.0;

/// A schedule is kept if this share of the reads due finished in the window.
const KEPT_SHARE: f64 = 0.99;

/// Events a second in a window, for [`Row::throughput_per_s`](super::cost::Row::throughput_per_s).
#[must_use]
pub fn per_second(events: u64, window: Duration) -> f64 {
    ratio(events as f64, window.as_secs_f64())
}

fn per_minute(amount: f64, wall: Duration) -> f64 {
    ratio(amount, wall.as_secs_f64()) * SECONDS_PER_MINUTE
}

fn share(part: Duration, wall: Duration) -> f64 {
    ratio(part.as_secs_f64(), wall.as_secs_f64())
}

fn ratio(numerator: f64, denominator: f64) -> f64 {
    if denominator > 0.0 {
        numerator / denominator
    } else {
        0.0
    }
}

/// What the connections' counters had counted when they were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireReading {
    /// Bytes written.
    pub out_bytes: u64,
    /// Bytes read.
    pub in_bytes: u64,
    /// Reads that had finished by then.
    pub reads: u64,
}

impl Transfer {
    /// What was moved by `reads` with `payload_bytes` in a `window`.
    #[must_use]
    pub fn new(payload_bytes: u64, reads: u64, wire: WireReading, window: Duration) -> Self {
        // The wire is read once the window is over: only its reads' part belongs to the window.
        let part = match wire.reads {
            0 => 1.0,
            at_reading => reads as f64 / at_reading as f64,
        };
        let wire_bytes = (wire.out_bytes as f64 + wire.in_bytes as f64) * part;
        Self {
            payload_bytes,
            wire_out_bytes: wire.out_bytes,
            wire_in_bytes: wire.in_bytes,
            wire_reads: wire.reads,
            payload_mib_per_min: per_minute(payload_bytes as f64 / MIB, window),
            wire_mib_per_min: per_minute(wire_bytes / MIB, window),
        }
    }
}

impl DecodeTime {
    /// `calls` that took `total`, summed over threads, in a `window`.
    #[must_use]
    pub fn new(calls: u64, total: Duration, window: Duration) -> Self {
        Self {
            calls,
            total_s: total.as_secs_f64(),
            share_of_wall: share(total, window),
        }
    }
}

impl ClientCpu {
    /// CPU `total` in a window of `wall`. `pacing_share_of_core` is the `share_of_core` of the row
    /// that only keeps the schedule; `None` at full load and for that row itself.
    #[must_use]
    pub fn new(
        total: Duration,
        wall: Duration,
        pacing_share_of_core: Option<f64>,
        busiest_thread_share: Option<f64>,
    ) -> Self {
        let share_of_core = share(total, wall);
        Self {
            total_s: total.as_secs_f64(),
            share_of_core,
            pacing_share_of_core,
            net_share_of_core: pacing_share_of_core.map(|pacing| (share_of_core - pacing).max(0.0)),
            busiest_thread_share,
        }
    }

    /// The share without pacing where pacing is known, else the whole.
    pub(super) fn net(&self) -> f64 {
        self.net_share_of_core.unwrap_or(self.share_of_core)
    }
}

impl Allocator {
    /// What the counting pass of `wall` and `reads` asked of the allocator.
    #[must_use]
    pub fn new(
        wall: Duration,
        reads: u64,
        allocations: u64,
        frees: u64,
        bytes: u64,
        time: Duration,
    ) -> Self {
        Self {
            wall_s: wall.as_secs_f64(),
            reads,
            allocations,
            frees,
            bytes,
            time_s: time.as_secs_f64(),
            allocations_per_min: per_minute(allocations as f64, wall),
            mib_per_min: per_minute(bytes as f64 / MIB, wall),
            time_ms_per_min: per_minute(time.as_secs_f64() * 1e3, wall),
        }
    }
}

impl ServerCpu {
    /// CPU `total` of the server in a window of `wall`.
    #[must_use]
    pub fn new(total: Duration, wall: Duration, source: ServerCpuSource) -> Self {
        Self {
            total_s: total.as_secs_f64(),
            share_of_core: share(total, wall),
            source,
        }
    }
}

impl Schedule {
    /// Of `due` reads, `finished_in_window` were done at its end and `abandoned` never were.
    #[must_use]
    pub fn new(due: u64, finished_in_window: u64, abandoned: u64) -> Self {
        Self {
            due,
            backlog: due.saturating_sub(finished_in_window),
            abandoned,
            kept: finished_in_window as f64 >= due as f64 * KEPT_SHARE,
        }
    }
}

impl ChangesOfRow {
    /// `lags` has one entry for each change that was seen: from the acknowledged write until that
    /// version, or a later one, was readable.
    #[must_use]
    pub fn new(
        load: Load,
        made: u64,
        reloads: u64,
        lags: &[Duration],
        stale_reads: u64,
        reads: u64,
    ) -> Self {
        let mut sorted = lags.to_vec();
        sorted.sort_unstable();
        let mut recorder = Recorder::new();
        for &lag in &sorted {
            recorder.record(lag);
        }
        let micros = |lag: Duration| lag.as_nanos() as f64 / 1e3;
        let (lower, upper) = (sorted.len().saturating_sub(1) / 2, sorted.len() / 2);
        Self {
            load,
            made,
            seen: sorted.len() as u64,
            reloads,
            lag: (!sorted.is_empty()).then(|| Histogram::from_recorder(&recorder)),
            lag_p50_us: sorted
                .get(upper)
                .map(|&middle| f64::midpoint(micros(sorted[lower]), micros(middle))),
            lag_max_us: sorted.last().map(|&lag| micros(lag)),
            stale_reads,
            reads,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);
    const AT_RATE: Load = Load::Rate { per_s: 100.0 };

    /// The counters after so many reads of the article's value.
    fn wire(reads: u64) -> WireReading {
        WireReading {
            out_bytes: 40 * reads,
            in_bytes: 41_093 * reads,
            reads,
        }
    }

    #[test]
    fn a_window_that_is_closed_late_moves_no_less_and_never_less_on_the_wire_than_payload() {
        let window = Duration::from_millis(500);
        // A hundred reads in the window, read off 27 ms later: without and with late ones.
        for until_close in [100, 105] {
            let transfer = Transfer::new(41_083 * 100, 100, wire(until_close), window);
            let payload = 41_083.0 * 100.0 / MIB * 120.0;
            assert_eq!(transfer.payload_mib_per_min, payload);
            let on_wire = transfer.wire_mib_per_min;
            assert!((on_wire / payload - 41_133.0 / 41_083.0).abs() < 1e-9);
        }
    }

    #[test]
    fn the_articles_transfer_is_reproduced() {
        let reads = 2_730 * 60;
        let transfer = Transfer::new(41_083 * reads, reads, wire(reads), MINUTE);
        assert!((transfer.payload_mib_per_min - 6_417.65).abs() < 0.5);
        let wire = (40.0 + 41_093.0) * reads as f64 / (1024.0 * 1024.0);
        assert_eq!(transfer.wire_mib_per_min, wire);
    }

    #[test]
    fn shares_are_of_the_wall_time() {
        let wall = Duration::from_secs(5);
        let decode = DecodeTime::new(10, Duration::from_millis(7_500), wall);
        assert_eq!((decode.total_s, decode.share_of_wall), (7.5, 1.5));
        let server = ServerCpu::new(
            Duration::from_millis(950),
            wall,
            ServerCpuSource::ProcessClock,
        );
        assert_eq!((server.total_s, server.share_of_core), (0.95, 0.19));
        assert_eq!(per_second(13_650, wall), 2_730.0);
    }

    #[test]
    fn pacing_is_subtracted_and_never_below_nothing() {
        let wall = Duration::from_secs(4);
        let cpu =
            |total_s, pacing| ClientCpu::new(Duration::from_secs(total_s), wall, pacing, Some(0.9));
        assert_eq!(cpu(2, None).share_of_core, 0.5);
        assert_eq!(cpu(2, None).net_share_of_core, None);
        assert_eq!(cpu(2, Some(0.125)).net_share_of_core, Some(0.375));
        assert_eq!(cpu(2, Some(0.75)).net_share_of_core, Some(0.0));
        assert_eq!(cpu(2, None).busiest_thread_share, Some(0.9));
    }

    #[test]
    fn allocator_work_is_given_a_minute() {
        let wall = Duration::from_secs(30);
        let time = Duration::from_millis(65);
        let allocator = Allocator::new(wall, 100, 3_000, 2_900, 5 << 20, time);
        assert_eq!(allocator.allocations_per_min, 6_000.0);
        assert_eq!(allocator.mib_per_min, 10.0);
        assert_eq!(allocator.time_ms_per_min, 130.0);
    }

    #[test]
    fn a_schedule_is_kept_from_ninety_nine_per_cent_on() {
        assert!(Schedule::new(1_000, 990, 0).kept);
        let behind = Schedule::new(1_000, 989, 3);
        assert!(!behind.kept);
        assert_eq!((behind.backlog, behind.abandoned), (11, 3));
        let early = Schedule::new(10, 11, 0);
        assert_eq!((early.kept, early.backlog), (true, 0));
        assert!(Schedule::new(0, 0, 0).kept);
    }

    #[test]
    fn a_window_without_length_gives_zeros() {
        let none = Duration::ZERO;
        assert_eq!(per_second(5, none), 0.0);
        assert_eq!(Transfer::new(5, 5, wire(5), none).wire_mib_per_min, 0.0);
        assert_eq!(DecodeTime::new(5, MINUTE, none).share_of_wall, 0.0);
        assert_eq!(ClientCpu::new(MINUTE, none, None, None).share_of_core, 0.0);
        let allocator = Allocator::new(none, 5, 5, 5, 5, MINUTE);
        assert_eq!(allocator.time_ms_per_min, 0.0);
    }

    #[test]
    fn the_lag_of_changes_is_exact() {
        let lags = |millis: &[u64]| -> Vec<Duration> {
            millis.iter().map(|&it| Duration::from_millis(it)).collect()
        };
        let odd = ChangesOfRow::new(AT_RATE, 4, 3, &lags(&[9, 1, 2]), 7, 100);
        assert_eq!((odd.made, odd.seen, odd.stale_reads), (4, 3, 7));
        assert_eq!(odd.lag_p50_us, Some(2_000.0));
        assert_eq!(odd.lag_max_us, Some(9_000.0));
        assert_eq!(odd.lag.unwrap().count, 3);
        let even = ChangesOfRow::new(AT_RATE, 4, 4, &lags(&[4, 1, 3, 2]), 0, 100);
        assert_eq!(even.lag_p50_us, Some(2_500.0));
        let none = ChangesOfRow::new(AT_RATE, 4, 0, &[], 0, 100);
        assert_eq!(
            (none.lag, none.lag_p50_us, none.lag_max_us),
            (None, None, None)
        );
    }
}
