//! Keys, whatever their values are.

use hotcopy_engine::bytes::{ByteStore, Cursor, Database, Keys, UnixMillis};
use hotcopy_wire::resp::Args;

use super::arguments::Arguments;
use super::error::CommandError;
use super::table::{Command, Flags};
use super::work::{Progress, STEP_KEYS, Step, Unfinished, Work};
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
    Command::new("touch", -2, touch)
        .flags(&[Flags::READONLY, Flags::FAST, Flags::KEYSPACE])
        .keys((1, -1, 1), &["RO"])
        .doc(
            "generic",
            "3.2.1",
            "O(N) in the keys",
            "How many of the keys are there; counts as reading them.",
        ),
    Command::new("randomkey", 1, randomkey)
        .flags(&[Flags::READONLY, Flags::KEYSPACE])
        .doc("generic", "1.0.0", "O(1)", "Any key of the database."),
    Command::new("type", 2, type_of)
        .flags(&[Flags::READONLY, Flags::FAST, Flags::KEYSPACE])
        .keys((1, 1, 1), &["RO"])
        .doc("generic", "1.0.0", "O(1)", "The type of a key's value."),
];

/// Up to so many keys are looked at without copying their names.
const AT_ONCE: usize = 128;

fn remove(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    count(context, args, |store, database, key, now| {
        store.remove(database, key, now).is_some()
    })
}

fn exists(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    count(context, args, |store, database, key, now| {
        store.peek(database, key, now, |found| found.is_some())
    })
}

fn touch(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    count(context, args, |store, database, key, now| {
        store.inspect(database, key, now, |found| found.is_some())
    })
}

/// Of how many keys that follow a random place one is chosen: the key behind a large gap would be the
/// next one too often.
const CHOICE: usize = 16;

fn randomkey(context: &mut Context<'_>, _: Args<'_>) -> Handled {
    let (store, database, now) = (context.store(), context.database(), context.now);
    let mut keys = Keys::default();
    for from in [store.random_cursor(), Cursor::default()] {
        store.scan(database, from, CHOICE, now, &mut keys);
        if !keys.is_empty() {
            break;
        }
    }
    match keys.iter().nth(fastrand::usize(..keys.len().max(1))) {
        Some(key) => context.reply().bulk(key),
        None => context.reply().null(),
    }
    Ok(())
}

/// What is done with each key, and whether it is counted.
type Visit = fn(&ByteStore, Database, &[u8], UnixMillis) -> bool;

/// Answers for how many of the keys `visit` says yes.
fn count(context: &mut Context<'_>, args: Args<'_>, visit: Visit) -> Handled {
    let (keys, database, now) = (args.skip(1), context.database(), context.now);
    if keys.len() > AT_ONCE {
        context.session.unfinished = Some(Unfinished::new(Count {
            database,
            keys: Arguments::copy_of(keys),
            visit,
            counted: 0,
        }));
        return Ok(());
    }
    let store = context.store();
    let counted = keys.iter().filter(|key| visit(store, database, key, now));
    let counted = counted.count();
    context.reply().integer(counted.cast_signed() as i64);
    Ok(())
}

#[derive(Debug)]
struct Count {
    database: Database,
    keys: Arguments,
    visit: Visit,
    counted: i64,
}

impl Work for Count {
    fn step(&mut self, step: &mut Step<'_>) -> Result<Progress, CommandError> {
        for _ in 0..STEP_KEYS {
            let Some(key) = self.keys.next() else {
                break;
            };
            let counts = (self.visit)(step.store(), self.database, key, step.now);
            self.counted += i64::from(counts);
        }
        if self.keys.is_empty() {
            step.reply().integer(self.counted);
        }
        Ok(Progress::done_if(self.keys.is_empty()))
    }

    fn request_bytes(&self) -> usize {
        self.keys.heap_bytes()
    }
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
