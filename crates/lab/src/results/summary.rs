//! What the rows at the given rate mean a minute and a day: pure arithmetic on the store row and the
//! memory row.

use super::cost::{Load, Path, Row, Summary};
use super::find::find_row;

const MIB_PER_GIB: f64 = 1024.0;
const MINUTES_PER_DAY: f64 = 24.0 * 60.0;
const HOURS_PER_DAY: f64 = 24.0;

impl Summary {
    /// From the store row and the memory row at a rate; `None` if one of them is missing.
    ///
    /// Everything is multiplied by `instances`, except what describes one process: the share of
    /// wall time, the resident memory and the full-load ratio.
    #[must_use]
    pub fn from_rows(rows: &[Row], instances: u64) -> Option<Self> {
        let store = find_row(rows, Path::Store, Load::is_rate)?;
        let memory = find_row(rows, Path::Memory, Load::is_rate)?;
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
        let full_load = |path| find_row(rows, path, |load| !load.is_rate());
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::results::cost::{
        Allocator, ClientCpu, DecodeTime, Resident, ServerCpu, ServerCpuSource, Transfer,
    };
    use crate::results::{Histogram, Recorder, WireReading, per_second};

    const MINUTE: Duration = Duration::from_secs(60);
    const AT_RATE: Load = Load::Rate { per_s: 100.0 };
    const FULL: Load = Load::Full { workers: 50 };

    /// A row of one minute with `reads` of 1 MiB, `client_s` of CPU, half a minute of it pacing.
    fn row(path: Path, load: Load, reads: u64, client_s: u64) -> Row {
        let empty = Histogram::from_recorder(&Recorder::new());
        let pacing = load.is_rate().then_some(0.5);
        let silent = WireReading {
            out_bytes: 0,
            in_bytes: 0,
            reads,
        };
        Row {
            path,
            load,
            window_s: 60.0,
            wall_s: 60.0,
            reads,
            throughput_per_s: per_second(reads, MINUTE),
            schedule: None,
            lag: None,
            service: empty.clone(),
            response: None,
            reads_per_sample: 1,
            transfer: Transfer::new(reads << 20, reads, silent, MINUTE),
            decode: DecodeTime::new(reads, Duration::from_secs(15), MINUTE),
            client_cpu: ClientCpu::new(Duration::from_secs(client_s), MINUTE, pacing, None),
            allocator: Some(Allocator::new(MINUTE, reads, reads, reads, 0, MINUTE)),
            resident: None,
            server_cpu: None,
            hiccups: empty,
        }
    }

    #[test]
    fn a_summary_needs_both_rows_at_the_rate() {
        let rows = [
            row(Path::Store, AT_RATE, 6_000, 90),
            row(Path::Memory, FULL, 6_000, 60),
            row(Path::Nothing, AT_RATE, 6_000, 30),
        ];
        assert_eq!(Summary::from_rows(&rows, 1), None);
        assert_eq!(Summary::from_rows(&[], 1), None);
    }

    #[test]
    fn a_summary_of_clients_alone_is_multiplied_by_the_instances() {
        let rows = [
            row(Path::Store, AT_RATE, 6_144, 90),
            row(Path::Memory, AT_RATE, 0, 45),
        ];
        let summary = Summary::from_rows(&rows, 10).unwrap();
        assert_eq!(summary.reads_per_s, 1_024.0);
        assert_eq!(summary.store_mib_per_min, 61_440.0);
        assert_eq!(summary.store_gib_per_day, 86_400.0);
        assert_eq!(summary.store_client_cores, 10.0);
        assert_eq!(summary.store_server_cores, None);
        assert_eq!(summary.store_core_hours_per_day, 240.0);
        assert_eq!(summary.memory_client_cores, 2.5);
        assert_eq!(summary.saved_cores, 7.5);
        assert_eq!(summary.saved_core_hours_per_day, 180.0);
        assert_eq!(summary.store_decode_share_of_wall, 0.25);
        assert_eq!(summary.saved_allocations_per_min, Some(61_440.0));
        assert_eq!(summary.saved_resident_bytes, None);
        assert_eq!(summary.full_load_ratio, None);
    }

    #[test]
    fn a_summary_counts_the_server_memory_and_full_load() {
        let mut rows = [
            row(Path::Store, AT_RATE, 6_000, 60),
            row(Path::Memory, AT_RATE, 6_000, 30),
            row(Path::Store, FULL, 6_000, 60),
            row(Path::Memory, FULL, 15_000_000, 60),
        ];
        let server = |seconds| {
            let total = Duration::from_secs(seconds);
            Some(ServerCpu::new(total, MINUTE, ServerCpuSource::Info))
        };
        let resident = |end_bytes| {
            Some(Resident {
                end_bytes: Some(end_bytes),
                peak_bytes: 1 << 30,
            })
        };
        (rows[0].server_cpu, rows[1].server_cpu) = (server(15), server(3));
        (rows[0].resident, rows[1].resident) = (resident(100), resident(130));
        let summary = Summary::from_rows(&rows, 2).unwrap();
        assert_eq!(summary.store_server_cores, Some(0.5));
        assert_eq!(summary.store_core_hours_per_day, 36.0);
        assert!((summary.saved_cores - 1.4).abs() < 1e-12);
        assert_eq!(summary.saved_resident_bytes, Some(-30));
        assert_eq!(summary.full_load_ratio, Some(2_500.0));

        rows[1].server_cpu = None;
        let summary = Summary::from_rows(&rows, 2).unwrap();
        assert_eq!(summary.saved_cores, 1.0);
    }
}
