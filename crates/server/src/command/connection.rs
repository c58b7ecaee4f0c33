//! The connection itself: greeting, authentication, database, end.

use std::sync::atomic::Ordering;

use hotcopy_engine::bytes::Database;
use hotcopy_wire::resp::{Args, Version};

use super::error::CommandError;
use super::info::{HOTCOPY_VERSION, REDIS_VERSION};
use super::numbers::integer;
use super::table::{Command, Flags};
use super::{Context, Handled, client, pubsub};
use crate::session::Replies;

const GREETING: &[Flags] = &[
    Flags::NOSCRIPT,
    Flags::ALWAYS,
    Flags::FAST,
    Flags::NO_AUTH,
    Flags::CONNECTION,
];
const ENDING: &[Flags] = &[
    Flags::NOSCRIPT,
    Flags::ALWAYS,
    Flags::FAST,
    Flags::NO_AUTH,
    Flags::CONNECTION,
    Flags::FOR_SUBSCRIBERS,
];

pub(super) const COMMANDS: &[Command] = &[
    Command::new("ping", -1, ping)
        .flags(&[Flags::FAST, Flags::CONNECTION, Flags::FOR_SUBSCRIBERS])
        .doc(
            "connection",
            "1.0.0",
            "O(1)",
            "Answers PONG, or the argument.",
        ),
    Command::new("echo", 2, echo)
        .flags(&[Flags::ALWAYS, Flags::FAST, Flags::CONNECTION])
        .doc("connection", "1.0.0", "O(1)", "Answers the argument."),
    Command::new("hello", -1, hello).flags(GREETING).doc(
        "connection",
        "6.0.0",
        "O(1)",
        "Agrees on the protocol version; can authenticate and name the connection.",
    ),
    Command::new("auth", -2, auth).flags(GREETING).doc(
        "connection",
        "1.0.0",
        "O(1)",
        "Authenticates the connection.",
    ),
    Command::new("select", 2, select)
        .flags(&[Flags::ALWAYS, Flags::FAST, Flags::CONNECTION])
        .doc(
            "connection",
            "1.0.0",
            "O(1)",
            "Chooses the connection's database.",
        ),
    Command::new("quit", -1, quit).flags(ENDING).doc(
        "connection",
        "1.0.0",
        "O(1)",
        "Closes the connection after the reply.",
    ),
    Command::new("reset", 1, reset).flags(ENDING).doc(
        "connection",
        "6.2.0",
        "O(1)",
        "Takes the connection back to its first state.",
    ),
];

fn ping(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    if args.len() > 2 {
        return Err(CommandError::WrongArity { name: "ping" });
    }
    context.check_reply_len(args.get(1).map_or(0, <[u8]>::len))?;
    let is_subscriber = context.session.is_subscriber();
    let is_resp2 = context.session.version == Version::Resp2;
    let mut reply = context.reply();
    match args.get(1) {
        message if is_subscriber && is_resp2 => {
            reply.array(2);
            reply.bulk(b"pong");
            reply.bulk(message.unwrap_or_default());
        }
        Some(message) => reply.bulk(message),
        None => reply.simple("PONG"),
    }
    Ok(())
}

fn echo(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    context.check_reply_len(args[1].len())?;
    context.reply().bulk(&args[1]);
    Ok(())
}

fn hello(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let version = match args.get(1).map(integer) {
        None => None,
        Some(Ok(2)) => Some(Version::Resp2),
        Some(Ok(3)) => Some(Version::Resp3),
        Some(Ok(_)) => return Err(CommandError::Text("NOPROTO unsupported protocol version")),
        Some(Err(_)) => {
            return Err(CommandError::Text(
                "ERR Protocol version is not an integer or out of range",
            ));
        }
    };
    let mut name = None;
    let mut rest = args.iter().skip(2);
    while let Some(option) = rest.next() {
        if option.eq_ignore_ascii_case(b"auth")
            && let (Some(user), Some(password)) = (rest.next(), rest.next())
        {
            authenticate(context, user, password)?;
        } else if option.eq_ignore_ascii_case(b"setname")
            && let Some(given) = rest.next()
        {
            name = Some(client::checked_name(given)?);
        } else {
            let option = String::from_utf8_lossy(option);
            return Err(CommandError::Shown(format!(
                "ERR Syntax error in HELLO option '{option}'"
            )));
        }
    }
    if !context.session.is_authenticated {
        return Err(CommandError::Text(
            "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time",
        ));
    }
    if let Some(name) = name {
        context.client.names.lock().name = name;
    }
    if let Some(version) = version {
        set_version(context, version);
    }
    let id = context.client.id;
    let protocol = protocol_number(context.session.version);
    let mut reply = context.reply();
    reply.map(8);
    for (field, value) in [
        ("server", "redis"),
        ("version", REDIS_VERSION),
        ("hotcopy_version", HOTCOPY_VERSION),
    ] {
        reply.bulk(field.as_bytes());
        reply.bulk(value.as_bytes());
    }
    reply.bulk(b"proto");
    reply.integer(i64::from(protocol));
    reply.bulk(b"id");
    reply.integer(id.cast_signed());
    for (field, value) in [("mode", "standalone"), ("role", "master")] {
        reply.bulk(field.as_bytes());
        reply.bulk(value.as_bytes());
    }
    reply.bulk(b"modules");
    reply.array(0);
    Ok(())
}

