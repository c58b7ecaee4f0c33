//! Parts of values: `APPEND`, `GETRANGE`, `SETRANGE`.
//!
//! A value that is changed in a part shares the blocks of the others with what it was before. The new
//! one is made where nothing is locked, and stored if nobody has written meanwhile; else it is made again.

use hotcopy_engine::bytes::{Change, Payload, Value};
use hotcopy_wire::resp::Args;

use super::error::CommandError;
use super::numbers::integer;
use super::table::{Command, Flags};
use super::{Context, Handled};

const READ: &[Flags] = &[Flags::READONLY, Flags::STRING];
const ONE: (i32, i32, i32) = (1, 1, 1);

pub(super) const COMMANDS: &[Command] = &[
    Command::new("append", 3, append)
        .flags(&[Flags::WRITE, Flags::DENYOOM, Flags::FAST, Flags::STRING])
        .keys(ONE, &["RW", "insert"])
        .doc(
            "string",
            "2.0.0",
            "O(N) in what is appended",
            "Appends to a value.",
        ),
    Command::new("getrange", 4, getrange)
        .flags(READ)
        .keys(ONE, &["RO", "access"])
        .doc(
            "string",
            "2.4.0",
            "O(1) and the reply",
            "A part of a value.",
        ),
    Command::new("substr", 4, getrange)
        .flags(READ)
        .keys(ONE, &["RO", "access"])
        .doc(
            "string",
            "1.0.0",
            "O(1) and the reply",
            "A part of a value, as GETRANGE.",
        ),
    Command::new("setrange", 4, setrange)
        .flags(&[Flags::WRITE, Flags::DENYOOM, Flags::STRING])
        .keys(ONE, &["RW", "update"])
        .doc(
            "string",
            "2.2.0",
            "O(N) in what is written",
            "Overwrites a part of a value, which grows if need be.",
        ),
];

fn append(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let len = patch(context, &args[1], Offset::End, &args[2])?;
    context.reply().integer(len.cast_signed() as i64);
    Ok(())
}

fn setrange(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let offset = integer(&args[2])?;
    let offset =
        usize::try_from(offset).map_err(|_| CommandError::Text("ERR offset is out of range"))?;
    let len = patch(context, &args[1], Offset::At(offset), &args[3])?;
    context.reply().integer(len.cast_signed() as i64);
    Ok(())
}

/// Where bytes are written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Offset {
    At(usize),
    End,
}

/// Writes into a value; returns how long it is then. Flags and deadline stay.
fn patch(
    context: &Context<'_>,
    key: &[u8],
    offset: Offset,
    bytes: &[u8],
) -> Result<usize, CommandError> {
    let (store, database, now) = (context.store(), context.database(), context.now);
    loop {
        let found = store.peek(database, key, now, |found| {
            found.map(|entry| (entry.value(), entry.version()))
        });
        let (value, version) = match found {
            Some((value, version)) => (value, Some(version)),
            None => (Value::copy_from_slice(&[]), None),
        };
        let at = match offset {
            // Nothing written at a place leaves everything as it is; nothing appended makes an empty value.
            Offset::At(_) if bytes.is_empty() => return Ok(value.len()),
            Offset::End if bytes.is_empty() && version.is_some() => return Ok(value.len()),
            Offset::At(at) => at,
            Offset::End => value.len(),
        };
        let patched = store.patched(&value, at, bytes)?;
        let len = patched.len();
        // Whoever was faster has made progress, so that of all who write one always does.
        let is_stored = store.update(database, key, now, |current| {
            if current.map(|entry| entry.version()) != version {
                return (Change::Keep, false);
            }
            let (flags, deadline) = current.map_or((0, None), |it| (it.flags(), it.deadline()));
            let store = Change::Store {
                value: Payload::Value(patched),
                flags,
                deadline,
            };
            (store, true)
        })?;
        if is_stored {
            return Ok(len);
        }
    }
}

fn getrange(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let (start, end) = (integer(&args[2])?, integer(&args[3])?);
    let value = context
        .store()
        .get(context.database(), &args[1], context.now);
    let range = value.as_ref().map(|value| range(start, end, value.len()));
    match (value, range) {
        (Some(value), Some(range)) if !range.is_empty() => {
            let version = context.session.version;
            context.output.value_range(&value, range, version);
        }
        _ => context.reply().bulk(b""),
    }
    Ok(())
}

/// The part from `start` to `end`, both included and counted from the value's end if they are negative.
fn range(start: i64, end: i64, len: usize) -> std::ops::Range<usize> {
    let signed_len = len.cast_signed() as i64;
    if start < 0 && end < 0 && start > end {
        return 0..0;
    }
    let from_start = |index: i64| {
        let index = if index < 0 {
            index.saturating_add(signed_len)
        } else {
            index
        };
        index.max(0)
    };
    let start = from_start(start);
    let end = from_start(end).min(signed_len - 1);
    if start > end || len == 0 {
        return 0..0;
    }
    start.cast_unsigned() as usize..end.cast_unsigned() as usize + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_counted_from_either_end_and_cut_to_the_value() {
        for (start, end, part) in [
            (0, -1, 0..10),
            (0, 3, 0..4),
            (-3, -1, 7..10),
            (-100, 2, 0..3),
            (5, 100, 5..10),
            (9, 9, 9..10),
            (0, -10, 0..1),
            (i64::MIN, i64::MAX, 0..10),
        ] {
            assert_eq!(range(start, end, 10), part, "{start} {end}");
        }
        for (start, end) in [(5, 3), (10, 20), (-1, -5), (3, -100), (i64::MAX, i64::MIN)] {
            assert!(range(start, end, 10).is_empty(), "{start} {end}");
        }
        assert!(range(0, -1, 0).is_empty());
    }
}
