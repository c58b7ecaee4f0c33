//! An event loop: one thread, its connections, and the order in which they are served.
//!
//! Events are edge-triggered, so a connection remembers what it was told and what is left is queued
//! here. There are two queues. *Bulk* holds connections for which output was left by an earlier turn
//! and whose socket takes more, those that send a large value, and those with a command that takes many turns (see
//! [`crate::command::work`]); one of them has a turn, then the loop looks for events again. *Ready*
//! holds all others that have something to do; all of them have a turn. A turn writes one piece and
//! executes within a budget, see [`crate::turn`]. So however many clients read or write large values or list all
//! keys, a small request of another waits for one turn of one of them.

use std::collections::{HashSet, VecDeque};
use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use foldhash::fast::RandomState;
use hotcopy_engine::bytes::UnixMillis;
use hotcopy_wire::resp::Version;
use mio::event::Event;
use mio::{Events, Interest, Poll, Token};
use patience::IdleWatch;
use slab::Slab;

use crate::clients::Origin;
use crate::connection::Connection;
use crate::mailbox::Message;
use crate::pubsub::{Delivery, Receiver, Topic};
use crate::session::Session;
use crate::share::Company;
use crate::shared::{LoopHandle, Shared};
use crate::socket::Socket;
use crate::turn::{Outcome, Scratch, Turn};

/// The loop's own wake-up channel.
pub(crate) const WAKER: Token = Token(usize::MAX);

const EVENTS_PER_POLL: usize = 1024;

/// How often expired entries are looked for; how soon again when there was more than the time for it
/// sufficed for; and that time.
const SWEEP_INTERVAL: Duration = Duration::from_millis(100);
const SWEEP_AGAIN: Duration = Duration::from_millis(10);
const SWEEP_TIME: Duration = Duration::from_millis(1);

/// Entries looked at under one lock.
const SWEEP_STEP: usize = 64;

mod patience;
#[cfg(test)]
mod tests;

pub(crate) struct EventLoop {
    index: usize,
    poll: Poll,
    shared: Arc<Shared>,
    connections: Slab<Connection>,
    ready: VecDeque<usize>,
    bulk: VecDeque<usize>,
    /// Connections for which output waits.
    waiting: HashSet<usize, RandomState>,
    scratch: Scratch,
    sweep_due: Instant,
    checked_stalls_at: Instant,
    idle_watch: IdleWatch,
    company: Company,
    stops_at: Option<Instant>,
}

impl EventLoop {
    /// `poll` is the one that the loop's waker was made for.
    pub(crate) fn new(index: usize, poll: Poll, shared: Arc<Shared>) -> Self {
        let now = Instant::now();
        EventLoop {
            index,
            poll,
            shared,
            connections: Slab::new(),
            ready: VecDeque::new(),
            bulk: VecDeque::new(),
            waiting: HashSet::default(),
            scratch: Scratch::new(),
            sweep_due: now,
            checked_stalls_at: now,
            idle_watch: IdleWatch::new(now),
            company: Company::new(now),
            stops_at: None,
        }
    }