fn protocol_number(version: Version) -> u8 {
    match version {
        Version::Resp2 => 2,
        Version::Resp3 => 3,
    }
}

fn set_version(context: &mut Context<'_>, version: Version) {
    context.session.version = version;
    let protocol = &context.client.protocol;
    protocol.store(protocol_number(version), Ordering::Relaxed);
}

fn auth(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    match (args.get(1), args.get(2), args.len()) {
        (Some(password), None, _) => {
            if context.shared.config.password.is_none() {
                return Err(CommandError::NoPasswordConfigured);
            }
            authenticate(context, b"default", password)?;
        }
        (Some(user), Some(password), 3) => authenticate(context, user, password)?,
        _ => return Err(CommandError::Syntax),
    }
    context.reply_ok();
    Ok(())
}

fn authenticate(context: &mut Context<'_>, user: &[u8], password: &[u8]) -> Handled {
    // Without a password the one user accepts any.
    let is_right = match &context.shared.config.password {
        Some(expected) => is_equal_in_constant_time(expected.reveal().as_bytes(), password),
        None => true,
    };
    if user != b"default" || !is_right {
        return Err(CommandError::WrongPassword);
    }
    context.session.is_authenticated = true;
    Ok(())
}

/// Compares without telling by its duration how much of `given` is right. The duration depends on
/// the length of `given` only, which the sender knows.
fn is_equal_in_constant_time(expected: &[u8], given: &[u8]) -> bool {
    let mut difference = u8::from(expected.len() != given.len());
    for (at, byte) in given.iter().enumerate() {
        let wanted = expected.get(at % expected.len().max(1)).copied();
        difference |= byte ^ wanted.unwrap_or_default();
    }
    std::hint::black_box(difference) == 0
}

fn select(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let index = integer(&args[1])?;
    if i32::try_from(index).is_err() {
        return Err(CommandError::Text(
            "ERR value is out of range, value must between -2147483648 and 2147483647",
        ));
    }
    let database = usize::try_from(index)
        .ok()
        .and_then(|index| context.store().database(index))
        .ok_or(CommandError::DatabaseOutOfRange)?;
    set_database(context, database);
    context.reply_ok();
    Ok(())
}

fn set_database(context: &mut Context<'_>, database: Database) {
    context.session.database = database;
    let shown = &context.client.database;
    shown.store(database.index(), Ordering::Relaxed);
}

fn quit(context: &mut Context<'_>, _: Args<'_>) -> Handled {
    context.reply_ok();
    context.session.is_closing = true;
    Ok(())
}

fn reset(context: &mut Context<'_>, _: Args<'_>) -> Handled {
    pubsub::unsubscribe_from_all(context);
    set_database(context, Database::default());
    set_version(context, Version::Resp2);
    context.session.is_authenticated = context.shared.config.password.is_none();
    context.session.replies = Replies::On;
    context.client.names.lock().name.clear();
    context.reply().simple("RESET");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_same_password_is_equal() {
        for (expected, given, equal) in [
            ("secret", "secret", true),
            ("secret", "secres", false),
            ("secret", "secretsecret", false),
            ("secret", "sec", false),
            ("secret", "", false),
            ("", "", true),
            ("", "x", false),
            ("\0", "", false),
        ] {
            let found = is_equal_in_constant_time(expected.as_bytes(), given.as_bytes());
            assert_eq!(found, equal, "{expected:?} {given:?}");
        }
    }
}
