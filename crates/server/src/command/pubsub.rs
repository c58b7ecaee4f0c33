//! Publishing and subscribing.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use hotcopy_wire::resp::Args;

use super::table::{Command, Flags};
use super::{Context, Handled};
use crate::pubsub::Topic;

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
    for name in args.iter().skip(1) {
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

fn unsubscribe(
    context: &mut Context<'_>,
    args: Args<'_>,
    topic: Topic,
    confirmation: &[u8],
) -> Handled {
    let names = if args.len() > 1 {
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
    client.channels.store(channels, Ordering::Relaxed);
    let patterns = session.count(Topic::Pattern);
    client.patterns.store(patterns, Ordering::Relaxed);
}

fn publish(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let shared = context.shared;
    let receivers = shared
        .pubsub
        .publish(&args[1], &args[2], |index| shared.mailbox(index));
    context.reply().integer(receivers.cast_signed() as i64);
    Ok(())
}
