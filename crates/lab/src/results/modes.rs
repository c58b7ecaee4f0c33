//! The result of `hotcopy modes`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Histogram, MachineStamp};
use crate::rounds::PerOperation;

/// Names this file format; changes when a reader of an older file would be misled.
pub const SCHEMA: &str = "hotcopy.modes/1";

/// Everything that one run of `hotcopy modes` measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModesResult {
    /// Always `hotcopy.modes/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// Version of hotcopy that measured.
    pub hotcopy_version: String,
    /// Start of the run, RFC 3339, UTC.
    pub started_at: String,
    /// The command line.
    pub command_line: Vec<String>,
    /// What was asked for.
    pub config: Config,
    /// Where it ran.
    pub machine: MachineStamp,
    /// How late a thread that only sleeps was woken during the run: the machine's noise floor. `null`
    /// if the system gave no thread for it.
    pub hiccups: Option<Histogram>,
    /// Contenders, at each number of keys and with the large object. Only what was measured.
    pub rows: Vec<Row>,
    /// Our cache with nothing on, with each feature by itself, and with all. Only what was measured.
    pub switches: Vec<SwitchRow>,
    /// What reads cost and save at the traffic that was asked for.
    pub what_if: Vec<WhatIf>,
    /// The caches of the JavaScript world.
    pub java_script: JavaScript,
    /// What a reader has to know before trusting the figures, in plain words with advice.
    pub warnings: Vec<String>,
    /// Ended by Ctrl-C: what stands here was measured until then.
    pub interrupted: bool,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Rounds of each section; the median counts.
    pub rounds: u32,
    /// Milliseconds of one contender in one round.
    pub round_ms: u64,
    /// Bytes of a small value.
    pub small_bytes: u64,
    /// Bytes of the large object as JSON; it is kept decoded.
    pub large_bytes: u64,
    /// Reads of the cache for each request, in the what-if.
    pub operations_per_request: f64,
    /// Requests per second, in the what-if.
    pub requests_per_s: f64,
    /// Whether this build has the Rust peers.
    pub peers: bool,
}

/// Where a contender comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// The loop without a cache in it.
    Nothing,
    /// Our own.
    Ours,
    /// A Rust crate.
    Rust,
    /// An npm package, or the language's own map.
    JavaScript,
}

/// What is switched on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Configuration {
    /// Nothing that can be switched off.
    NothingOn,
    /// A bound with eviction, deadlines, statistics, and what else the contender has.
    AllOn,
    /// What the contender cannot go without.
    Plain,
}

/// How a reader gets the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Borrowed, or by the language's own reference.
    Borrowed,
    /// By a counted reference of its own.
    Shared,
    /// By a copy of all of it; a write stores a copy too.
    Cloned,
    /// Not at all.
    None,
}

/// What is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Object {
    /// Bytes, or a flat object where the language has no byte strings that people cache.
    Small,
    /// A decoded tree.
    Large,
}

/// One contender with one number of keys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Name of the cache, with its version where it is not in our lock file.
    pub contender: String,
    /// Where it comes from.
    pub family: Family,
    /// What is switched on.
    pub configuration: Configuration,
    /// How a reader gets the value.
    pub access: Access,
    /// What is kept.
    pub object: Object,
    /// Keys that are asked for.
    pub keys: u64,
    /// A read that hits.
    pub get: Option<PerOperation>,
    /// A write over a key that is there.
    pub set: Option<PerOperation>,
}

/// What is switched on in a cache of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    /// Nothing; statistics are always counted.
    Nothing,
    /// A bound on the number of entries, with eviction.
    MaxEntries,
    /// A bound on bytes, with a weigher and eviction.
    MaxBytes,
    /// Entries expire after a time.
    TimeToLive,
    /// The same, each a little earlier by chance.
    Jitter,
    /// Entries expire when they are not read.
    TimeToIdle,
    /// Each entry is inserted with a time to live of its own.
    OwnTimeToLive,
    /// All of these, but that entries have the cache's time to live.
    All,
}

/// Our cache with this switched on and nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchRow {
    /// What is on.
    pub switch: Switch,
    /// Keys that are asked for.
    pub keys: u64,
    /// A read that hits, borrowed.
    pub get: PerOperation,
    /// A write over a key that is there.
    pub set: PerOperation,
    /// The median read less that with nothing on, in nanoseconds; `null` for nothing itself.
    pub get_cost_ns: Option<f64>,
    /// The same for a write.
    pub set_cost_ns: Option<f64>,
}

/// What the reads of a contender take at the traffic that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WhatIf {
    /// As in its row.
    pub contender: String,
    /// As in its row.
    pub configuration: Configuration,
    /// As in its row.
    pub access: Access,
    /// One read, of a small value among the number of keys that the what-if is for.
    pub get_ns: f64,
    /// Time of all reads of one second, in milliseconds: above 1,000 one thread cannot do them.
    pub reads_ms_per_s: f64,
    /// That time less the time of ours with all on, borrowed: what a second of traffic has more.
    pub saved_ms_per_s: f64,
    /// Requests per second that fit into the saved time, where a request takes its share of a second
    /// (one thread that is busy all the time).
    pub more_requests_per_s: f64,
}

/// Whether JavaScript took part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JavaScript {
    /// `bun 1.3.0` or `node v20.0.0`; `null` where none took part.
    pub runtime: Option<String>,
    /// Why none took part and what to do, or what to know about those that did.
    pub notes: Vec<String>,
}
