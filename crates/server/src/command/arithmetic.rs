//! `INCR` and its relatives: numbers that are kept as text.

use hotcopy_engine::bytes::{Change, Current, Payload};
use hotcopy_wire::resp::Args;

use super::error::CommandError;
use super::long_double::LongDouble;
use super::numbers::integer;
use super::table::{Command, Flags};
use super::{Context, Handled};

const WRITE: &[Flags] = &[Flags::WRITE, Flags::DENYOOM, Flags::FAST, Flags::STRING];
const ONE: (i32, i32, i32) = (1, 1, 1);
const ACCESS: &[&str] = &["RW", "access", "update"];

pub(super) const COMMANDS: &[Command] = &[
    Command::new("incr", 2, |context, args| add(context, args, Ok(1)))
        .flags(WRITE)
        .keys(ONE, ACCESS)
        .doc("string", "1.0.0", "O(1)", "Adds one to a number."),
    Command::new("decr", 2, |context, args| add(context, args, Ok(-1)))
        .flags(WRITE)
        .keys(ONE, ACCESS)
        .doc("string", "1.0.0", "O(1)", "Subtracts one from a number."),
    Command::new("incrby", 3, |context, args| {
        add(context, args, integer(&args[2]))
    })
    .flags(WRITE)
    .keys(ONE, ACCESS)
    .doc("string", "1.0.0", "O(1)", "Adds to a number."),
    Command::new("decrby", 3, |context, args| {
        let number = integer(&args[2]).and_then(|number| {
            let negated = number.checked_neg();
            negated.ok_or(CommandError::Text("ERR decrement would overflow"))
        });
        add(context, args, number)
    })
    .flags(WRITE)
    .keys(ONE, ACCESS)
    .doc("string", "1.0.0", "O(1)", "Subtracts from a number."),
    Command::new("incrbyfloat", 3, add_float)
        .flags(WRITE)
        .keys(ONE, ACCESS)
        .doc(
            "string",
            "2.6.0",
            "O(1)",
            "Adds to a number that may have a fraction.",
        ),
];

/// No number is longer as text. A longer value is none, and is not copied to find out.
const MAX_NUMBER_BYTES: usize = 5 * 1024;

fn add(context: &mut Context<'_>, args: Args<'_>, number: Result<i64, CommandError>) -> Handled {
    let number = number?;
    let sum = change(context, &args[1], |current| {
        let before = current.map_or(Ok(0), |text| integer(&text))?;
        let sum = before.checked_add(number).ok_or(CommandError::Text(
            "ERR increment or decrement would overflow",
        ))?;
        Ok((sum.to_string(), sum))
    })?;
    context.reply().integer(sum);
    Ok(())
}

fn add_float(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    let not_a_float = CommandError::Text("ERR value is not a valid float");
    let number = LongDouble::parse(&args[2]);
    let sum = change(context, &args[1], |current| {
        let before = match current {
            Some(text) => LongDouble::parse(&text),
            None => Some(LongDouble::ZERO),
        };
        let (Some(before), Some(number)) = (before, number) else {
            return Err(not_a_float);
        };
        let sum = before.checked_add(number).ok_or(CommandError::Text(
            "ERR increment would produce NaN or Infinity",
        ))?;
        let text = sum.to_string();
        Ok((text.clone(), text))
    })?;
    context.reply().bulk(sum.as_bytes());
    Ok(())
}

/// Replaces a short value by what is made of it, as one step. Flags and deadline stay.
fn change<R>(
    context: &Context<'_>,
    key: &[u8],
    make: impl FnOnce(Option<Vec<u8>>) -> Result<(String, R), CommandError>,
) -> Result<R, CommandError> {
    let mut text = String::new();
    let text = &mut text;
    let (database, now) = (context.database(), context.now);
    // The new text must outlive the decision; it is short and goes into the record.
    context
        .store()
        .update(database, key, now, |current: Option<Current<'_>>| {
            let (flags, deadline) = current.map_or((0, None), |it| (it.flags(), it.deadline()));
            let before = current.map(|it| {
                if it.value_len() <= MAX_NUMBER_BYTES {
                    it.value().to_vec()
                } else {
                    Vec::new()
                }
            });
            match make(before) {
                Ok((made, result)) => {
                    *text = made;
                    let store = Change::Store {
                        value: Payload::Bytes(text.as_bytes()),
                        flags,
                        deadline,
                    };
                    (store, Ok(result))
                }
                Err(error) => (Change::Keep, Err(error)),
            }
        })?
}
