//! Who listens to which channel or pattern, on which loop.
//!
//! The registry is shared by all loops. A publisher looks up the receivers and posts one delivery per
//! loop; that loop writes to its own connections. So a message is handed over in the publisher's
//! order to each loop, and no connection is touched by two threads.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use foldhash::fast::RandomState;
use hotcopy_wire::resp::{Encoder, Version};
use parking_lot::RwLock;

use crate::command::glob::Pattern;
use crate::mailbox::Mailbox;

/// A subscribed connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Receiver {
    pub(crate) event_loop: usize,
    pub(crate) token: usize,
    /// Tells the connection from a later one that has the same token.
    pub(crate) client: u64,
}

/// A message on its way to the connections of one loop.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub(crate) channel: Bytes,
    /// Present if the receivers subscribed to a pattern that the channel matches.
    pub(crate) pattern: Option<Bytes>,
    pub(crate) payload: Bytes,
    pub(crate) receivers: Vec<Receiver>,
}

/// What is subscribed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Topic {
    Channel,
    Pattern,
}

type Listeners = HashMap<Bytes, HashMap<u64, Receiver, RandomState>, RandomState>;

#[derive(Debug, Default)]
pub(crate) struct PubSub {
    channels: RwLock<Listeners>,
    patterns: RwLock<Listeners>,
    /// Channels and patterns that somebody listens to: while it is zero, a publisher takes no lock.
    topics: AtomicUsize,
}

impl PubSub {
    fn listeners(&self, topic: Topic) -> &RwLock<Listeners> {
        match topic {
            Topic::Channel => &self.channels,
            Topic::Pattern => &self.patterns,
        }
    }

    pub(crate) fn subscribe(&self, topic: Topic, name: Bytes, receiver: Receiver) {
        let mut listeners = self.listeners(topic).write();
        let known = listeners.len();
        listeners
            .entry(name)
            .or_default()
            .insert(receiver.client, receiver);
        let added = listeners.len() - known;
        self.topics.fetch_add(added, Ordering::SeqCst);
    }

    pub(crate) fn unsubscribe(&self, topic: Topic, name: &Bytes, client: u64) {
        let mut listeners = self.listeners(topic).write();
        if let Some(receivers) = listeners.get_mut(name) {
            receivers.remove(&client);
            if receivers.is_empty() {
                listeners.remove(name);
                self.topics.fetch_sub(1, Ordering::SeqCst);
            }
        }
    }

    /// How many channels or patterns have subscribers.
    pub(crate) fn len(&self, topic: Topic) -> usize {
        self.listeners(topic).read().len()
    }

    /// Compared while nothing is locked, so that a pattern made to be slow keeps no subscriber waiting.
    fn patterns_matching(&self, channel: &[u8]) -> Vec<Bytes> {
        let mut patterns: Vec<Bytes> = self.patterns.read().keys().cloned().collect();
        patterns.retain(|pattern| Pattern::known(pattern).matches(channel));
        patterns
    }

    /// Sends a message to all who listen; returns how many times it is received.
    pub(crate) fn publish<'a>(
        &self,
        channel: &[u8],
        payload: &[u8],
        mailbox: impl Fn(usize) -> &'a Mailbox,
    ) -> usize {
        if self.topics.load(Ordering::SeqCst) == 0 {
            return 0;
        }
        let mut routed = Vec::new();
        if let Some(receivers) = self.channels.read().get(channel) {
            routed.push((None, by_loop(receivers.values())));
        }
        for pattern in self.patterns_matching(channel) {
            if let Some(receivers) = self.patterns.read().get(&pattern) {
                let loops = by_loop(receivers.values());
                routed.push((Some(pattern), loops));
            }
        }
        if routed.is_empty() {
            return 0;
        }
        let channel = Bytes::copy_from_slice(channel);
        let payload = Bytes::copy_from_slice(payload);
        let mut count = 0;
        for (pattern, loops) in routed {
            for receivers in loops {
                let Some(first) = receivers.first().copied() else {
                    continue;
                };
                count += receivers.len();
                let delivery = Delivery {
                    channel: channel.clone(),
                    pattern: pattern.clone(),
                    payload: payload.clone(),
                    receivers: receivers.clone(),
                };
                // A loop that cannot be woken has ended; so have its connections.
                if let Ok(false) = mailbox(first.event_loop).deliver(delivery) {
                    // They fell behind and will be disconnected: nothing more is posted for them.
                    let (topic, name) = match &pattern {
                        Some(pattern) => (Topic::Pattern, pattern),
                        None => (Topic::Channel, &channel),
                    };
                    for receiver in receivers {
                        self.unsubscribe(topic, name, receiver.client);
                    }
                }
            }
        }
        count
    }
}

fn by_loop<'a>(receivers: impl Iterator<Item = &'a Receiver>) -> Vec<Vec<Receiver>> {
    let mut loops: Vec<Vec<Receiver>> = Vec::new();
    for receiver in receivers {
        if loops.len() <= receiver.event_loop {
            loops.resize_with(receiver.event_loop + 1, Vec::new);
        }
        loops[receiver.event_loop].push(*receiver);
    }
    loops
}

impl Delivery {
    /// The message as a connection of this protocol version gets it.
    pub(crate) fn encode(&self, version: Version) -> Bytes {
        let mut message = Vec::with_capacity(self.channel.len() + self.payload.len() + 64);
        let mut encoder = Encoder::new(&mut message, version);
        match &self.pattern {
            None => {
                encoder.push(3);
                encoder.bulk(b"message");
            }
            Some(pattern) => {
                encoder.push(4);
                encoder.bulk(b"pmessage");
                encoder.bulk(pattern);
            }
        }
        encoder.bulk(&self.channel);
        encoder.bulk(&self.payload);
        Bytes::from(message)
    }
}
