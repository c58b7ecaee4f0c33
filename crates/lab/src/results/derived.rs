//! How the figures of a cost result follow from its readings: pure arithmetic, here and nowhere
//! else. A window without length gives zeros, never infinities, which JSON cannot hold.

use std::time::Duration;

use super::cost::{
    Allocator, Call, ChangesOfRow, ClientCpu, CostResult, DecodeTime, Load, Path, Row, Schedule,
    ServerCpu, ServerCpuSource, Step, Summary, Transfer,
};
use super::{Histogram, Recorder};

const MIB: f64 = 1024.0 * 1024.0;
const MIB_PER_GIB: f64 = 1024.0;
const SECONDS_PER_MINUTE: f64 = 60.0;
const MINUTES_PER_DAY: f64 = 24.0 * 60.0;
const HOURS_PER_DAY: f64 = 24.0;

/// A schedule is kept if this share of the reads due finished in the window.
const KEPT_SHARE: f64 = 0.99;

/// Events a second in a window, for [`Row::throughput_per_s`].
#[must_use]
pub fn per_second(events: u64, wall: Duration) -> f64 {
    ratio(events as f64, wall.as_secs_f64())
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

impl Transfer {
    /// What was moved in a window of `wall`.
    #[must_use]
    pub fn new(
        payload_bytes: u64,
        wire_out_bytes: u64,
        wire_in_bytes: u64,
        wall: Duration,
    ) -> Self {
        let wire_bytes = wire_out_bytes as f64 + wire_in_bytes as f64;
        Self {
            payload_bytes,
            wire_out_bytes,
            wire_in_bytes,
            payload_mib_per_min: per_minute(payload_bytes as f64 / MIB, wall),
            wire_mib_per_min: per_minute(wire_bytes / MIB, wall),
        }
    }
}

impl DecodeTime {
    /// `calls` that took `total`, summed over threads, in a window of `wall`.
    #[must_use]
    pub fn new(calls: u64, total: Duration, wall: Duration) -> Self {
        Self {
            calls,
            total_s: total.as_secs_f64(),
            share_of_wall: share(total, wall),
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
    fn net(&self) -> f64 {
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

impl Summary {
    /// From the store row and the memory row at a rate; `None` if one of them is missing.
    ///
    /// Everything is multiplied by `instances`, except what describes one process: the share of
    /// wall time, the resident memory and the full-load ratio.
    #[must_use]
    pub fn from_rows(rows: &[Row], instances: u64) -> Option<Self> {
        let store = find(rows, Path::Store, Load::is_rate)?;
        let memory = find(rows, Path::Memory, Load::is_rate)?;
        let times = instances as f64;

        let store_client_cores = store.client_cpu.net() * times;
        let memory_client_cores = memory.client_cpu.net() * times;
        let server_cores = |row: &Row| {
            let cpu = row.server_cpu.as_ref()?;
            Some(cpu.share_of_core * times)
        };
        let store_server_cores = server_cores(store);
        // What the server does while nobody reads is in both rows, so the difference is the reads'.
        let saved_server_cores = match (store_server_cores, server_cores(memory)) {
            (Some(store), Some(memory)) => store - memory,
            _ => 0.0,
        };
        let saved_cores = store_client_cores - memory_client_cores + saved_server_cores;

        let allocations = |row: &Row| Some(row.allocator.as_ref()?.allocations_per_min);
        let resident = |row: &Row| i64::try_from(row.resident.as_ref()?.end_bytes?).ok();
        let full_load = |path| find(rows, path, |load| !load.is_rate());
        let store_mib_per_min = store.transfer.payload_mib_per_min * times;

        Some(Self {
            instances,
            reads_per_s: store.throughput_per_s * times,
            store_mib_per_min,
            store_gib_per_day: store_mib_per_min * MINUTES_PER_DAY / MIB_PER_GIB,
            store_client_cores,
            store_server_cores,
            store_core_hours_per_day: (store_client_cores + store_server_cores.unwrap_or(0.0))
                * HOURS_PER_DAY,
            memory_client_cores,
            saved_cores,
            saved_core_hours_per_day: saved_cores * HOURS_PER_DAY,
            store_decode_share_of_wall: store.decode.share_of_wall,
            saved_allocations_per_min: allocations(store)
                .zip(allocations(memory))
                .map(|(store, memory)| (store - memory) * times),
            saved_resident_bytes: resident(store)
                .zip(resident(memory))
                .map(|(store, memory)| store - memory),
            full_load_ratio: full_load(Path::Store)
                .zip(full_load(Path::Memory))
                .filter(|(store, _)| store.throughput_per_s > 0.0)
                .map(|(store, memory)| memory.throughput_per_s / store.throughput_per_s),
        })
    }
}

impl Load {
    /// An open loop at a rate, not full load.
    #[must_use]
    pub fn is_rate(self) -> bool {
        matches!(self, Self::Rate { .. })
    }
}

impl CostResult {
    /// The row that read this way at the given rate, if it was measured.
    #[must_use]
    pub fn row_at_rate(&self, path: Path) -> Option<&Row> {
        find(&self.rows, path, Load::is_rate)
    }

    /// The row that read this way at full load, if it was measured.
    #[must_use]
    pub fn row_at_full_load(&self, path: Path) -> Option<&Row> {
        find(&self.rows, path, |load| !load.is_rate())
    }

    /// The line of the first table for this step, if it was measured.
    #[must_use]
    pub fn call(&self, step: Step) -> Option<&Call> {
        self.calls.iter().find(|call| call.step == step)
    }
}

fn find(rows: &[Row], path: Path, load: impl Fn(Load) -> bool) -> Option<&Row> {
    rows.iter().find(|row| row.path == path && load(row.load))
}
