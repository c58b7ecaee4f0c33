//! Keys, whatever their values are.

use hotcopy_wire::resp::Args;

use super::table::{Command, Flags};
use super::{Context, Handled};

pub(super) const COMMANDS: &[Command] = &[
    Command::new("del", -2, remove)
        .flags(&[Flags::WRITE, Flags::KEYSPACE])
        .keys((1, -1, 1), &["RM", "delete"])
        .doc("generic", "1.0.0", "O(N) in the keys", "Removes keys."),
    Command::new("unlink", -2, remove)
        .flags(&[Flags::WRITE, Flags::FAST, Flags::KEYSPACE])
        .keys((1, -1, 1), &["RM", "delete"])
        .doc(
            "generic",
            "4.0.0",
            "O(N) in the keys",
            "Removes keys, as DEL does.",
        ),
    Command::new("exists", -2, exists)
        .flags(&[Flags::READONLY, Flags::FAST, Flags::KEYSPACE])
        .keys((1, -1, 1), &["RO"])
        .doc(
            "generic",
            "1.0.0",
            "O(N) in the keys",
            "How many of the keys are there.",
        ),
    Command::new("type", 2, type_of)
        .flags(&[Flags::READONLY, Flags::FAST, Flags::KEYSPACE])
        .keys((1, 1, 1), &["RO"])
        .doc("generic", "1.0.0", "O(1)", "The type of a key's value."),
];

fn remove(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let (store, database, now) = (context.store(), context.database(), context.now);
    let keys = args.iter().skip(1);
    let removed = keys.filter_map(|key| store.remove(database, key, now));
    let count = removed.count();
    context.reply().integer(count.cast_signed() as i64);
    Ok(())
}

fn exists(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let (store, database, now) = (context.store(), context.database(), context.now);
    let count = args
        .iter()
        .skip(1)
        .filter(|key| store.peek(database, key, now, |found| found.is_some()))
        .count();
    context.reply().integer(count.cast_signed() as i64);
    Ok(())
}

fn type_of(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let exists = context
        .store()
        .peek(context.database(), &args[1], context.now, |found| {
            found.is_some()
        });
    context
        .reply()
        .simple(if exists { "string" } else { "none" });
    Ok(())
}
