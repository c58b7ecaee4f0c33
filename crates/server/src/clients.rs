//! The registry of connected clients, which `CLIENT LIST` and `INFO` read from any loop.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Bound;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

use crate::command::table;

/// What others may know about a connection. The connection's own loop writes it, anybody reads it;
/// the fields do not have to agree with each other, so relaxed atomics do.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) id: u64,
    address: String,
    local_address: String,
    descriptor: RawFd,
    is_unix: bool,
    connected_at: Instant,
    pub(crate) names: Mutex<Names>,
    /// Milliseconds from `connected_at` to the last command.
    active_ms: AtomicU64,
    last_command: AtomicUsize,
    pub(crate) database: AtomicUsize,
    channels: AtomicUsize,
    patterns: AtomicUsize,
    pub(crate) protocol: AtomicU8,
    pub(crate) input_bytes: AtomicUsize,
    pub(crate) output_bytes: AtomicUsize,
}

/// What a client says about itself.
#[derive(Debug, Default, Clone)]
pub(crate) struct Names {
    pub(crate) name: String,
    pub(crate) library: String,
    pub(crate) library_version: String,
}

impl Client {
    pub(crate) fn note_command(&self, command: usize, now: Instant) {
        self.note_activity(now);
        self.last_command.store(command, Ordering::Relaxed);
    }

    /// Notes a request that is no command of the table.
    pub(crate) fn note_activity(&self, now: Instant) {
        let active = now.saturating_duration_since(self.connected_at);
        let active_ms = u64::try_from(active.as_millis()).unwrap_or(u64::MAX);
        self.active_ms.store(active_ms, Ordering::Relaxed);
    }

    pub(crate) fn is_subscriber(&self) -> bool {
        self.channels.load(Ordering::Relaxed) + self.patterns.load(Ordering::Relaxed) > 0
    }

    /// One line as `CLIENT LIST` shows it, without the line end. What this server has no counterpart
    /// for (transactions, output blocks of fixed size) reads as unused.
    pub(crate) fn describe(&self, now: Instant) -> String {
        let age = now.saturating_duration_since(self.connected_at);
        let age_ms = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
        let idle_ms = age_ms.saturating_sub(self.active_ms.load(Ordering::Relaxed));
        let subscriptions = self.channels.load(Ordering::Relaxed);
        let patterns = self.patterns.load(Ordering::Relaxed);
        let mut flags = String::new();
        if self.is_subscriber() {
            flags.push('P');
        }
        if self.is_unix {
            flags.push('U');
        }
        if flags.is_empty() {
            flags.push('N');
        }
        let input = self.input_bytes.load(Ordering::Relaxed);
        let output = self.output_bytes.load(Ordering::Relaxed);
        let names = self.names.lock().clone();
        let mut line = String::new();
        let written = write!(
            line,
            "id={} addr={} laddr={} fd={} name={} age={} idle={} flags={flags} db={} \
             sub={subscriptions} psub={patterns} ssub=0 multi=-1 watch=0 qbuf={input} qbuf-free=0 \
             argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl={output} oll=0 omem={output} tot-mem={} \
             events=rw cmd={} user=default redir=-1 resp={} lib-name={} lib-ver={}",
            self.id,
            self.address,
            self.local_address,
            self.descriptor,
            names.name,
            age_ms / 1000,
            idle_ms / 1000,
            self.database.load(Ordering::Relaxed),
            size_of::<Client>() + input + output,
            table::full_name(self.last_command.load(Ordering::Relaxed)).unwrap_or("NULL"),
            self.protocol.load(Ordering::Relaxed),
            names.library,
            names.library_version,
        );
        debug_assert!(written.is_ok(), "a string takes everything");
        line
    }
}

#[derive(Debug, Default)]
pub(crate) struct Clients {
    connected: Mutex<BTreeMap<u64, Arc<Client>>>,
    count: AtomicUsize,
    subscribers: AtomicUsize,
    last_id: AtomicU64,
}

/// Where a new client comes from.
pub(crate) struct Origin {
    pub(crate) address: String,
    pub(crate) local_address: String,
    pub(crate) descriptor: RawFd,
    pub(crate) is_unix: bool,
}

impl Clients {
    pub(crate) fn connect(&self, origin: Origin) -> Arc<Client> {
        let client = Arc::new(Client {
            id: self.last_id.fetch_add(1, Ordering::Relaxed) + 1,
            address: origin.address,
            local_address: origin.local_address,
            descriptor: origin.descriptor,
            is_unix: origin.is_unix,
            connected_at: Instant::now(),
            names: Mutex::default(),
            active_ms: AtomicU64::new(0),
            last_command: AtomicUsize::new(usize::MAX),
            database: AtomicUsize::new(0),
            channels: AtomicUsize::new(0),
            patterns: AtomicUsize::new(0),
            protocol: AtomicU8::new(2),
            input_bytes: AtomicUsize::new(0),
            output_bytes: AtomicUsize::new(0),
        });
        self.connected.lock().insert(client.id, Arc::clone(&client));
        client
    }

    pub(crate) fn disconnect(&self, client: &Client) {
        self.connected.lock().remove(&client.id);
        if client.is_subscriber() {
            self.subscribers.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Notes how much a client is subscribed to. Only its own loop may call this.
    pub(crate) fn note_subscriptions(&self, client: &Client, channels: usize, patterns: usize) {
        let was_subscriber = client.is_subscriber();
        client.channels.store(channels, Ordering::Relaxed);
        client.patterns.store(patterns, Ordering::Relaxed);
        match (was_subscriber, client.is_subscriber()) {
            (false, true) => {
                self.subscribers.fetch_add(1, Ordering::Relaxed);
            }
            (true, false) => {
                self.subscribers.fetch_sub(1, Ordering::Relaxed);
            }
            _ => {}
        }
    }

    /// Clients that are subscribed to something.
    pub(crate) fn subscribers(&self) -> usize {
        self.subscribers.load(Ordering::Relaxed)
    }

    /// Takes a place for a connection that was accepted; false if all `max` are taken.
    pub(crate) fn admit(&self, max: usize) -> bool {
        let admitted = |count| (count < max).then_some(count + 1);
        self.count
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, admitted)
            .is_ok()
    }

    /// Gives back the place that [`admit`](Self::admit) took.
    pub(crate) fn leave(&self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }

    /// Connections that are admitted.
    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// The next clients behind the one with this number, in the order in which they connected.
    pub(crate) fn after(&self, id: u64, max: usize) -> Vec<Arc<Client>> {
        let connected = self.connected.lock();
        let behind = connected.range((Bound::Excluded(id), Bound::Unbounded));
        behind.take(max).map(|(_, it)| Arc::clone(it)).collect()
    }
}
