//! Strings: reading and the simple ways of writing. `SET` and its options are in [`super::set`].

use hotcopy_engine::bytes::{Change, Condition, DeadlineChange, SetOptions};
use hotcopy_wire::resp::Args;

use super::error::CommandError;
use super::expire::Lifetime;
use super::mget::mget;
use super::table::{Command, Flags};
use super::{Context, Handled};

const READ: &[Flags] = &[Flags::READONLY, Flags::FAST, Flags::STRING];
const WRITE: &[Flags] = &[Flags::WRITE, Flags::DENYOOM, Flags::STRING];
const WRITE_FAST: &[Flags] = &[Flags::WRITE, Flags::DENYOOM, Flags::FAST, Flags::STRING];
const ONE: (i32, i32, i32) = (1, 1, 1);

pub(super) const COMMANDS: &[Command] = &[
    Command::new("get", 2, get)
        .flags(READ)
        .keys(ONE, &["RO", "access"])
        .doc("string", "1.0.0", "O(1)", "The value of a key."),
    Command::new("mget", -2, mget)
        .flags(READ)
        .keys((1, -1, 1), &["RO", "access"])
        .doc(
            "string",
            "1.0.0",
            "O(N) in the keys",
            "The values of several keys.",
        ),
    Command::new("strlen", 2, strlen)
        .flags(READ)
        .keys(ONE, &["RO"])
        .doc("string", "2.2.0", "O(1)", "The length of a value in bytes."),
    Command::new("getdel", 2, getdel)
        .flags(&[Flags::WRITE, Flags::FAST, Flags::STRING])
        .keys(ONE, &["RW", "access", "delete"])
        .doc(
            "string",
            "6.2.0",
            "O(1)",
            "The value of a key, which is removed.",
        ),
    Command::new("getset", 3, getset)
        .flags(WRITE_FAST)
        .keys(ONE, &["RW", "access", "update"])
        .doc(
            "string",
            "1.0.0",
            "O(1)",
            "Stores a value and answers the one before.",
        ),
    Command::new("setnx", 3, setnx)
        .flags(WRITE_FAST)
        .keys(ONE, &["OW", "insert"])
        .doc(
            "string",
            "1.0.0",
            "O(1)",
            "Stores a value where there is none.",
        ),
    Command::new("setex", 4, setex)
        .flags(WRITE)
        .keys(ONE, &["OW", "update"])
        .doc(
            "string",
            "2.0.0",
            "O(1)",
            "Stores a value that lives for some seconds.",
        ),
    Command::new("psetex", 4, psetex)
        .flags(WRITE)
        .keys(ONE, &["OW", "update"])
        .doc(
            "string",
            "2.6.0",
            "O(1)",
            "Stores a value that lives for some milliseconds.",
        ),
];

fn get(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let value = context
        .store()
        .get(context.database(), &args[1], context.now);
    context.reply_value(value.as_ref());
    Ok(())
}

fn strlen(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let len = context
        .store()
        .peek(context.database(), &args[1], context.now, |found| {
            found.map_or(0, |entry| entry.value_len())
        });
    context.reply().integer(len.cast_signed() as i64);
    Ok(())
}

fn getdel(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let value =
        context
            .store()
            .read_and_update(context.database(), &args[1], context.now, |current| {
                let value = current.map(|entry| entry.value());
                (Change::Remove, value)
            })?;
    context.reply_value(value.as_ref());
    Ok(())
}

/// Stores the value and returns what [`ByteStore::set`](hotcopy_engine::bytes::ByteStore::set) says.
fn store(
    context: &mut Context<'_>,
    key: &[u8],
    value: &[u8],
    options: SetOptions,
) -> Result<hotcopy_engine::bytes::SetOutcome, CommandError> {
    let (database, now) = (context.database(), context.now);
    let value = context.take_value(value)?;
    Ok(context.store().set(database, key, value, options, now)?)
}

fn getset(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let options = SetOptions {
        is_read: true,
        ..SetOptions::default()
    };
    let outcome = store(context, &args[1], &args[2], options)?;
    context.reply_value(outcome.previous.as_ref());
    Ok(())
}

fn setnx(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let options = SetOptions {
        condition: Condition::IfAbsent,
        ..SetOptions::default()
    };
    let outcome = store(context, &args[1], &args[2], options)?;
    context.reply().integer(i64::from(outcome.stored));
    Ok(())
}

fn setex(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    store_for(context, args, Lifetime::Seconds, "setex")
}

fn psetex(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    store_for(context, args, Lifetime::Millis, "psetex")
}

fn store_for(
    context: &mut Context<'_>,
    args: Args<'_>,
    lifetime: Lifetime,
    command: &'static str,
) -> Handled {
    let deadline = lifetime.positive_deadline(&args[2], context.now, command)?;
    let options = SetOptions {
        deadline: DeadlineChange::At(deadline),
        ..SetOptions::default()
    };
    store(context, &args[1], &args[3], options)?;
    context.reply_ok();
    Ok(())
}
