//! A full result of `hotcopy modes`, built by hand, that the tests print.

use std::time::Duration;

use hotcopy_lab::results::modes::{
    Access, Config, Configuration, Family, JavaScript, ModesResult, Object, Row, SCHEMA, Switch,
    SwitchRow, WhatIf,
};
use hotcopy_lab::results::{Histogram, Recorder};
use hotcopy_lab::rounds::PerOperation;

const OURS: &str = "hotcopy";
const TS_CACHE: &str = "ts-cache 0.1.2";

/// Everything measured, with some peers of each kind.
pub(crate) fn full() -> ModesResult {
    let mut result = ModesResult {
        schema: SCHEMA.to_owned(),
        hotcopy_version: "0.1.0".to_owned(),
        started_at: "2026-01-02T03:04:05Z".to_owned(),
        command_line: ["hotcopy", "modes"].map(str::to_owned).to_vec(),
        config: Config {
            rounds: 7,
            round_ms: 20,
            small_bytes: 100,
            large_bytes: 41_083,
            operations_per_request: 10.0,
            requests_per_s: 10_000.0,
            peers: true,
        },
        machine: super::machine(),
        hiccups: Some(hiccups()),
        rows: Vec::new(),
        switches: vec![
            switch(Switch::Nothing, 12.0, 50.0, None),
            switch(Switch::MaxEntries, 12.25, 58.0, Some((0.25, 8.0))),
            switch(Switch::All, 11.5, 61.0, Some((-0.5, 11.0))),
        ],
        what_if: vec![
            what_if(OURS, Access::Borrowed, 12.5, 0.0),
            what_if(TS_CACHE, Access::Cloned, 612.5, 60.0),
        ],
        java_script: JavaScript {
            runtime: Some("node v20.20.2".to_owned()),
            notes: vec!["ts-cache 0.1.2, the newest release, has no ultra-fast mode".to_owned()],
        },
        warnings: vec!["the machine was busy: measure again".to_owned()],
        interrupted: false,
    };
    for (object, keys, scale) in [
        (Object::Small, 1, 1.0),
        (Object::Small, 1_000, 1.25),
        (Object::Small, 100_000, 10.0),
        (Object::Large, 1, 1.0),
    ] {
        let cloned = if object == Object::Large {
            21_408.4
        } else {
            40.0
        };
        let mut row = |contender: &str, family, configuration, access, get, set| {
            result.rows.push(Row {
                contender: contender.to_owned(),
                family,
                configuration,
                access,
                object,
                keys,
                get: Some(time(get * scale)),
                set: Some(time(set * scale)),
            });
        };
        use Access::{Borrowed, Cloned, None, Shared};
        use Configuration::{AllOn, NothingOn, Plain};
        row("no-op", Family::Nothing, NothingOn, None, 1.0, 9.0);
        row(OURS, Family::Ours, NothingOn, Borrowed, 9.0, 50.0);
        row(OURS, Family::Ours, AllOn, Borrowed, 10.0, 60.0);
        row(OURS, Family::Ours, AllOn, Shared, 20.0, 60.0);
        row(OURS, Family::Ours, AllOn, Cloned, cloned, 60.0 + cloned);
        row("quick_cache sync", Family::Rust, Plain, Shared, 35.0, 70.0);
        row(TS_CACHE, Family::JavaScript, AllOn, Cloned, 490.0, 700.0);
    }
    result
}

/// Ended by Ctrl-C in the first section, without JavaScript.
pub(crate) fn interrupted() -> ModesResult {
    let mut result = full();
    result.rows.truncate(3);
    result.rows[2].set = None;
    result.switches.clear();
    result.what_if.clear();
    result.hiccups = None;
    result.java_script = JavaScript {
        runtime: None,
        notes: Vec::new(),
    };
    result.interrupted = true;
    result
}

fn hiccups() -> Histogram {
    let mut recorder = Recorder::new();
    for microseconds in 0..2_000 {
        recorder.record(Duration::from_micros(microseconds % 100));
    }
    Histogram::from_recorder(&recorder)
}

fn time(ns: f64) -> PerOperation {
    PerOperation {
        median_ns: ns,
        min_ns: ns * 0.9,
        max_ns: ns * 1.2,
    }
}

fn switch(switch: Switch, get: f64, set: f64, costs: Option<(f64, f64)>) -> SwitchRow {
    SwitchRow {
        switch,
        keys: 1_000,
        get: time(get),
        set: time(set),
        get_cost_ns: costs.map(|it| it.0),
        set_cost_ns: costs.map(|it| it.1),
    }
}

fn what_if(contender: &str, access: Access, get_ns: f64, saved_ms_per_s: f64) -> WhatIf {
    WhatIf {
        contender: contender.to_owned(),
        configuration: Configuration::AllOn,
        access,
        get_ns,
        reads_ms_per_s: get_ns * 0.1,
        saved_ms_per_s,
        more_requests_per_s: saved_ms_per_s * 10.0,
    }
}
