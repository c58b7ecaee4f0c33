//! `stats`: what the server says about itself, in memcached's words.

use std::fmt::Display;
use std::sync::atomic::Ordering;
use std::time::{Duration, UNIX_EPOCH};

use super::counts::Count;
use super::server::MEMCACHED_VERSION;
use super::{DATABASE, reply, reply_error};
use crate::command::Context;
use crate::output::Output;
use crate::process;
use crate::shared::Shared;

pub(super) fn stats(context: &mut Context<'_>, about: Option<&[u8]>) {
    let shared = context.shared;
    let mut lines = Lines(context.output);
    match about {
        None => general(shared, &mut lines),
        Some(b"settings") => settings(shared, &mut lines),
        Some(b"slabs") => {
            // Entries lie in no slabs, so that none can be of the wrong size.
            lines.add("active_slabs", 0);
            lines.add("total_malloced", shared.store.used_bytes());
        }
        Some(b"items") => {}
        Some(b"sizes") => lines.add("sizes_status", "disabled"),
        Some(b"reset") => {
            shared.reset_stats();
            return reply(context.output, "RESET");
        }
        Some(_) => return reply_error(context, "ERROR"),
    }
    reply(context.output, "END");
}

/// Lines of the form `STAT name value`.
struct Lines<'a>(&'a mut Output);

impl Lines<'_> {
    fn add(&mut self, name: &str, value: impl Display) {
        reply(self.0, &format!("STAT {name} {value}"));
    }

    fn add_time(&mut self, name: &str, time: Duration) {
        let (seconds, micros) = (time.as_secs(), time.subsec_micros());
        self.add(name, format_args!("{seconds}.{micros:06}"));
    }
}

fn general(shared: &Shared, lines: &mut Lines<'_>) {
    let now = std::time::SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    lines.add("pid", std::process::id());
    lines.add("uptime", shared.started.elapsed().as_secs());
    lines.add("time", now.as_secs());
    lines.add("version", MEMCACHED_VERSION);
    lines.add("hotcopy_version", env!("CARGO_PKG_VERSION"));
    lines.add("pointer_size", usize::BITS);
    let processor = process::processor_time();
    lines.add_time("rusage_user", processor.user);
    lines.add_time("rusage_system", processor.system);
    let load = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
    lines.add("max_connections", shared.config.max_clients);
    lines.add("curr_connections", shared.clients.len());
    lines.add("total_connections", load(&shared.totals.connections));
    let rejected = load(&shared.totals.rejected_connections);
    lines.add("rejected_connections", rejected);
    for (count, name) in Count::ALL {
        lines.add(name, shared.total(|counts| counts.memcached.of(count)));
    }
    lines.add("bytes_read", shared.total(|it| &it.input_bytes));
    lines.add("bytes_written", shared.total(|it| &it.output_bytes));
    lines.add("limit_maxbytes", shared.store.max_bytes().unwrap_or(0));
    lines.add("accepting_conns", 1);
    lines.add("threads", shared.loops.len());
    let store = shared.store.stats();
    lines.add("bytes", shared.store.used_bytes());
    lines.add("curr_items", shared.store.len(DATABASE));
    lines.add("total_items", store.inserts);
    lines.add("evictions", store.evictions);
    lines.add("reclaimed", store.expirations);
}

fn settings(shared: &Shared, lines: &mut Lines<'_>) {
    let config = &shared.config;
    lines.add("maxbytes", shared.store.max_bytes().unwrap_or(0));
    lines.add("maxconns", config.max_clients);
    let port = shared.tcp_address.map_or(0, |address| address.port());
    lines.add("tcpport", port);
    lines.add("udpport", 0);
    lines.add("inter", config.bind);
    match &config.unix {
        Some(path) => lines.add("domain_socket", path.display()),
        None => lines.add("domain_socket", "NULL"),
    }
    lines.add("verbosity", 0);
    lines.add("evictions", "on");
    lines.add("num_threads", shared.loops.len());
    lines.add("cas_enabled", "yes");
    lines.add("flush_enabled", "yes");
    lines.add("auth_enabled_sasl", "no");
    lines.add("auth_enabled_ascii", "no");
    lines.add("item_size_max", config.max_item_bytes);
    let idle_timeout = config.idle_timeout.unwrap_or_default();
    lines.add("idle_timeout", idle_timeout.as_secs());
}
