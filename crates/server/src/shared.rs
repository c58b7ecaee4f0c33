//! What all loops of a server share.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Instant, SystemTime};

use hotcopy_engine::bytes::{ByteStore, Database, Discarded, Sweep};
use parking_lot::Mutex;

use crate::clients::Clients;
use crate::config::Config;
use crate::mailbox::Mailbox;
use crate::memcached;
use crate::pubsub::PubSub;
use crate::scheduled_flush::ScheduledFlush;
use crate::share::LastServed;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) store: ByteStore,
    pub(crate) clients: Clients,
    pub(crate) pubsub: PubSub,
    pub(crate) loops: Box<[LoopHandle]>,
    pub(crate) totals: Totals,
    pub(crate) tcp_address: Option<SocketAddr>,
    pub(crate) started: Instant,
    pub(crate) started_at: SystemTime,
    /// Forty hexadecimal digits that differ from start to start, so that a client can tell a restart.
    pub(crate) run_id: String,
    /// Bytes of requests that have not arrived completely.
    pub(crate) request_bytes: AtomicUsize,
    /// Reply bytes that wait to be written.
    pub(crate) output_bytes: AtomicUsize,
    pub(crate) discard: Discard,
    pub(crate) scheduled_flush: ScheduledFlush,
    /// One sweep for all: a loop without connections may sleep, so each that is awake goes on with it.
    pub(crate) sweep: Mutex<Sweep>,
}

/// What other threads know of an event loop. A cache line of its own, because the loop counts in it.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct LoopHandle {
    pub(crate) mailbox: Mailbox,
    /// Connections that are placed on the loop.
    pub(crate) connections: AtomicUsize,
    pub(crate) counts: LoopCounts,
    pub(crate) last_served: LastServed,
}

/// Totals of one loop. Only the loop itself adds to them.
#[derive(Debug, Default)]
pub(crate) struct LoopCounts {
    pub(crate) commands: AtomicU64,
    pub(crate) input_bytes: AtomicU64,
    pub(crate) output_bytes: AtomicU64,
    pub(crate) error_replies: AtomicU64,
    /// By verb of the memcached protocol.
    pub(crate) memcached: memcached::Counts,
}

/// Totals of events that are rare enough to be counted in one place.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub(crate) connections: AtomicU64,
    pub(crate) rejected_connections: AtomicU64,
    pub(crate) request_limit_disconnections: AtomicU64,
    pub(crate) output_limit_disconnections: AtomicU64,
    pub(crate) panics: AtomicU64,
}

impl Shared {
    pub(crate) fn mailbox(&self, event_loop: usize) -> &Mailbox {
        &self.loops[event_loop].mailbox
    }

    /// Reply bytes that a client may have waiting before it must read.
    pub(crate) fn output_allowance(&self) -> usize {
        let waiting = self.output_bytes.load(Ordering::Relaxed);
        if waiting > self.config.total_output_bytes {
            let crowded = self.config.crowded_output_bytes;
            crowded.min(self.config.client_output_bytes)
        } else {
            self.config.client_output_bytes
        }
    }

    /// Sum of one count over all loops.
    pub(crate) fn total(&self, count: impl Fn(&LoopCounts) -> &AtomicU64) -> u64 {
        self.loops
            .iter()
            .map(|each| count(&each.counts).load(Ordering::Relaxed))
            .sum()
    }

    /// Empties a database. Its memory is freed aside.
    pub(crate) fn flush(&self, database: Database) {
        self.discard.send(self.store.flush(database));
    }

    /// Does what `flush_all` has scheduled, if its time has come.
    pub(crate) fn flush_if_due(&self) {
        if self.scheduled_flush.take_if_due() {
            self.flush(Database::FIRST);
        }
    }

    /// `CONFIG RESETSTAT`.
    pub(crate) fn reset_stats(&self) {
        self.store.reset_stats();
        for each in &self.loops {
            let LoopCounts {
                commands,
                input_bytes,
                output_bytes,
                error_replies,
                memcached,
            } = &each.counts;
            memcached.reset();
            for count in [commands, input_bytes, output_bytes, error_replies] {
                count.store(0, Ordering::Relaxed);
            }
        }
        let Totals {
            connections,
            rejected_connections,
            request_limit_disconnections,
            output_limit_disconnections,
            panics: _,
        } = &self.totals;
        for count in [
            connections,
            rejected_connections,
            request_limit_disconnections,
            output_limit_disconnections,
        ] {
            count.store(0, Ordering::Relaxed);
        }
    }
}

/// A thread that frees what a flush took out, so that no client waits for it.
#[derive(Debug)]
pub(crate) struct Discard(Sender<Discarded>);

impl Discard {
    pub(crate) fn start() -> std::io::Result<Self> {
        let (sender, receiver) = channel();
        // Ends when the last sender is gone, which is when the server is.
        std::thread::Builder::new()
            .name("hotcopy-free".to_owned())
            .spawn(move || receiver.into_iter().for_each(drop::<Discarded>))?;
        Ok(Discard(sender))
    }

    pub(crate) fn send(&self, discarded: Discarded) {
        // Without the thread it is freed here.
        drop(self.0.send(discarded));
    }
}

/// Moves a shared sum from what one part of it was to what it is now.
pub(crate) fn settle(sum: &AtomicUsize, accounted: &mut usize, now: usize) {
    if *accounted != now {
        // Wrapping: a negative difference is added as its two's complement.
        sum.fetch_add(now.wrapping_sub(*accounted), Ordering::Relaxed);
        *accounted = now;
    }
}
