//! A full result of `hotcopy cost`, built by hand from round readings, that the tests print; [`modes`]
//! has one of `hotcopy modes`.

#![allow(dead_code)] // Each test that takes part of this compiles all of it.

pub(crate) mod modes;

use std::collections::BTreeMap;
use std::time::Duration;

use hotcopy_lab::results::cost::{
    Allocator, Call, Changes, ChangesOfRow, ClientCpu, Config, CostResult, Decode, DecodeTime,
    Load, Path, Resident, Row, SCHEMA, Schedule, ServerCpu, ServerCpuSource, Step, Summary,
    Transfer, ValueInfo,
};
use hotcopy_lab::results::{
    Histogram, MachineStamp, Recorder, ServerStamp, WireReading, per_second,
};

const WALL: Duration = Duration::from_secs(5);
const VALUE_BYTES: u64 = 41_083;
const RATE_PER_S: f64 = 2_730.0;
const AT_RATE: Load = Load::Rate { per_s: RATE_PER_S };
const FULL: Load = Load::Full { workers: 50 };
const READS_AT_RATE: u64 = 13_650;
const PACING_SHARE: f64 = 0.021;

/// Everything measured, everything kept.
pub(crate) fn full() -> CostResult {
    let rows = vec![
        store_at_rate(),
        memory_at_rate(),
        nothing_at_rate(),
        store_at_full_load(),
        memory_at_full_load(),
        nothing_at_full_load(),
    ];
    CostResult {
        schema: SCHEMA.to_owned(),
        hotcopy_version: "0.1.0".to_owned(),
        started_at: "2026-01-02T03:04:05Z".to_owned(),
        command_line: ["hotcopy", "cost", "--change-every", "0.5"]
            .map(str::to_owned)
            .to_vec(),
        config: config(),
        machine: machine(),
        server: server(),
        calls: vec![
            call(Step::Get, 99.0),
            call(Step::GetAndDecode, 172.0),
            call(Step::Decode, 66.2),
            call(Step::GetAndDecodeTyped, 140.0),
            call(Step::DecodeTyped, 34.4),
        ],
        summary: Summary::from_rows(&rows, 1),
        rows,
        changes: Some(changes()),
        warnings: vec!["the machine was busy: close other programs and measure again".to_owned()],
        interrupted: false,
    }
}

/// Ended by Ctrl-C in the second row, on a server far away that tells nothing.
pub(crate) fn interrupted() -> CostResult {
    let mut result = full();
    result.interrupted = true;
    result.calls.truncate(1);
    result.rows.truncate(1);
    result.rows[0].allocator = None;
    result.rows[0].resident = None;
    result.rows[0].server_cpu = None;
    result.rows[0].client_cpu.pacing_share_of_core = None;
    result.rows[0].client_cpu.net_share_of_core = None;
    result.summary = None;
    result.changes = None;
    result.warnings.clear();
    result.server.local = false;
    result.server.settings.clear();
    result.machine.cpu = None;
    result.machine.memory_bytes = None;
    result.config.change_every_s = None;
    result
}

fn config() -> Config {
    Config {
        value: ValueInfo {
            source: "generated config".to_owned(),
            command: "GET hotcopy:lab:config".to_owned(),
            bytes: VALUE_BYTES,
            values: Some(1_612),
            depth: Some(6),
        },
        decode: Decode::Json,
        pool: 10,
        rate_per_s: RATE_PER_S,
        workers: 50,
        seconds: 5.0,
        instances: 1,
        change_every_s: Some(0.5),
        full_load: true,
    }
}

fn machine() -> MachineStamp {
    MachineStamp {
        cpu: Some("Example CPU @ 2.00GHz".to_owned()),
        cores: 2,
        memory_bytes: Some(8 << 30),
        governor: None,
        hypervisor: Some("kvm".to_owned()),
        os: "Linux".to_owned(),
        kernel: Some("6.1.0".to_owned()),
        clocksource: Some("tsc".to_owned()),
        allocator: "system".to_owned(),
        rustc: "rustc 1.95.0".to_owned(),
        profile: "release".to_owned(),
    }
}

fn server() -> ServerStamp {
    let settings = [("appendonly", "no"), ("io-threads", "1"), ("save", "")];
    ServerStamp {
        name: "redis".to_owned(),
        version: "7.0.15".to_owned(),
        target: "redis://127.0.0.1:6379".to_owned(),
        local: true,
        pid: Some(4_242),
        settings: settings
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into_iter()
            .collect::<BTreeMap<_, _>>(),
    }
}

