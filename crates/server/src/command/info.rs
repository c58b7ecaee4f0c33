//! `INFO`: what the server says about itself, in the sections and under the names of Redis.

use std::fmt::{Display, Write as _};
use std::sync::atomic::Ordering;
use std::time::UNIX_EPOCH;

use hotcopy_wire::resp::Args;

use super::config::MAXMEMORY_POLICY;
use super::table::{Command, Flags};
use super::{Context, Handled};
use crate::process;
use crate::pubsub::Topic;
use crate::shared::Shared;

/// Client libraries choose their behaviour by it: the version whose protocol and commands this
/// server follows.
pub(super) const REDIS_VERSION: &str = "7.4.0";

pub(super) const HOTCOPY_VERSION: &str = env!("CARGO_PKG_VERSION");

pub(super) const COMMANDS: &[Command] = &[Command::new("info", -1, info)
    .flags(&[Flags::ALWAYS, Flags::DANGEROUS])
    .doc(
        "server",
        "1.0.0",
        "O(1)",
        "What the server says about itself.",
    )];

type Section = fn(&Shared, &mut Lines);

const SECTIONS: &[(&str, Section)] = &[
    ("Server", server),
    ("Clients", clients),
    ("Memory", memory),
    ("Persistence", persistence),
    ("Stats", stats),
    ("Replication", replication),
    ("CPU", cpu),
    ("Cluster", cluster),
    ("Keyspace", keyspace),
];

/// Lines of the form `name:value`.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn add(&mut self, name: &str, value: impl Display) {
        let written = write!(self.0, "{name}:{value}\r\n");
        debug_assert!(written.is_ok(), "a string takes everything");
    }

    fn add_bytes(&mut self, name: &str, bytes: u64) {
        self.add(name, bytes);
        self.add(&format!("{name}_human"), human(bytes));
    }
}

fn human(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["K", "M", "G", "T"];
    if bytes < 1024 {
        return format!("{bytes}B");
    }
    let mut scaled = bytes as f64 / 1024.0;
    let mut unit = 0;
    while scaled >= 1024.0 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    format!("{scaled:.2}{}", UNITS[unit])
}

fn info(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let wants_all = args.len() == 1
        || args.iter().skip(1).any(|name| {
            ["all", "default", "everything"]
                .iter()
                .any(|word| name.eq_ignore_ascii_case(word.as_bytes()))
        });
    let mut lines = Lines::default();
    for (name, section) in SECTIONS {
        let mut names = args.iter().skip(1);
        if wants_all || names.any(|asked| asked.eq_ignore_ascii_case(name.as_bytes())) {
            if !lines.0.is_empty() {
                lines.0.push_str("\r\n");
            }
            lines.0.push_str(&format!("# {name}\r\n"));
            section(context.shared, &mut lines);
        }
    }
    context.reply().verbatim(b"txt", &lines.0);
    Ok(())
}

fn server(shared: &Shared, lines: &mut Lines) {
    let uptime = shared.started.elapsed().as_secs();
    let port = shared.tcp_address.map_or(0, |address| address.port());
    let now = std::time::SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let started = shared
        .started_at
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    lines.add("redis_version", REDIS_VERSION);
    lines.add("hotcopy_version", HOTCOPY_VERSION);
    lines.add("redis_mode", "standalone");
    lines.add("os", std::env::consts::OS);
    lines.add("arch_bits", usize::BITS);
    lines.add("process_id", std::process::id());
    lines.add("run_id", &shared.run_id);
    lines.add("tcp_port", port);
    lines.add("server_time_usec", now.as_micros());
    lines.add("start_time", started.as_secs());
    lines.add("uptime_in_seconds", uptime);
    lines.add("uptime_in_days", uptime / 86_400);
    lines.add("io_threads_active", u8::from(shared.loops.len() > 1));
    lines.add("event_loops", shared.loops.len());
    if let Some(executable) = std::env::current_exe().ok().as_deref() {
        lines.add("executable", executable.display());
    }
    lines.add("config_file", "");
}

fn clients(shared: &Shared, lines: &mut Lines) {
    lines.add("connected_clients", shared.clients.len());
    lines.add("maxclients", shared.config.max_clients);
    lines.add("pubsub_clients", shared.clients.subscribers());
    lines.add("blocked_clients", 0);
    lines.add("tracking_clients", 0);
}

