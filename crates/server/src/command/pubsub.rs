//! Publishing and subscribing.

use std::collections::HashSet;

use bytes::Bytes;
use hotcopy_wire::resp::Args;

use super::error::CommandError;
use super::table::{Command, Flags};
use super::{Context, Handled, MAX_SUBSCRIPTION_BYTES, check_name_len, glob};
use crate::pubsub::Topic;
use crate::session::Session;

/// A confirmation's length beside that of the name.
const CONFIRMATION_BYTES: usize = 64;

const SUBSCRIBE: &[Flags] = &[
    Flags::PUBSUB,
    Flags::NOSCRIPT,
    Flags::ALWAYS,
    Flags::FOR_SUBSCRIBERS,
];

pub(super) const COMMANDS: &[Command] = &[
    Command::new("subscribe", -2, |context, args| {
        subscribe(context, args, Topic::Channel, b"subscribe")
    })
    .flags(SUBSCRIBE)
    .doc(
        "pubsub",
        "2.0.0",
        "O(N) in the channels",
        "Listens to channels.",
    ),
    Command::new("unsubscribe", -1, |context, args| {
        unsubscribe(context, args, Topic::Channel, b"unsubscribe")
    })
    .flags(SUBSCRIBE)
    .doc(
        "pubsub",
        "2.0.0",
        "O(N) in the channels",
        "Listens to channels no longer.",
    ),
    Command::new("psubscribe", -2, |context, args| {
        subscribe(context, args, Topic::Pattern, b"psubscribe")
    })
    .flags(SUBSCRIBE)
    .doc(
        "pubsub",
        "2.0.0",
        "O(N) in the patterns",
        "Listens to all channels that match.",
    ),
    Command::new("punsubscribe", -1, |context, args| {
        unsubscribe(context, args, Topic::Pattern, b"punsubscribe")
    })
    .flags(SUBSCRIBE)
    .doc(
        "pubsub",
        "2.0.0",
        "O(N) in the patterns",
        "Listens to patterns no longer.",
    ),
    Command::new("publish", 3, publish)
        .flags(&[Flags::PUBSUB, Flags::ALWAYS, Flags::FAST])
        .doc(
            "pubsub",
            "2.0.0",
            "O(N+M) in the channel's subscribers and all patterns",
            "Sends a message to all who listen.",
        ),
];

fn subscribe(
    context: &mut Context<'_>,
    args: Args<'_>,
    topic: Topic,
    confirmation: &[u8],
) -> Handled {
    let names = args.skip(1);
    check_names(context, names, topic)?;
    for name in names {
        let name = Bytes::copy_from_slice(name);
        if context.session.subscribe(topic, name.clone()) {
            let receiver = context.session.receiver;
            let registry = &context.shared.pubsub;
            registry.subscribe(topic, name.clone(), receiver);
        }
        confirm(context, confirmation, Some(&name));
    }
    show_counts(context);
    Ok(())
}

/// All or none of the names are accepted, before there is a reply to any.
fn check_names(context: &Context<'_>, names: Args<'_>, topic: Topic) -> Handled {
    let mut bytes = context.session.subscription_bytes();
    // A name that is given twice in a request counts once.
    let mut added = HashSet::new();
    for name in names {
        match topic {
            Topic::Channel => check_name_len(name, "channel name")?,
            Topic::Pattern => glob::check_len(name)?,
        }
        if !context.session.is_subscribed_to(topic, name) && added.insert(name) {
            bytes += Session::bytes_of_subscription(name);
        }
        if bytes > MAX_SUBSCRIPTION_BYTES {
            return Err(CommandError::TooManySubscriptions);
        }
    }
    check_confirmations(context, names)
}

/// Each name is answered with a message of its own.
fn check_confirmations(context: &Context<'_>, names: Args<'_>) -> Handled {
    let lens = names.iter().map(|name| name.len() + CONFIRMATION_BYTES);
    context.check_reply_len(lens.sum())
}

fn unsubscribe(
    context: &mut Context<'_>,
    args: Args<'_>,
    topic: Topic,
    confirmation: &[u8],
) -> Handled {
    let names = if args.len() > 1 {
        check_confirmations(context, args.skip(1))?;
        args.iter().skip(1).map(Bytes::copy_from_slice).collect()
    } else {
        context.session.subscribed(topic)
    };
    for name in &names {
        leave(context, topic, name);
        confirm(context, confirmation, Some(name));
    }
    if names.is_empty() {
        confirm(context, confirmation, None);
    }
    show_counts(context);
    Ok(())
}

fn leave(context: &mut Context<'_>, topic: Topic, name: &[u8]) {
    if let Some(name) = context.session.unsubscribe(topic, name) {
        let client = context.session.receiver.client;
        context.shared.pubsub.unsubscribe(topic, &name, client);
    }
}

/// Ends all subscriptions without a word.
pub(super) fn unsubscribe_from_all(context: &mut Context<'_>) {
    for topic in [Topic::Channel, Topic::Pattern] {
        for name in context.session.subscribed(topic) {
            leave(context, topic, &name);
        }
    }
    show_counts(context);
}

fn confirm(context: &mut Context<'_>, kind: &[u8], name: Option<&[u8]>) {
    let session = &context.session;
    let count = session.count(Topic::Channel) + session.count(Topic::Pattern);
    let mut reply = context.reply();
    reply.push(3);
    reply.bulk(kind);
    match name {
        Some(name) => reply.bulk(name),
        None => reply.null(),
    }
    reply.integer(count.cast_signed() as i64);
}

fn show_counts(context: &mut Context<'_>) {
    let (session, client) = (&context.session, &context.client);
    let channels = session.count(Topic::Channel);
    let patterns = session.count(Topic::Pattern);
    let clients = &context.shared.clients;
    clients.note_subscriptions(client, channels, patterns);
}

fn publish(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    check_name_len(&args[1], "channel name")?;
    let shared = context.shared;
    let receivers = shared
        .pubsub
        .publish(&args[1], &args[2], |index| shared.mailbox(index));
    context.reply().integer(receivers.cast_signed() as i64);
    Ok(())
}
