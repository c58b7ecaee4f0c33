//! What a connection has agreed on with the server: database, protocol version, authentication,
//! subscriptions.

use std::collections::HashSet;

use bytes::Bytes;
use foldhash::fast::RandomState;
use hotcopy_engine::bytes::Database;
use hotcopy_wire::resp::Version;

use crate::command::work::Unfinished;
use crate::dialect::Dialect;
use crate::pubsub::{Receiver, Topic};

#[derive(Debug)]
pub(crate) struct Session {
    /// None until its first bytes have told.
    pub(crate) dialect: Option<Dialect>,
    pub(crate) database: Database,
    pub(crate) version: Version,
    pub(crate) is_authenticated: bool,
    /// Set by a command after whose reply the connection ends.
    pub(crate) is_closing: bool,
    pub(crate) replies: Replies,
    /// While it is there, no other request is executed.
    pub(crate) unfinished: Option<Unfinished>,
    pub(crate) receiver: Receiver,
    /// Only subscribers have it.
    subscriptions: Option<Box<Subscriptions>>,
}

/// Which replies the client wants (`CLIENT REPLY`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Replies {
    #[default]
    On,
    Off,
    /// None for the command that asked for it, and none for the next one.
    SkipNext,
    /// None for the command under way.
    SkipThis,
}

impl Replies {
    /// What holds for the command after the one that ends.
    pub(crate) fn after_command(self) -> Self {
        match self {
            Replies::SkipNext => Replies::SkipThis,
            Replies::SkipThis | Replies::On => Replies::On,
            Replies::Off => Replies::Off,
        }
    }
}

type Names = HashSet<Bytes, RandomState>;

#[derive(Debug, Default)]
struct Subscriptions {
    channels: Names,
    patterns: Names,
    bytes: usize,
}

impl Subscriptions {
    fn of(&mut self, topic: Topic) -> &mut Names {
        match topic {
            Topic::Channel => &mut self.channels,
            Topic::Pattern => &mut self.patterns,
        }
    }
}

impl Session {
    pub(crate) fn new(receiver: Receiver, is_authenticated: bool) -> Self {
        Session {
            dialect: None,
            database: Database::default(),
            version: Version::Resp2,
            is_authenticated,
            is_closing: false,
            replies: Replies::On,
            unfinished: None,
            receiver,
            subscriptions: None,
        }
    }

    /// Adds a subscription; false if it was there.
    pub(crate) fn subscribe(&mut self, topic: Topic, name: Bytes) -> bool {
        let subscriptions = self.subscriptions.get_or_insert_default();
        let bytes = Session::bytes_of_subscription(&name);
        let is_new = subscriptions.of(topic).insert(name);
        if is_new {
            subscriptions.bytes += bytes;
        }
        is_new
    }

    /// What a subscription is accounted with: its name, and its places in the tables here and in the
    /// registry, which have about 100 bytes for each.
    pub(crate) fn bytes_of_subscription(name: &[u8]) -> usize {
        name.len() + 100
    }

    /// Bytes of all subscriptions.
    pub(crate) fn subscription_bytes(&self) -> usize {
        self.subscriptions.as_deref().map_or(0, |it| it.bytes)
    }

    /// Ends a subscription; returns its name if it was there.
    pub(crate) fn unsubscribe(&mut self, topic: Topic, name: &[u8]) -> Option<Bytes> {
        let subscriptions = self.subscriptions.as_deref_mut()?;
        let name = subscriptions.of(topic).take(name);
        if let Some(name) = &name {
            subscriptions.bytes -= Session::bytes_of_subscription(name);
        }
        if subscriptions.channels.is_empty() && subscriptions.patterns.is_empty() {
            self.subscriptions = None;
        }
        name
    }

    pub(crate) fn is_subscribed_to(&self, topic: Topic, name: &[u8]) -> bool {
        self.subscriptions.as_deref().is_some_and(|it| match topic {
            Topic::Channel => it.channels.contains(name),
            Topic::Pattern => it.patterns.contains(name),
        })
    }

    pub(crate) fn subscribed(&self, topic: Topic) -> Vec<Bytes> {
        let names = self.subscriptions.as_deref().map(|it| match topic {
            Topic::Channel => &it.channels,
            Topic::Pattern => &it.patterns,
        });
        names.into_iter().flatten().cloned().collect()
    }

    pub(crate) fn count(&self, topic: Topic) -> usize {
        self.subscriptions.as_deref().map_or(0, |it| match topic {
            Topic::Channel => it.channels.len(),
            Topic::Pattern => it.patterns.len(),
        })
    }

    pub(crate) fn is_subscriber(&self) -> bool {
        self.subscriptions.is_some()
    }
}
