//! One run: a section for each number of keys, the switches, JavaScript, and what follows from them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::object::DeepClone;
use super::what_if::what_if;
use super::{Options, java_script, lineup, switches};
use crate::contenders::KeySet;
use crate::cost::Progress;
use crate::meters::hiccup::HiccupMeter;
use crate::results::Histogram;
use crate::results::modes::{Config, JavaScript, ModesResult, Object, SCHEMA};
use crate::value::config::{JSON_BYTES, generate};

/// Bytes of a small value.
pub const SMALL_BYTES: usize = 100;

/// Keys of the sections with small values.
pub(super) const KEYS: [usize; 3] = [1, 1_000, 100_000];

/// Keys of the switches and of the what-if: a set that fits into the processor's nearer caches, and
/// not into a register.
pub const WHAT_IF_KEYS: usize = 1_000;

/// From so many keys on they are asked for in a random order as long as this: a round through them
/// all would take longer than a turn.
const LONG_ORDER: usize = 1 << 18;

/// A noise floor above this means that others had the processor for a part of each round.
const NOISY_US: f64 = 2_000.0;

/// Everything that a run holds on to.
pub(super) struct Run<'a> {
    options: &'a Options,
    interrupt: &'a AtomicBool,
    result: ModesResult,
}

impl<'a> Run<'a> {
    pub(super) fn new(options: &'a Options, interrupt: &'a AtomicBool) -> Self {
        let result = ModesResult {
            schema: SCHEMA.into(),
            hotcopy_version: env!("CARGO_PKG_VERSION").into(),
            started_at: jiff::Timestamp::now().to_string(),
            command_line: options.command_line.clone(),
            config: Config {
                rounds: options.rounds,
                round_ms: options.round_time.as_millis() as u64,
                small_bytes: SMALL_BYTES as u64,
                large_bytes: JSON_BYTES as u64,
                operations_per_request: options.operations_per_request,
                requests_per_s: options.requests_per_s,
                peers: cfg!(feature = "peers"),
            },
            machine: crate::stamp::machine_stamp(),
            hiccups: None,
            rows: Vec::new(),
            switches: Vec::new(),
            what_if: Vec::new(),
            java_script: JavaScript {
                runtime: None,
                notes: Vec::new(),
            },
            warnings: Vec::new(),
            interrupted: false,
        };
        Run {
            options,
            interrupt,
            result,
        }
    }

    pub(super) fn measure_all(mut self) -> ModesResult {
        let hiccups = HiccupMeter::start().ok();
        self.measure_sections();
        self.result.interrupted = !self.goes_on();
        self.result.hiccups = hiccups.map(|meter| Histogram::from_recorder(&meter.stop()));
        self.result.what_if = what_if(
            &self.result.rows,
            WHAT_IF_KEYS,
            self.options.operations_per_request,
            self.options.requests_per_s,
        );
        self.warn();
        self.result
    }

    fn measure_sections(&mut self) {
        let large = Arc::new(generate(0));
        let sections = KEYS.len() as u32 + 3;
        let mut progress = Progress::new(self.section_time() * sections);
        for keys in KEYS {
            let set = small(keys);
            self.section(&set, Object::Small, &mut progress);
        }
        let tree = KeySet::shuffled(1, |_| Arc::clone(&large));
        self.section(&tree, Object::Large, &mut progress);
        if self.goes_on() {
            progress.begin("what each feature costs".into(), self.section_time());
            let set = small(WHAT_IF_KEYS);
            self.result.switches = switches::section(&set, self.options.pace(), self.interrupt);
            progress.end_step();
        }
        if self.goes_on() {
            progress.begin("JavaScript".into(), self.section_time());
            let (rows, about) = java_script::measure(self.options, &large, self.interrupt);
            self.result.rows.extend(rows);
            self.result.java_script = about;
            progress.end_step();
        }
    }

    fn warn(&mut self) {
        let warnings = &mut self.result.warnings;
        if cfg!(debug_assertions) {
            warnings.push(
                "measured with a debug build, which is many times slower: use cargo run --release"
                    .into(),
            );
        }
        let p99_us = self.result.hiccups.as_ref().and_then(|it| it.p99_us);
        if let Some(p99_us) = p99_us.filter(|p99_us| *p99_us > NOISY_US) {
            warnings.push(format!(
                "the machine itself delayed a sleeping thread by {:.1} ms (p99), so it was busy with \
                 something else: measure again when nothing else runs",
                p99_us / 1e3
            ));
        }
    }

    fn section<V: DeepClone>(&mut self, set: &KeySet<V>, object: Object, progress: &mut Progress) {
        if !self.goes_on() {
            return;
        }
        let name = match object {
            Object::Small => format!("{} keys", set.keys.len()),
            Object::Large => "a large object".into(),
        };
        progress.begin(name, self.section_time());
        let rows = lineup::section(set, object, self.options.pace(), self.interrupt);
        self.result.rows.extend(rows);
        progress.end_step();
    }

    fn goes_on(&self) -> bool {
        !self.interrupt.load(Ordering::Relaxed)
    }

    /// About what a section takes: for the progress bar only.
    fn section_time(&self) -> Duration {
        let contenders = if cfg!(feature = "peers") { 26 } else { 10 };
        self.options.round_time * (self.options.rounds + 1) * contenders
    }
}

fn small(keys: usize) -> KeySet<Arc<[u8]>> {
    let value = |number: usize| -> Arc<[u8]> { Arc::from([number as u8; SMALL_BYTES]) };
    if keys < LONG_ORDER / 4 {
        KeySet::shuffled(keys, value)
    } else {
        KeySet::random(keys, LONG_ORDER, value)
    }
}