fn memory(shared: &Shared, lines: &mut Lines) {
    let dataset = shared.store.used_bytes();
    let requests = shared.request_bytes.load(Ordering::Relaxed) as u64;
    let outputs = shared.output_bytes.load(Ordering::Relaxed) as u64;
    lines.add_bytes("used_memory", dataset + requests + outputs);
    if let Some(resident) = process::resident_bytes() {
        lines.add_bytes("used_memory_rss", resident);
    }
    if let Some(peak) = process::peak_resident_bytes() {
        lines.add_bytes("used_memory_peak", peak);
    }
    lines.add("used_memory_dataset", dataset);
    lines.add("mem_clients_requests", requests);
    lines.add("mem_clients_outputs", outputs);
    lines.add_bytes("maxmemory", shared.config.max_memory.unwrap_or(0));
    lines.add("maxmemory_policy", MAXMEMORY_POLICY);
    lines.add("mem_allocator", "system");
}

fn persistence(_: &Shared, lines: &mut Lines) {
    lines.add("loading", 0);
    lines.add("rdb_bgsave_in_progress", 0);
    lines.add("aof_enabled", 0);
    lines.add("aof_rewrite_in_progress", 0);
}

fn stats(shared: &Shared, lines: &mut Lines) {
    let totals = &shared.totals;
    let store = shared.store.stats();
    let count = |total: &std::sync::atomic::AtomicU64| total.load(Ordering::Relaxed);
    lines.add("total_connections_received", count(&totals.connections));
    lines.add("total_commands_processed", shared.total(|it| &it.commands));
    lines.add("total_net_input_bytes", shared.total(|it| &it.input_bytes));
    lines.add(
        "total_net_output_bytes",
        shared.total(|it| &it.output_bytes),
    );
    lines.add("rejected_connections", count(&totals.rejected_connections));
    lines.add("expired_keys", store.expirations);
    lines.add("evicted_keys", store.evictions);
    lines.add("keyspace_hits", store.hits);
    lines.add("keyspace_misses", store.misses);
    lines.add("pubsub_channels", shared.pubsub.len(Topic::Channel));
    lines.add("pubsub_patterns", shared.pubsub.len(Topic::Pattern));
    lines.add("total_error_replies", shared.total(|it| &it.error_replies));
    let requests = count(&totals.request_limit_disconnections);
    lines.add("client_query_buffer_limit_disconnections", requests);
    let outputs = count(&totals.output_limit_disconnections);
    lines.add("client_output_buffer_limit_disconnections", outputs);
    lines.add("command_panics", count(&totals.panics));
}

fn replication(shared: &Shared, lines: &mut Lines) {
    lines.add("role", "master");
    lines.add("connected_slaves", 0);
    lines.add("master_replid", &shared.run_id);
    lines.add("master_repl_offset", 0);
}

fn cpu(_: &Shared, lines: &mut Lines) {
    let own = process::processor_time();
    let children = process::children_processor_time();
    for (name, time) in [
        ("used_cpu_sys", own.system),
        ("used_cpu_user", own.user),
        ("used_cpu_sys_children", children.system),
        ("used_cpu_user_children", children.user),
    ] {
        lines.add(name, format_args!("{:.6}", time.as_secs_f64()));
    }
}

fn cluster(_: &Shared, lines: &mut Lines) {
    lines.add("cluster_enabled", 0);
}

fn keyspace(shared: &Shared, lines: &mut Lines) {
    let store = &shared.store;
    for database in store.databases().filter(|it| !store.is_empty(*it)) {
        let keys = store.len(database);
        let expires = store.len_with_deadline(database);
        lines.add(
            &format!("db{}", database.index()),
            format_args!("keys={keys},expires={expires},avg_ttl=0"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_in_the_largest_unit_that_keeps_them_above_one() {
        for (bytes, shown) in [
            (0, "0B"),
            (1023, "1023B"),
            (1024, "1.00K"),
            (1_683_008, "1.61M"),
            (25_325_268_992, "23.59G"),
            (u64::MAX, "16777216.00T"),
        ] {
            assert_eq!(human(bytes), shown);
        }
    }
}
