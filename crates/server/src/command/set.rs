//! `SET` and `GETEX` with their options.

use hotcopy_engine::bytes::{Change, Condition, DeadlineChange, SetOptions};
use hotcopy_wire::resp::Args;

use super::error::CommandError;
use super::expire::Lifetime;
use super::table::{Command, Flags};
use super::{Context, Handled};

pub(super) const COMMANDS: &[Command] = &[
    Command::new("set", -3, set)
        .flags(&[Flags::WRITE, Flags::DENYOOM, Flags::STRING])
        .keys((1, 1, 1), &["RW", "access", "update", "variable_flags"])
        .doc(
            "string",
            "1.0.0",
            "O(1)",
            "Stores a value, on conditions and for a time if wanted.",
        ),
    Command::new("getex", -2, getex)
        .flags(&[Flags::WRITE, Flags::FAST, Flags::STRING])
        .keys((1, 1, 1), &["RW", "access", "update"])
        .doc(
            "string",
            "6.2.0",
            "O(1)",
            "The value of a key, whose deadline can be changed.",
        ),
];

/// What the options say about the deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Expiry<'a> {
    #[default]
    Unsaid,
    Keep,
    Persist,
    At(Lifetime, &'a [u8]),
}

impl Expiry<'_> {
    /// Two ways of saying it contradict each other; the same way twice does not, and the last counts.
    fn may_become(self, other: Expiry<'_>) -> bool {
        match (self, other) {
            (Expiry::At(one, _), Expiry::At(another, _)) => one == another,
            _ => self == Expiry::Unsaid || self == other,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Options<'a> {
    condition: Condition,
    expiry: Expiry<'a>,
    get: bool,
}

/// Which command's options are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Set,
    GetEx,
}

impl<'a> Options<'a> {
    fn parse(
        dialect: Dialect,
        mut words: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Self, CommandError> {
        let mut options = Options::default();
        while let Some(word) = words.next() {
            let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
            let is_set = dialect == Dialect::Set;
            let condition = if is("nx") {
                Some(Condition::IfAbsent)
            } else if is("xx") {
                Some(Condition::IfPresent)
            } else {
                None
            };
            if let Some(condition) = condition.filter(|_| is_set) {
                let fits = [Condition::Always, condition].contains(&options.condition);
                options.condition = if fits {
                    condition
                } else {
                    return Err(CommandError::Syntax);
                };
                continue;
            }
            if is_set && is("get") {
                options.get = true;
                continue;
            }
            let expiry = if is_set && is("keepttl") {
                Expiry::Keep
            } else if !is_set && is("persist") {
                Expiry::Persist
            } else {
                let lifetime = if is("ex") {
                    Lifetime::Seconds
                } else if is("px") {
                    Lifetime::Millis
                } else if is("exat") {
                    Lifetime::UntilSecond
                } else if is("pxat") {
                    Lifetime::UntilMilli
                } else {
                    return Err(CommandError::Syntax);
                };
                Expiry::At(lifetime, words.next().ok_or(CommandError::Syntax)?)
            };
            if !options.expiry.may_become(expiry) {
                return Err(CommandError::Syntax);
            }
            options.expiry = expiry;
        }
        Ok(options)
    }
}

fn set(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let options = Options::parse(Dialect::Set, args.iter().skip(3))?;
    let deadline = match options.expiry {
        Expiry::Unsaid | Expiry::Persist => DeadlineChange::Clear,
        Expiry::Keep => DeadlineChange::Keep,
        Expiry::At(lifetime, argument) => {
            DeadlineChange::At(lifetime.positive_deadline(argument, context.now, "set")?)
        }
    };
    let change = SetOptions {
        condition: options.condition,
        deadline,
        is_read: options.get,
        ..SetOptions::default()
    };
    let (database, now) = (context.database(), context.now);
    let value = context.take_value(&args[2])?;
    let outcome = context
        .store()
        .set(database, &args[1], value, change, now)?;
    if options.get {
        context.reply_value(outcome.previous.as_ref());
    } else if outcome.stored {
        context.reply_ok();
    } else {
        context.reply().null();
    }
    Ok(())
}

fn getex(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let options = Options::parse(Dialect::GetEx, args.iter().skip(2))?;
    let (database, now) = (context.database(), context.now);
    // The time is looked at only where there is a key to give it to, as in Redis.
    let mut invalid = None;
    let value = context
        .store()
        .read_and_update(database, &args[1], now, |current| {
            let Some(entry) = current else {
                return (Change::Keep, None);
            };
            let change = match options.expiry {
                Expiry::Unsaid | Expiry::Keep => Change::Keep,
                Expiry::Persist => Change::SetDeadline(None),
                Expiry::At(lifetime, argument) => {
                    match lifetime.positive_deadline(argument, now, "getex") {
                        Ok(deadline) => Change::SetDeadline(Some(deadline)),
                        Err(error) => {
                            invalid = Some(error);
                            Change::Keep
                        }
                    }
                }
            };
            (change, Some(entry.value()))
        })?;
    if let Some(error) = invalid {
        return Err(error);
    }
    context.reply_value(value.as_ref());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(dialect: Dialect, line: &str) -> Option<Options<'_>> {
        Options::parse(dialect, line.split_whitespace().map(str::as_bytes)).ok()
    }

    #[test]
    fn options_of_set_combine_in_any_order_unless_they_contradict_each_other() {
        let set = |line| parse(Dialect::Set, line);
        assert_eq!(set(""), Some(Options::default()));
        let all = set("get px 5 nx").unwrap();
        assert_eq!(all, set("NX GET PX 5").unwrap());
        assert_eq!(all.condition, Condition::IfAbsent);
        assert_eq!(all.expiry, Expiry::At(Lifetime::Millis, b"5"));
        assert!(all.get);
        assert_eq!(set("xx keepttl").unwrap().expiry, Expiry::Keep);
        for contradiction in [
            "nx xx",
            "xx nx",
            "ex 1 px 1",
            "ex 1 keepttl",
            "keepttl exat 1",
            "ex",
            "pxat",
            "persist",
            "foo",
            "nx foo",
        ] {
            assert_eq!(set(contradiction), None, "{contradiction}");
        }
        for repetition in ["nx nx", "xx xx", "get get", "keepttl keepttl", "ex 1 ex 2"] {
            assert!(set(repetition).is_some(), "{repetition}");
        }
    }

    #[test]
    fn getex_takes_only_what_is_said_about_the_deadline() {
        let getex = |line| parse(Dialect::GetEx, line);
        assert_eq!(getex("persist").unwrap().expiry, Expiry::Persist);
        let at = getex("EXAT 9").unwrap().expiry;
        assert_eq!(at, Expiry::At(Lifetime::UntilSecond, b"9"));
        for refused in ["nx", "get", "keepttl", "persist ex 1", "ex 1 persist", "ex"] {
            assert_eq!(getex(refused), None, "{refused}");
        }
    }
}
