//! Deadlines: setting, asking, taking away.

use hotcopy_engine::bytes::{Change, UnixMillis};
use hotcopy_wire::resp::Args;

use super::error::CommandError;
use super::numbers::integer;
use super::table::{Command, Flags};
use super::{Context, Handled};

const WRITE: &[Flags] = &[Flags::WRITE, Flags::FAST, Flags::KEYSPACE];
const READ: &[Flags] = &[Flags::READONLY, Flags::FAST, Flags::KEYSPACE];
const ONE: (i32, i32, i32) = (1, 1, 1);

pub(super) const COMMANDS: &[Command] = &[
    Command::new("expire", -3, |context, args| {
        expire(context, args, Lifetime::Seconds, "expire")
    })
    .flags(WRITE)
    .keys(ONE, &["RW", "update"])
    .doc(
        "generic",
        "1.0.0",
        "O(1)",
        "Lets a key live for some seconds.",
    ),
    Command::new("pexpire", -3, |context, args| {
        expire(context, args, Lifetime::Millis, "pexpire")
    })
    .flags(WRITE)
    .keys(ONE, &["RW", "update"])
    .doc(
        "generic",
        "2.6.0",
        "O(1)",
        "Lets a key live for some milliseconds.",
    ),
    Command::new("expireat", -3, |context, args| {
        expire(context, args, Lifetime::UntilSecond, "expireat")
    })
    .flags(WRITE)
    .keys(ONE, &["RW", "update"])
    .doc(
        "generic",
        "1.2.0",
        "O(1)",
        "Lets a key live until a Unix time in seconds.",
    ),
    Command::new("pexpireat", -3, |context, args| {
        expire(context, args, Lifetime::UntilMilli, "pexpireat")
    })
    .flags(WRITE)
    .keys(ONE, &["RW", "update"])
    .doc(
        "generic",
        "2.6.0",
        "O(1)",
        "Lets a key live until a Unix time in milliseconds.",
    ),
    Command::new("ttl", 2, |context, args| {
        ask(context, args, |deadline, now| {
            to_seconds(deadline.0.saturating_sub(now.0))
        })
    })
    .flags(READ)
    .keys(ONE, &["RO", "access"])
    .doc(
        "generic",
        "1.0.0",
        "O(1)",
        "Seconds that a key still lives.",
    ),
    Command::new("pttl", 2, |context, args| {
        ask(context, args, |deadline, now| {
            deadline.0.saturating_sub(now.0)
        })
    })
    .flags(READ)
    .keys(ONE, &["RO", "access"])
    .doc(
        "generic",
        "2.6.0",
        "O(1)",
        "Milliseconds that a key still lives.",
    ),
    Command::new("expiretime", 2, |context, args| {
        ask(context, args, |deadline, _| to_seconds(deadline.0))
    })
    .flags(READ)
    .keys(ONE, &["RO", "access"])
    .doc(
        "generic",
        "7.0.0",
        "O(1)",
        "Unix time in seconds at which a key expires.",
    ),
    Command::new("pexpiretime", 2, |context, args| {
        ask(context, args, |deadline, _| deadline.0)
    })
    .flags(READ)
    .keys(ONE, &["RO", "access"])
    .doc(
        "generic",
        "7.0.0",
        "O(1)",
        "Unix time in milliseconds at which a key expires.",
    ),
    Command::new("persist", 2, persist)
        .flags(WRITE)
        .keys(ONE, &["RW", "update"])
        .doc("generic", "2.2.0", "O(1)", "Takes a key's deadline away."),
];

/// How a time argument is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lifetime {
    Seconds,
    Millis,
    UntilSecond,
    UntilMilli,
}

impl Lifetime {
    /// The deadline in milliseconds of Unix time, which may be negative.
    fn unix_millis(
        self,
        argument: &[u8],
        now: UnixMillis,
        command: &'static str,
    ) -> Result<i64, CommandError> {
        let number = integer(argument)?;
        let is_relative = matches!(self, Lifetime::Seconds | Lifetime::Millis);
        let millis = match self {
            Lifetime::Seconds | Lifetime::UntilSecond => number.checked_mul(1000),
            Lifetime::Millis | Lifetime::UntilMilli => Some(number),
        };
        let base = if is_relative { now.0.cast_signed() } else { 0 };
        millis
            .and_then(|millis| millis.checked_add(base))
            .ok_or(CommandError::InvalidExpire { command })
    }

