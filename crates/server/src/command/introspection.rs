//! `COMMAND`: the table of commands, for clients that want to know.

use hotcopy_wire::resp::{Args, Encoder};

use super::error::CommandError;
use super::glob;
use super::table::{Command, Entry, Flags, TABLE, Table};
use super::{Context, Handled, reply_help};

const FLAGS: &[Flags] = &[Flags::ALWAYS, Flags::CONNECTION];

pub(super) const COMMANDS: &[Command] = &[Command::new("command", -1, all)
    .flags(FLAGS)
    .doc(
        "server",
        "2.8.13",
        "O(N) in the commands",
        "The commands and their properties.",
    )
    .subcommands(SUBCOMMANDS)];

const SUBCOMMANDS: &[Command] = &[
    Command::new("count", 2, count).flags(FLAGS).doc(
        "server",
        "2.8.13",
        "O(1)",
        "How many commands there are.",
    ),
    Command::new("list", -2, list).flags(FLAGS).doc(
        "server",
        "7.0.0",
        "O(N) in the commands",
        "The commands' names.",
    ),
    Command::new("info", -2, info).flags(FLAGS).doc(
        "server",
        "2.8.13",
        "O(N) in the names",
        "Properties of some commands, or of all.",
    ),
    Command::new("docs", -2, docs).flags(FLAGS).doc(
        "server",
        "7.0.0",
        "O(N) in the names",
        "Documentation of some commands, or of all.",
    ),
    Command::new("getkeys", -3, getkeys).flags(FLAGS).doc(
        "server",
        "2.8.13",
        "O(N) in the arguments",
        "The keys among a command's arguments.",
    ),
    Command::new("help", 2, help).flags(FLAGS).doc(
        "server",
        "5.0.0",
        "O(1)",
        "Lists the subcommands.",
    ),
];

/// No command's description or documentation is longer.
const MAX_DESCRIPTION_BYTES: usize = 4 * 1024;

/// Most bytes around a bulk string.
const BULK_FRAME_BYTES: usize = 24;

fn help(context: &mut Context<'_>, _: Args<'_>) -> Handled {
    reply_help(context, "COMMAND", SUBCOMMANDS);
    Ok(())
}

fn all(context: &mut Context<'_>, _: Args<'_>) -> Handled {
    let entries: Vec<_> = TABLE.commands().collect();
    let mut reply = context.reply();
    reply.array(entries.len());
    for entry in entries {
        describe(&mut reply, &TABLE, entry);
    }
    Ok(())
}

fn count(context: &mut Context<'_>, _: Args<'_>) -> Handled {
    let count = TABLE.commands().count();
    context.reply().integer(count.cast_signed() as i64);
    Ok(())
}

fn list(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let fits: Box<dyn Fn(&Entry) -> bool> = match (args.get(2), args.get(3), args.get(4)) {
        (None, ..) => Box::new(|_| true),
        (Some(filter), Some(kind), Some(wanted))
            if args.len() == 5 && filter.eq_ignore_ascii_case(b"filterby") =>
        {
            match kind.to_ascii_lowercase().as_slice() {
                b"pattern" => {
                    glob::check_len(wanted)?;
                    Box::new(|entry| {
                        glob::matches_ignoring_case(wanted, entry.full_name().as_bytes())
                    })
                }
                b"aclcat" => Box::new(|entry| {
                    let categories = entry.command.flags.categories();
                    let mut names = categories.iter().map(|name| name.as_bytes());
                    names.any(|name| name[1..].eq_ignore_ascii_case(wanted))
                }),
                b"module" => Box::new(|_| false),
                _ => return Err(CommandError::Syntax),
            }
        }
        _ => return Err(CommandError::Syntax),
    };
    // Without a filter the subcommands stay out, as in Redis.
    let with_subcommands = args.len() > 2;
    let entries: Vec<_> = if with_subcommands {
        TABLE.entries.iter().filter(|entry| fits(entry)).collect()
    } else {
        TABLE.commands().collect()
    };
    let mut reply = context.reply();
    reply.array(entries.len());
    for entry in entries {
        reply.bulk(entry.full_name().as_bytes());
    }
    Ok(())
}

fn info(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let names = args.skip(2);
    if names.is_empty() {
        return all(context, args);
    }
    context.check_reply_len(names.len() * MAX_DESCRIPTION_BYTES)?;
    let mut reply = context.reply();
    reply.array(names.len());
    for name in names {
        match TABLE.find(name) {
            Some(entry) => describe(&mut reply, &TABLE, entry),
            None => reply.null(),
        }
    }
    Ok(())
}

