//! `RENAME`, `RENAMENX` and `COPY`.

use hotcopy_engine::bytes::{Condition, Place, Transfer};
use hotcopy_wire::resp::Args;

use super::error::CommandError;
use super::numbers::integer;
use super::table::{Command, Flags};
use super::{Context, Handled};

const TWO: (i32, i32, i32) = (1, 2, 1);

pub(super) const COMMANDS: &[Command] = &[
    Command::new("rename", 3, rename)
        .flags(&[Flags::WRITE, Flags::KEYSPACE])
        .keys(TWO, &["RW", "access", "delete"])
        .doc("generic", "1.0.0", "O(1)", "Gives a value another key."),
    Command::new("renamenx", 3, renamenx)
        .flags(&[Flags::WRITE, Flags::FAST, Flags::KEYSPACE])
        .keys(TWO, &["RW", "access", "delete"])
        .doc(
            "generic",
            "1.0.0",
            "O(1)",
            "Gives a value another key if that is not there.",
        ),
    Command::new("copy", -3, copy)
        .flags(&[Flags::WRITE, Flags::DENYOOM, Flags::KEYSPACE])
        .keys(TWO, &["RO", "access"])
        .doc(
            "generic",
            "6.2.0",
            "O(1)",
            "Stores a value under another key too.",
        ),
];

const NO_SUCH_KEY: CommandError = CommandError::Text("ERR no such key");

fn rename(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    match move_to(context, args, Condition::Always)? {
        Transfer::NoSource => return Err(NO_SUCH_KEY),
        Transfer::Done | Transfer::Refused => context.reply_ok(),
    }
    Ok(())
}

fn renamenx(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let number = match move_to(context, args, Condition::IfAbsent)? {
        Transfer::NoSource => return Err(NO_SUCH_KEY),
        Transfer::Done => 1,
        Transfer::Refused => 0,
    };
    context.reply().integer(number);
    Ok(())
}

fn move_to(
    context: &Context<'_>,
    args: Args<'_>,
    condition: Condition,
) -> Result<Transfer, CommandError> {
    let (database, now) = (context.database(), context.now);
    let store = context.store();
    Ok(store.rename(database, &args[1], &args[2], condition, now)?)
}

fn copy(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let (mut database, mut condition) = (context.database(), Condition::IfAbsent);
    let mut options = args.iter().skip(3);
    while let Some(option) = options.next() {
        if option.eq_ignore_ascii_case(b"replace") {
            condition = Condition::Always;
        } else if option.eq_ignore_ascii_case(b"db") {
            let index = integer(options.next().ok_or(CommandError::Syntax)?)?;
            let index = usize::try_from(index).ok();
            database = index
                .and_then(|index| context.store().database(index))
                .ok_or(CommandError::DatabaseOutOfRange)?;
        } else {
            return Err(CommandError::Syntax);
        }
    }
    let from = Place {
        database: context.database(),
        key: &args[1],
    };
    let to = Place {
        database,
        key: &args[2],
    };
    if from == to {
        return Err(CommandError::Text(
            "ERR source and destination objects are the same",
        ));
    }
    let outcome = context.store().copy(from, to, condition, context.now)?;
    let number = i64::from(outcome == Transfer::Done);
    context.reply().integer(number);
    Ok(())
}
