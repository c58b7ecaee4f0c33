//! `OBJECT` and `MEMORY`: how a value is kept.

use hotcopy_engine::bytes::Current;
use hotcopy_wire::resp::Args;

use super::error::CommandError;
use super::numbers::integer;
use super::table::{Command, Flags};
use super::{Context, Handled, reply_help};

const READ: &[Flags] = &[Flags::READONLY, Flags::KEYSPACE];
const SECOND: (i32, i32, i32) = (2, 2, 1);

pub(super) const COMMANDS: &[Command] = &[
    Command::new("object", -2, help_object)
        .doc(
            "generic",
            "2.2.3",
            "depends on the subcommand",
            "Commands about how a value is kept.",
        )
        .subcommands(OBJECT),
    Command::new("memory", -2, help_memory)
        .doc(
            "server",
            "4.0.0",
            "depends on the subcommand",
            "Commands about memory.",
        )
        .subcommands(MEMORY),
];

const OBJECT: &[Command] = &[
    Command::new("encoding", 3, encoding)
        .flags(READ)
        .keys(SECOND, &["RO"])
        .doc(
            "generic",
            "2.2.3",
            "O(1)",
            "How Redis would keep the value: int, embstr or raw.",
        ),
    Command::new("freq", 3, freq)
        .flags(READ)
        .keys(SECOND, &["RO"])
        .doc(
            "generic",
            "4.0.0",
            "O(1)",
            "How often the value was read since eviction last considered it, counted up to 3.",
        ),
    Command::new("idletime", 3, idletime)
        .flags(READ)
        .keys(SECOND, &["RO"])
        .doc(
            "generic",
            "2.2.3",
            "O(1)",
            "Refused: reads are counted, and not when they were.",
        ),
    Command::new("refcount", 3, refcount)
        .flags(READ)
        .keys(SECOND, &["RO"])
        .doc("generic", "2.2.3", "O(1)", "1 for every value."),
    Command::new("help", 2, help_object)
        .flags(&[Flags::ALWAYS])
        .doc("generic", "6.2.0", "O(1)", "Lists the subcommands."),
];

const MEMORY: &[Command] = &[
    Command::new("usage", -3, usage)
        .flags(&[Flags::READONLY])
        .keys(SECOND, &["RO"])
        .doc(
            "server",
            "4.0.0",
            "O(1)",
            "Bytes that the entry takes with its share of the index.",
        ),
    Command::new("help", 2, help_memory)
        .flags(&[Flags::ALWAYS])
        .doc("server", "4.0.0", "O(1)", "Lists the subcommands."),
];

fn help_object(context: &mut Context<'_>, _: Args<'_>) -> Handled {
    reply_help(context, "OBJECT", OBJECT);
    Ok(())
}

fn help_memory(context: &mut Context<'_>, _: Args<'_>) -> Handled {
    reply_help(context, "MEMORY", MEMORY);
    Ok(())
}

fn look<R>(context: &Context<'_>, key: &[u8], look: impl FnOnce(Current<'_>) -> R) -> Option<R> {
    let (database, now) = (context.database(), context.now);
    context
        .store()
        .peek(database, key, now, |found| found.map(look))
}

/// Longest text that Redis keeps in one piece with what it notes about it.
const MAX_EMBEDDED_BYTES: usize = 44;

fn encoding(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let encoding = look(context, &args[2], |entry| {
        if entry.value_len() > MAX_EMBEDDED_BYTES {
            "raw"
        } else if integer(&entry.value().to_vec()).is_ok() {
            "int"
        } else {
            "embstr"
        }
    });
    match encoding {
        Some(encoding) => context.reply().bulk(encoding.as_bytes()),
        None => context.reply().null(),
    }
    Ok(())
}

fn freq(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let uses = look(context, &args[2], |entry| entry.uses());
    reply_number(context, uses.map(i64::from));
    Ok(())
}

fn idletime(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    if look(context, &args[2], |_| ()).is_none() {
        context.reply().null();
        return Ok(());
    }
    Err(CommandError::Text(
        "ERR An LFU maxmemory policy is selected, idle time not tracked. OBJECT FREQ tells how often a \
         value was read.",
    ))
}

fn refcount(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let count = look(context, &args[2], |_| 1);
    reply_number(context, count);
    Ok(())
}

fn usage(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let mut options = args.iter().skip(3);
    while let Some(option) = options.next() {
        if !option.eq_ignore_ascii_case(b"samples") {
            return Err(CommandError::Syntax);
        }
        // Of values that have elements, Redis looks at so many.
        if integer(options.next().ok_or(CommandError::Syntax)?)? < 0 {
            return Err(CommandError::Syntax);
        }
    }
    let key = &args[2];
    let len = look(context, key, |entry| entry.value_len());
    let bytes = len.map(|len| context.store().entry_bytes(key.len(), len));
    reply_number(context, bytes.map(u64::cast_signed));
    Ok(())
}

fn reply_number(context: &mut Context<'_>, number: Option<i64>) {
    match number {
        Some(number) => context.reply().integer(number),
        None => context.reply().null(),
    }
}