    /// Serves until it is told to stop.
    pub(crate) fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(EVENTS_PER_POLL);
        loop {
            let now = self.round(&mut events)?;
            if let Some(stops_at) = self.stops_at
                && (self.connections.is_empty() || now >= stops_at)
            {
                return Ok(());
            }
        }
    }

    /// Looks for events once and serves those that are due. Returns when the events had come.
    fn round(&mut self, events: &mut Events) -> io::Result<Instant> {
        match self.poll.poll(events, self.timeout()) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        let mut has_mail = false;
        for event in &*events {
            if event.token() == WAKER {
                has_mail = true;
            } else {
                self.note(event);
            }
        }
        if has_mail {
            for message in self.handle().mailbox.take() {
                self.receive(message);
            }
        }
        let now = Instant::now();
        self.shared.flush_if_due();
        self.serve(now);
        self.sweep_expired(now);
        self.close_stalled(now);
        self.close_idle(now);
        Ok(now)
    }

    fn handle(&self) -> &LoopHandle {
        &self.shared.loops[self.index]
    }

    fn timeout(&self) -> Option<Duration> {
        if !self.ready.is_empty() || !self.bulk.is_empty() {
            return Some(Duration::ZERO);
        }
        let needs_sweep = self.shared.store.needs_sweep();
        let now = Instant::now();
        let sweep = needs_sweep.then(|| self.sweep_due.saturating_duration_since(now));
        let patience = self.patience_ends(now);
        let stop = self.stops_at.map(|at| at.saturating_duration_since(now));
        let flush = self.shared.scheduled_flush.due_in();
        let ends = [sweep, patience, stop, flush];
        ends.into_iter().flatten().min()
    }

    fn note(&mut self, event: &Event) {
        let Some(connection) = self.connections.get_mut(event.token().0) else {
            return;
        };
        // An error is met by the next read or write.
        connection.is_readable |= event.is_readable() || event.is_error();
        connection.is_writable |= event.is_writable() || event.is_error();
        connection.is_read_closed |= event.is_read_closed();
        self.queue(event.token().0);
    }

    fn queue(&mut self, token: usize) {
        if let Some(connection) = self.connections.get_mut(token)
            && !connection.queued
        {
            connection.queued = true;
            // A full socket says when it takes more, and that is the usual end of a large reply's
            // turn: such an event does not make the connection one with a new request.
            let is_large_reply = connection.is_writable && self.waiting.contains(&token);
            if is_large_reply || connection.has_large_work() {
                self.bulk.push_back(token);
            } else {
                self.ready.push_back(token);
            }
        }
    }

    fn receive(&mut self, message: Message) {
        match message {
            Message::Adopt(socket) => self.adopt(socket),
            Message::Deliver(delivery) => self.deliver(&delivery),
            Message::Overflowed(receivers) => {
                for receiver in receivers {
                    self.close_slow_subscriber(receiver);
                }
            }
            Message::Stop => self.begin_stop(),
        }
    }

    fn adopt(&mut self, mut socket: Socket) {
        socket.configure();
        let (address, local_address) = socket.addresses();
        let client = self.shared.clients.connect(Origin {
            address,
            local_address,
            descriptor: std::os::fd::AsRawFd::as_raw_fd(&socket),
            is_unix: socket.is_unix(),
        });
        let slot = self.connections.vacant_entry();
        let token = slot.key();
        let interest = Interest::READABLE | Interest::WRITABLE;
        let registered = self
            .poll
            .registry()
            .register(&mut socket, Token(token), interest);
        let receiver = Receiver {
            event_loop: self.index,
            token,
            client: client.id,
        };
        let session = Session::new(receiver, self.shared.config.password.is_none());
        slot.insert(Connection::new(socket, client, session, Instant::now()));
        if registered.is_err() || self.stops_at.is_some() {
            self.close(token);
        } else {
            self.queue(token);
        }
    }

    fn serve(&mut self, now: Instant) {
        if !self.ready.is_empty() || !self.bulk.is_empty() {
            let since_start = now.saturating_duration_since(self.shared.started);
            self.handle().note_served(since_start);
        }
        // Those that are queued again meanwhile have their turn after the next look for events.
        for _ in 0..self.ready.len() {
            let Some(token) = self.ready.pop_front() else {
                break;
            };
            self.turn(token, now);
        }
        if let Some(token) = self.bulk.pop_front() {
            self.turn(token, now);
        }
    }

    fn turn(&mut self, token: usize, now: Instant) {
        let Some(connection) = self.connections.get_mut(token) else {
            return;
        };
        connection.queued = false;
        self.company.note(token, now);
        let is_under_way = !connection.output.is_empty();
        let share = is_under_way.then(|| self.company.share(self.index, &self.shared, now));
        let outcome = connection.turn(&mut Turn {
            shared: &self.shared,
            counts: &self.shared.loops[self.index].counts,
            scratch: &mut self.scratch,
            now,
            share,
        });
        if connection.output.is_empty() {
            if !self.waiting.is_empty() {
                self.waiting.remove(&token);
            }
        } else {
            self.waiting.insert(token);
        }
        match outcome {
            Outcome::Wait => {}
            Outcome::GoOn => self.queue(token),
            Outcome::Close => self.close(token),
        }
    }

    fn deliver(&mut self, delivery: &Delivery) {
        let Delivery {
            channel,
            pattern,
            receivers,
            ..
        } = delivery;
        let (topic, name) = match pattern {
            Some(pattern) => (Topic::Pattern, pattern),
            None => (Topic::Channel, channel),
        };
        // Encoded once for each protocol version that somebody here speaks.
        let mut encoded = [None, None];
        for &receiver in receivers {
            let Some(connection) = self.connections.get_mut(receiver.token) else {
                continue;
            };
            let session = &connection.session;
            let is_meant = connection.client.id == receiver.client
                && session.is_subscribed_to(topic, name)
                && !session.is_closing;
            if !is_meant {
                continue;
            }
            let version = session.version;
            let message = encoded[usize::from(version == Version::Resp3)]
                .get_or_insert_with(|| delivery.encode(version));
            connection.deliver(message);
            if connection.output_bytes() > self.shared.config.subscriber_output_bytes {
                self.close_slow_subscriber(receiver);
            } else {
                self.queue(receiver.token);
            }
        }
    }

    fn close_slow_subscriber(&mut self, receiver: Receiver) {
        let connection = self.connections.get(receiver.token);
        if connection.is_some_and(|it| it.client.id == receiver.client) {
            let disconnections = &self.shared.totals.output_limit_disconnections;
            disconnections.fetch_add(1, Ordering::Relaxed);
            self.close(receiver.token);
        }
    }

    fn sweep_expired(&mut self, now: Instant) {
        if now < self.sweep_due {
            return;
        }
        self.sweep_due = now + SWEEP_INTERVAL;
        let Some(mut sweep) = self.shared.sweep.try_lock() else {
            return;
        };
        let (store, wall_clock) = (&self.shared.store, UnixMillis::now());
        // Not `now`: serving may have taken longer than a sweep may.
        let began = Instant::now();
        while !store.sweep(&mut sweep, wall_clock, SWEEP_STEP).finished {
            if began.elapsed() > SWEEP_TIME {
                self.sweep_due = now + SWEEP_AGAIN;
                return;
            }
        }
    }

    fn begin_stop(&mut self) {
        self.stops_at = Some(Instant::now() + self.shared.config.stop_grace);
        let tokens: Vec<usize> = self.connections.iter().map(|(token, _)| token).collect();
        for token in tokens {
            self.connections[token].begin_end();
            self.queue(token);
        }
    }

    fn close(&mut self, token: usize) {
        self.waiting.remove(&token);
        let Some(mut connection) = self.connections.try_remove(token) else {
            return;
        };
        connection.release(&self.shared);
        let client = &connection.client;
        for topic in [Topic::Channel, Topic::Pattern] {
            for name in connection.session.subscribed(topic) {
                self.shared.pubsub.unsubscribe(topic, &name, client.id);
            }
        }
        self.shared.clients.disconnect(client);
        self.shared.clients.leave();
        self.handle().connections.fetch_sub(1, Ordering::Relaxed);
        // Bytes that nobody read would make the kernel reset the connection, and the peer could lose
        // the reply that says why it ends. One look suffices for a peer that waits for it.
        let _ = connection.socket.read(&mut [0; 4096]);
        let _ = self.poll.registry().deregister(&mut connection.socket);
    }
}