    /// The deadline for commands that accept only positive numbers.
    pub(super) fn positive_deadline(
        self,
        argument: &[u8],
        now: UnixMillis,
        command: &'static str,
    ) -> Result<UnixMillis, CommandError> {
        if integer(argument)? <= 0 {
            return Err(CommandError::InvalidExpire { command });
        }
        let deadline = self.unix_millis(argument, now, command)?;
        Ok(UnixMillis(deadline.cast_unsigned()))
    }
}

/// When `EXPIRE` and its relatives leave a key as it is.
#[derive(Debug, Clone, Copy, Default)]
struct Conditions {
    if_none: bool,
    if_any: bool,
    if_later: bool,
    if_earlier: bool,
}

impl Conditions {
    fn parse(options: Args<'_>) -> Result<Self, CommandError> {
        let mut conditions = Conditions::default();
        for option in options {
            if option.eq_ignore_ascii_case(b"nx") {
                conditions.if_none = true;
            } else if option.eq_ignore_ascii_case(b"xx") {
                conditions.if_any = true;
            } else if option.eq_ignore_ascii_case(b"gt") {
                conditions.if_later = true;
            } else if option.eq_ignore_ascii_case(b"lt") {
                conditions.if_earlier = true;
            } else {
                let option = String::from_utf8_lossy(option);
                let text = format!("ERR Unsupported option {option}");
                return Err(CommandError::Shown(text));
            }
        }
        let Conditions {
            if_none,
            if_any,
            if_later,
            if_earlier,
        } = conditions;
        if if_none && (if_any || if_later || if_earlier) {
            return Err(CommandError::Text(
                "ERR NX and XX, GT or LT options at the same time are not compatible",
            ));
        }
        if if_later && if_earlier {
            return Err(CommandError::Text(
                "ERR GT and LT options at the same time are not compatible",
            ));
        }
        Ok(conditions)
    }

    /// A key without a deadline lives for ever: no new deadline is later, each is earlier.
    fn allow(self, current: Option<UnixMillis>, deadline: UnixMillis) -> bool {
        let has_any = current.is_some();
        !(self.if_none && has_any
            || self.if_any && !has_any
            || self.if_later && current.is_none_or(|current| deadline <= current)
            || self.if_earlier && current.is_some_and(|current| deadline >= current))
    }
}

fn expire(
    context: &mut Context<'_>,
    args: Args<'_>,
    lifetime: Lifetime,
    command: &'static str,
) -> Handled {
    let conditions = Conditions::parse(args.skip(3))?;
    let deadline = lifetime.unix_millis(&args[2], context.now, command)?;
    let deadline = UnixMillis(deadline.max(0).cast_unsigned());
    let is_set =
        context.store().update(
            context.database(),
            &args[1],
            context.now,
            |current| match current {
                Some(entry) if conditions.allow(entry.deadline(), deadline) => {
                    (Change::SetDeadline(Some(deadline)), true)
                }
                _ => (Change::Keep, false),
            },
        )?;
    context.reply().integer(i64::from(is_set));
    Ok(())
}

/// Answers -2 for a key that is not there and -1 for one that has no deadline.
fn ask(
    context: &mut Context<'_>,
    args: Args<'_>,
    answer: impl FnOnce(UnixMillis, UnixMillis) -> u64,
) -> Handled {
    let now = context.now;
    let found = context
        .store()
        .peek(context.database(), &args[1], now, |found| {
            found.map(|entry| entry.deadline())
        });
    let number = match found {
        None => -2,
        Some(None) => -1,
        Some(Some(deadline)) => answer(deadline, now).cast_signed(),
    };
    context.reply().integer(number);
    Ok(())
}

/// To the nearest second, as Redis rounds.
fn to_seconds(millis: u64) -> u64 {
    millis.saturating_add(500) / 1000
}

fn persist(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let had_deadline = context.store().update(
        context.database(),
        &args[1],
        context.now,
        |current| match current.and_then(|entry| entry.deadline()) {
            Some(_) => (Change::SetDeadline(None), true),
            None => (Change::Keep, false),
        },
    )?;
    context.reply().integer(i64::from(had_deadline));
    Ok(())
}