/// `samples` durations between half and one and a half times `mean_us`.
fn around(mean_us: f64, samples: u64) -> Histogram {
    let mut recorder = Recorder::new();
    for index in 0..samples {
        let factor = 0.5 + index as f64 / (samples - 1) as f64;
        recorder.record_mean(
            Duration::from_nanos((mean_us * factor * 1e6).round() as u64),
            1_000,
        );
    }
    Histogram::from_recorder(&recorder)
}

fn call(step: Step, mean_us: f64) -> Call {
    Call {
        step,
        time: around(mean_us, 2_000),
    }
}

fn row(path: Path, load: Load, reads: u64, service: Histogram) -> Row {
    let payload = match path {
        Path::Store => reads * VALUE_BYTES,
        Path::Memory | Path::Nothing => 0,
    };
    let decodes = payload / VALUE_BYTES;
    let wire = WireReading {
        out_bytes: decodes * 41,
        in_bytes: payload + decodes * 10,
        reads,
    };
    Row {
        path,
        load,
        window_s: WALL.as_secs_f64(),
        wall_s: WALL.as_secs_f64(),
        reads,
        throughput_per_s: per_second(reads, WALL),
        schedule: None,
        lag: None,
        service,
        response: None,
        reads_per_sample: 1,
        transfer: Transfer::new(payload, reads, wire, WALL),
        decode: DecodeTime::new(decodes, Duration::from_nanos(66_200 * decodes), WALL),
        client_cpu: ClientCpu::new(Duration::from_secs(5), WALL, None, Some(0.97)),
        allocator: Some(Allocator::new(
            WALL,
            reads,
            decodes * 3_200,
            decodes * 3_200,
            decodes * 190_000,
            Duration::from_nanos(decodes * 48_000),
        )),
        resident: Some(Resident {
            end_bytes: Some(9 << 20),
            peak_bytes: 11 << 20,
        }),
        server_cpu: Some(ServerCpu::new(
            Duration::from_millis(8),
            WALL,
            ServerCpuSource::ProcessClock,
        )),
        hiccups: around(62.0, 4_800),
    }
}

fn at_rate(path: Path, mean_us: f64, cpu: Duration) -> Row {
    let mut row = row(path, AT_RATE, READS_AT_RATE, around(mean_us, READS_AT_RATE));
    row.schedule = Some(Schedule::new(READS_AT_RATE, READS_AT_RATE - 1, 0));
    row.lag = Some(around(58.0, READS_AT_RATE));
    row.response = Some(around(58.0 + mean_us, READS_AT_RATE));
    let pacing = (path != Path::Nothing).then_some(PACING_SHARE);
    row.client_cpu = ClientCpu::new(cpu, WALL, pacing, Some(0.4));
    row
}

fn store_at_rate() -> Row {
    let mut row = at_rate(Path::Store, 180.0, Duration::from_millis(2_115));
    row.server_cpu = Some(ServerCpu::new(
        Duration::from_millis(952),
        WALL,
        ServerCpuSource::ProcessClock,
    ));
    row.resident = Some(Resident {
        end_bytes: Some(21 << 20),
        peak_bytes: 24 << 20,
    });
    row
}

fn memory_at_rate() -> Row {
    at_rate(Path::Memory, 0.05, Duration::from_millis(125))
}

fn nothing_at_rate() -> Row {
    at_rate(Path::Nothing, 0.03, Duration::from_millis(105))
}

fn store_at_full_load() -> Row {
    let mut row = row(Path::Store, FULL, 60_030, around(4_150.0, 60_030));
    row.server_cpu = Some(ServerCpu::new(
        Duration::from_millis(2_786),
        WALL,
        ServerCpuSource::Info,
    ));
    row
}

fn memory_at_full_load() -> Row {
    let mut row = row(Path::Memory, FULL, 1_640_027_320, around(0.003_05, 50_000));
    row.reads_per_sample = 1_000;
    row
}

fn nothing_at_full_load() -> Row {
    let mut row = row(Path::Nothing, FULL, 5_376_344_000, around(0.000_93, 50_000));
    row.reads_per_sample = 1_000;
    row
}

fn changes() -> Changes {
    let lags = [210, 180, 350, 190, 240, 205, 260, 900, 230].map(Duration::from_micros);
    Changes {
        rows: vec![
            ChangesOfRow::new(AT_RATE, 9, 9, &lags, 6, READS_AT_RATE),
            ChangesOfRow::new(FULL, 9, 9, &lags, 902_140, 1_640_027_320),
        ],
    }
}
