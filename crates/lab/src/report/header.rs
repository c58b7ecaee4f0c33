//! What was read, from whom, on what and how: without it a figure means nothing.

use super::document::{Block, printable};
use super::quantity::{count, plain, size};
use crate::results::cost::{Config, CostResult, Decode, ValueInfo};
use crate::results::{MachineStamp, ServerStamp};

pub(super) fn blocks(result: &CostResult) -> Vec<Block> {
    let facts = [
        ("value", value(&result.config.value)),
        ("server", server(&result.server)),
        ("settings", settings(&result.server)),
        ("machine", machine(&result.machine)),
        ("client", client(&result.machine, &result.hotcopy_version)),
        ("asked for", asked(&result.config)),
        ("started", result.started_at.clone()),
        ("command", result.command_line.join(" ")),
    ];
    vec![
        Block::Title("hotcopy cost: what reading a value on every request costs".to_owned()),
        Block::Facts(
            facts
                .into_iter()
                .filter(|(_, value)| !value.is_empty())
                .map(|(name, value)| (name, printable(&value)))
                .collect(),
        ),
    ]
}

fn value(value: &ValueInfo) -> String {
    let mut text = format!("{} bytes, {}", count(value.bytes), value.source);
    if let Some(values) = value.values {
        text.push_str(&format!(", {} values", count(values)));
    }
    if let Some(depth) = value.depth {
        text.push_str(&format!(", depth {}", count(depth)));
    }
    format!("{text}; read with {}", value.command)
}

fn server(server: &ServerStamp) -> String {
    let place = if server.local {
        "on this machine"
    } else {
        "over a network"
    };
    format!(
        "{} {} at {}, {place}",
        server.name, server.version, server.target
    )
}

fn settings(server: &ServerStamp) -> String {
    let settings: Vec<String> = server
        .settings
        .iter()
        .map(|(name, value)| match value.as_str() {
            "" => format!("{name} \"\""),
            value => format!("{name} {value}"),
        })
        .collect();
    settings.join(", ")
}

pub(super) fn machine(machine: &MachineStamp) -> String {
    let known = |it: &Option<String>| it.clone().unwrap_or_else(|| "unknown".to_owned());
    let cores = if machine.cores == 1 { "core" } else { "cores" };
    let memory = machine.memory_bytes.map_or_else(
        || "memory unknown".to_owned(),
        |bytes| format!("{} of memory", size(bytes as f64)),
    );
    format!(
        "{}, {} {cores}, {memory}; {}, kernel {}; governor {}, hypervisor {}, clock {}",
        known(&machine.cpu),
        count(machine.cores as u64),
        machine.os,
        known(&machine.kernel),
        known(&machine.governor),
        known(&machine.hypervisor),
        known(&machine.clocksource),
    )
}

pub(super) fn client(machine: &MachineStamp, hotcopy_version: &str) -> String {
    format!(
        "hotcopy {hotcopy_version}, {} build, {}, allocator {}",
        machine.profile, machine.rustc, machine.allocator
    )
}

fn asked(config: &Config) -> String {
    let mut parts = vec![format!("{} reads/s", plain(config.rate_per_s))];
    if config.full_load {
        parts.push(format!(
            "full load with {} workers",
            count(config.workers as u64)
        ));
    }
    parts.push(format!("{} connections", count(config.pool as u64)));
    parts.push(format!("{} s a row", plain(config.seconds)));
    parts.push(
        match config.decode {
            Decode::Json => "decoded from JSON",
            Decode::Msgpack => "decoded from MessagePack",
            Decode::None => "not decoded",
            Decode::Client => "converted by the client library",
        }
        .to_owned(),
    );
    if config.instances > 1 {
        parts.push(format!("{} processes", count(config.instances)));
    }
    if let Some(seconds) = config.change_every_s {
        parts.push(format!("changed every {} s", plain(seconds)));
    }
    parts.join(", ")
}
