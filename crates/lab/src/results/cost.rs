//! The result of `hotcopy cost`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Histogram, MachineStamp, ServerStamp};

/// Names this file format; changes when a reader of an older file would be misled.
pub const SCHEMA: &str = "hotcopy.cost/1";

/// Everything that one run of `hotcopy cost` measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CostResult {
    /// Always `hotcopy.cost/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// Version of hotcopy that measured.
    pub hotcopy_version: String,
    /// Start of the run, RFC 3339, UTC.
    pub started_at: String,
    /// The command line, passwords masked.
    pub command_line: Vec<String>,
    /// What was asked for.
    pub config: Config,
    /// Where the client ran.
    pub machine: MachineStamp,
    /// Who answered.
    pub server: ServerStamp,
    /// One call, split in its steps (the first table). Only what was measured.
    pub calls: Vec<Call>,
    /// The rows of the second table and the two rows that stand beside them. Only what was measured.
    pub rows: Vec<Row>,
    /// What the store path costs and a copy in memory saves, from the rows at the given rate.
    pub summary: Option<Summary>,
    /// How changes of the value arrived, with `--change-every`.
    pub changes: Option<Changes>,
    /// What a reader has to know before trusting the figures, in plain words with advice.
    pub warnings: Vec<String>,
    /// Ended by Ctrl-C: what stands here was measured until then.
    pub interrupted: bool,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The value that is read.
    pub value: ValueInfo,
    /// How its bytes become an object.
    pub decode: Decode,
    /// Connections of the pool.
    pub pool: usize,
    /// Reads per second of the open-loop rows.
    pub rate_per_s: f64,
    /// Concurrent workers at full load.
    pub workers: usize,
    /// Seconds for each row.
    pub seconds: f64,
    /// Processes that read like this one: the summary is multiplied by it.
    pub instances: u64,
    /// The value is changed this often while the rows run.
    pub change_every_s: Option<f64>,
    /// Full-load rows were measured.
    pub full_load: bool,
}

/// The value that is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValueInfo {
    /// `generated config`, the file name, `key KEY` or the command.
    pub source: String,
    /// The read-only command that reads it, for example `GET config`.
    pub command: String,
    /// Bytes of payload in one reply.
    pub bytes: u64,
    /// Values in the decoded document (objects and arrays included).
    pub values: Option<u64>,
    /// Nesting depth of the decoded document: a bare scalar is 1.
    pub depth: Option<u64>,
}

/// How bytes become an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decode {
    /// JSON text into `serde_json::Value`.
    Json,
    /// `MessagePack` into `serde_json::Value`.
    Msgpack,
    /// The bytes are the value.
    None,
    /// The reply of `--command`, converted by the client library.
    Client,
}

/// One line of the first table: one call at a time on one connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// Which steps are in it.
    pub step: Step,
    /// Service time of one call.
    pub time: Histogram,
}

/// The steps of one read from the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The command alone, bytes in hand.
    Get,
    /// The command, then decoded into `serde_json::Value` (or the client's own conversion).
    GetAndDecode,
    /// Decoding alone.
    Decode,
    /// The command, then decoded into a typed struct.
    GetAndDecodeTyped,
    /// Decoding into a typed struct alone.
    DecodeTyped,
}

/// One row: a way to read at a traffic level, in a process of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The way to read.
    pub path: Path,
    /// The traffic level.
    pub load: Load,
    /// The window: what reads, payload and decoding are counted over. At a rate as scheduled; at
    /// full load `wall_s`.
    pub window_s: f64,
    /// Time until the meters (CPU, wire) were read: later than the window's end where the machine
    /// was busy.
    pub wall_s: f64,
    /// Reads finished in the window.
    pub reads: u64,
    /// `reads / window_s`.
    pub throughput_per_s: f64,
    /// Open loop only: how the schedule was kept.
    pub schedule: Option<Schedule>,
    /// Intended start to actual start. Open loop only.
    pub lag: Option<Histogram>,
    /// Actual start to end.
    pub service: Histogram,
    /// Intended start to end. Open loop only: at full load there is no intended start.
    pub response: Option<Histogram>,
    /// Reads that one sample of the histograms stands for: 1, or the batch in which reads of
    /// nanoseconds are timed (a sample then is the batch's mean per read).
    pub reads_per_sample: u64,
    /// Bytes moved.
    pub transfer: Transfer,
    /// Time spent decoding, summed over threads.
    pub decode: DecodeTime,
    /// CPU of the client process.
    pub client_cpu: ClientCpu,
    /// Allocator work, from a pass of its own.
    pub allocator: Option<Allocator>,
    /// Resident memory of the client process, where it can be read.
    pub resident: Option<Resident>,
    /// CPU of the server, where it can be read.
    pub server_cpu: Option<ServerCpu>,
    /// Delays of a thread that only sleeps and wakes, beside the row: the machine's noise floor.
    pub hiccups: Histogram,
}

/// The way to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Path {
    /// `GET` and decode on every request.
    Store,
    /// Decoded once, read through `Hot<T>`.
    Memory,
    /// Nothing is read. At a rate: what keeping the schedule costs. At full load: what the loop
    /// around a read costs.
    Nothing,
}

/// The traffic level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Open loop: so many reads a second, whatever the server does.
    Rate {
        /// Reads a second.
        per_s: f64,
    },
    /// Closed loop: each worker reads again at once.
    Full {
        /// Concurrent workers.
        workers: usize,
    },
}

