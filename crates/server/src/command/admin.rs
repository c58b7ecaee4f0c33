//! The server as a whole: its clock, its databases' sizes, emptying them.

use std::time::{SystemTime, UNIX_EPOCH};

use hotcopy_wire::resp::Args;

use super::error::CommandError;
use super::table::{Command, Flags};
use super::{Context, Handled};

const FLUSH: &[Flags] = &[Flags::WRITE, Flags::KEYSPACE, Flags::DANGEROUS];

pub(super) const COMMANDS: &[Command] = &[
    Command::new("dbsize", 1, dbsize)
        .flags(&[Flags::READONLY, Flags::FAST, Flags::KEYSPACE])
        .doc("server", "1.0.0", "O(1)", "How many keys the database has."),
    Command::new("time", 1, time)
        .flags(&[Flags::ALWAYS, Flags::FAST])
        .doc("server", "2.6.0", "O(1)", "The server's clock."),
    Command::new("flushdb", -1, flushdb).flags(FLUSH).doc(
        "server",
        "1.0.0",
        "O(1), freeing is done aside",
        "Empties the database.",
    ),
    Command::new("flushall", -1, flushall).flags(FLUSH).doc(
        "server",
        "1.0.0",
        "O(1), freeing is done aside",
        "Empties all databases.",
    ),
];

fn dbsize(context: &mut Context<'_>, _: Args<'_>) -> Handled {
    let entries = context.store().len(context.database());
    context.reply().integer(entries.cast_signed() as i64);
    Ok(())
}

fn time(context: &mut Context<'_>, _: Args<'_>) -> Handled {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let mut reply = context.reply();
    reply.array(2);
    reply.bulk(now.as_secs().to_string().as_bytes());
    reply.bulk(now.subsec_micros().to_string().as_bytes());
    Ok(())
}

/// `SYNC` and `ASYNC` do the same: the keys are gone with the reply, the memory is freed aside.
fn check_mode(args: Args<'_>) -> Handled {
    let is_mode =
        |word: &[u8]| word.eq_ignore_ascii_case(b"sync") || word.eq_ignore_ascii_case(b"async");
    match (args.get(1), args.len()) {
        (None, _) => Ok(()),
        (Some(mode), 2) if is_mode(mode) => Ok(()),
        _ => Err(CommandError::Syntax),
    }
}

fn flushdb(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    check_mode(args)?;
    context.shared.flush(context.database());
    context.reply_ok();
    Ok(())
}

fn flushall(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    check_mode(args)?;
    for database in context.store().databases() {
        context.shared.flush(database);
    }
    context.reply_ok();
    Ok(())
}