fn names(reply: &mut Encoder<'_>, names: &[&str]) {
    reply.set(names.len());
    for name in names {
        reply.simple(name);
    }
}

fn describe(reply: &mut Encoder<'_>, table: &Table, entry: &Entry) {
    let command = entry.command;
    let keys = command.keys;
    reply.array(10);
    reply.bulk(entry.full_name().as_bytes());
    reply.integer(i64::from(command.arity()));
    names(reply, &command.flags.names());
    for position in [keys.first, keys.last, keys.step] {
        reply.integer(i64::from(position));
    }
    names(reply, &command.flags.categories());
    // Hints for cluster proxies: none is needed for one server.
    reply.set(0);
    describe_keys(reply, command);
    let subcommands = entry.subcommands(table);
    reply.set(subcommands.len());
    for subcommand in subcommands {
        describe(reply, table, subcommand);
    }
}

/// The newer description of the same key positions.
fn describe_keys(reply: &mut Encoder<'_>, command: &Command) {
    let keys = command.keys;
    if keys.first == 0 {
        reply.set(0);
        return;
    }
    reply.set(1);
    reply.map(3);
    reply.bulk(b"flags");
    names(reply, keys.access);
    reply.bulk(b"begin_search");
    reply.map(2);
    reply.bulk(b"type");
    reply.bulk(b"index");
    reply.bulk(b"spec");
    reply.map(1);
    reply.bulk(b"index");
    reply.integer(i64::from(keys.first));
    reply.bulk(b"find_keys");
    reply.map(2);
    reply.bulk(b"type");
    reply.bulk(b"range");
    reply.bulk(b"spec");
    reply.map(3);
    // Relative to the first key, unless it is counted from the end.
    let last = if keys.last < 0 {
        keys.last
    } else {
        keys.last - keys.first
    };
    for (name, number) in [("lastkey", last), ("keystep", keys.step), ("limit", 0)] {
        reply.bulk(name.as_bytes());
        reply.integer(i64::from(number));
    }
}

fn docs(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let asked = args.skip(2);
    let entries: Vec<_> = if asked.is_empty() {
        TABLE.commands().collect()
    } else {
        // Unknown names are left out, as in Redis.
        asked.iter().filter_map(|name| TABLE.find(name)).collect()
    };
    context.check_reply_len(asked.len() * MAX_DESCRIPTION_BYTES)?;
    let mut reply = context.reply();
    reply.map(entries.len());
    for entry in entries {
        document(&mut reply, &TABLE, entry);
    }
    Ok(())
}

fn document(reply: &mut Encoder<'_>, table: &Table, entry: &Entry) {
    let command = entry.command;
    let subcommands = entry.subcommands(table);
    reply.bulk(entry.full_name().as_bytes());
    reply.map(4 + usize::from(subcommands.len() > 0));
    for (name, text) in [
        ("summary", command.summary),
        ("since", command.since),
        ("group", command.group),
        ("complexity", command.complexity),
    ] {
        reply.bulk(name.as_bytes());
        reply.bulk(text.as_bytes());
    }
    if subcommands.len() > 0 {
        reply.bulk(b"subcommands");
        reply.map(subcommands.len());
        for subcommand in subcommands {
            document(reply, table, subcommand);
        }
    }
}

fn getkeys(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let request = args.skip(2);
    let (_, command) = super::table::resolve(request).map_err(|error| match error {
        CommandError::WrongArity { .. } => {
            CommandError::Text("ERR Invalid number of arguments specified for command")
        }
        _ => CommandError::Text("ERR Invalid command specified"),
    })?;
    let keys = command.keys;
    if keys.first == 0 {
        return Err(CommandError::Text("ERR The command has no key arguments"));
    }
    let last = if keys.last < 0 {
        request.len().cast_signed() + keys.last as isize
    } else {
        keys.last as isize
    };
    let positions: Vec<usize> = (keys.first as isize..=last)
        .step_by(keys.step.unsigned_abs() as usize)
        .map(isize::cast_unsigned)
        .collect();
    context.check_reply_len(request.iter().map(|key| key.len() + BULK_FRAME_BYTES).sum())?;
    let mut reply = context.reply();
    reply.array(positions.len());
    for position in positions {
        reply.bulk(request.get(position).unwrap_or_default());
    }
    Ok(())
}