/// How an open-loop schedule was kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Reads that were due in the window.
    pub due: u64,
    /// Reads due in the window that had not finished at its end.
    pub backlog: u64,
    /// Reads of the backlog that were still unfinished when the row gave up waiting; each counts in
    /// the response times with the time it had waited until then.
    pub abandoned: u64,
    /// At least 99 % of the reads due finished in the window.
    pub kept: bool,
}

/// Bytes moved between client and store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transfer {
    /// Bytes of values.
    pub payload_bytes: u64,
    /// Bytes written to the connections in `wall_s`.
    pub wire_out_bytes: u64,
    /// Bytes read from the connections in `wall_s`.
    pub wire_in_bytes: u64,
    /// Reads finished in `wall_s`, whose bytes these are.
    pub wire_reads: u64,
    /// Payload in MiB a minute.
    pub payload_mib_per_min: f64,
    /// Both directions on the wire in MiB a minute, for the reads finished in the window.
    pub wire_mib_per_min: f64,
}

/// Time spent decoding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecodeTime {
    /// Values decoded.
    pub calls: u64,
    /// Sum over all threads.
    pub total_s: f64,
    /// `total_s / window_s`; above 1 when several threads decode.
    pub share_of_wall: f64,
}

/// CPU of the client process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientCpu {
    /// CPU time of the process in `wall_s`.
    pub total_s: f64,
    /// `total_s / wall_s`: 1 is one core.
    pub share_of_core: f64,
    /// The same of the row that only keeps the schedule. Open loop only.
    pub pacing_share_of_core: Option<f64>,
    /// `share_of_core - pacing_share_of_core`, at least 0. Open loop only.
    pub net_share_of_core: Option<f64>,
    /// Share of its core that the busiest thread used, where it can be read.
    pub busiest_thread_share: Option<f64>,
}

/// Allocator work, measured in a pass of its own because counting perturbs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Allocator {
    /// Wall time of that pass.
    pub wall_s: f64,
    /// Reads of that pass.
    pub reads: u64,
    /// Calls to allocate or reallocate.
    pub allocations: u64,
    /// Calls to free.
    pub frees: u64,
    /// Bytes asked for.
    pub bytes: u64,
    /// Time in the allocator, summed over threads, the clock's own cost subtracted.
    pub time_s: f64,
    /// Allocations a minute.
    pub allocations_per_min: f64,
    /// MiB a minute.
    pub mib_per_min: f64,
    /// Milliseconds in the allocator a minute.
    pub time_ms_per_min: f64,
}

/// Resident memory of the client process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resident {
    /// At the end of the window; `None` where only the peak can be read.
    pub end_bytes: Option<u64>,
    /// The most the process ever held.
    pub peak_bytes: u64,
}

/// CPU of the server process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerCpu {
    /// CPU time in `wall_s`.
    pub total_s: f64,
    /// `total_s / wall_s`: 1 is one core.
    pub share_of_core: f64,
    /// Where it was read.
    pub source: ServerCpuSource,
}

/// Where the server's CPU was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerCpuSource {
    /// The process's CPU clock: all its threads.
    ProcessClock,
    /// `used_cpu_user + used_cpu_sys` of `INFO`.
    Info,
}

/// What the store path costs and a copy in memory saves, at the given rate, times the instances.
///
/// Differences are store minus memory; CPU is net of pacing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Processes counted.
    pub instances: u64,
    /// Reads a second of all instances.
    pub reads_per_s: f64,
    /// Payload moved a minute by the store path.
    pub store_mib_per_min: f64,
    /// Payload moved a day by the store path.
    pub store_gib_per_day: f64,
    /// Cores the clients spend on the store path.
    pub store_client_cores: f64,
    /// Cores the server spends on it, where it can be read.
    pub store_server_cores: Option<f64>,
    /// Hours of one core a day, client and server together.
    pub store_core_hours_per_day: f64,
    /// Cores the memory path takes instead.
    pub memory_client_cores: f64,
    /// Cores saved, client and server together.
    pub saved_cores: f64,
    /// Hours of one core saved a day.
    pub saved_core_hours_per_day: f64,
    /// Share of wall time spent decoding, that of one instance.
    pub store_decode_share_of_wall: f64,
    /// Allocations a minute that are saved.
    pub saved_allocations_per_min: Option<f64>,
    /// Resident memory at the end, store minus memory, of one instance (negative: memory holds more).
    pub saved_resident_bytes: Option<i64>,
    /// Full load: memory reads per store read.
    pub full_load_ratio: Option<f64>,
}

/// How changes of the value arrived in the process that reads from memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Changes {
    /// One entry for each row that read from memory while the value changed.
    pub rows: Vec<ChangesOfRow>,
}

/// How changes arrived in one row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangesOfRow {
    /// The traffic level of the row.
    pub load: Load,
    /// Changes made while the row ran.
    pub made: u64,
    /// Changes that the row saw (a later version that was seen instead counts).
    pub seen: u64,
    /// `GET` + decode done to see them.
    pub reloads: u64,
    /// Acknowledged write to new version readable. Exact, not from the histogram's buckets.
    pub lag: Option<Histogram>,
    /// Median of the lag; given even for few changes, since each is a measured event.
    pub lag_p50_us: Option<f64>,
    /// Largest lag.
    pub lag_max_us: Option<f64>,
    /// Reads between acknowledged write and new version readable: they returned the old version.
    pub stale_reads: u64,
    /// All reads of the row.
    pub reads: u64,
}
