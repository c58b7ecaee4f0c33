//! `MSET` and `MSETNX`: several values as one step.
//!
//! What one step writes is bounded, because everybody who wants one of its shards waits for it. Up to
//! [`ATOMIC_PAIRS`] pairs are written as of one moment. An `MSET` of more pairs is that many steps one after
//! another; an `MSETNX`, which promises all or nothing, is refused. The values are copied before,
//! where nobody waits, and in steps too if they are long.

use std::ops::Range;

use hotcopy_engine::bytes::{ByteStore, Condition, Database, Payload, Value, ValueBuilder};
use hotcopy_wire::resp::{Args, Encoder};

use super::arguments::Arguments;
use super::error::CommandError;
use super::table::{Command, Flags};
use super::work::{Progress, STEP_BYTES, Step, Unfinished, Work};
use super::{Context, Handled};

/// Pairs that are written as of one moment.
const ATOMIC_PAIRS: usize = 1024;

/// What a pair costs beside the copying, as the time for so many bytes.
const PAIR_BYTES: usize = 128;

const WRITE: &[Flags] = &[Flags::WRITE, Flags::DENYOOM, Flags::STRING];

pub(super) const COMMANDS: &[Command] = &[
    Command::new("mset", -3, mset)
        .flags(WRITE)
        .keys((1, -1, 2), &["OW", "update"])
        .doc(
            "string",
            "1.0.1",
            "O(N) in the keys",
            "Stores several values as one step.",
        ),
    Command::new("msetnx", -3, msetnx)
        .flags(WRITE)
        .keys((1, -1, 2), &["OW", "insert"])
        .doc(
            "string",
            "1.0.1",
            "O(N) in the keys",
            "Stores several values as one step if none of the keys is there.",
        ),
];

fn mset(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    store_all(context, args, Condition::Always, "mset")
}

fn msetnx(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    store_all(context, args, Condition::IfAbsent, "msetnx")
}

fn store_all(
    context: &mut Context<'_>,
    args: Args<'_>,
    condition: Condition,
    name: &'static str,
) -> Handled {
    if args.len().is_multiple_of(2) {
        return Err(CommandError::WrongArity { name });
    }
    let arguments = args.skip(1);
    let pairs = arguments.len() / 2;
    let (mut bytes, max_item_bytes) = (0, context.shared.config.max_item_bytes);
    for argument in arguments {
        if argument.len() > max_item_bytes {
            return Err(CommandError::ItemTooLong { max_item_bytes });
        }
        bytes += argument.len();
    }
    if condition == Condition::IfAbsent && pairs > ATOMIC_PAIRS {
        return Err(CommandError::TooManyPairs { max: ATOMIC_PAIRS });
    }
    let (database, now) = (context.database(), context.now);
    if pairs > ATOMIC_PAIRS || bytes > STEP_BYTES {
        context.session.unfinished = Some(Unfinished::new(SetMany {
            database,
            condition,
            arguments: Arguments::copy_of(arguments),
            copying: None,
            copied: Vec::new(),
        }));
        return Ok(());
    }
    let mut pairs = Vec::with_capacity(pairs);
    let mut rest = arguments.iter();
    while let (Some(key), Some(value)) = (rest.next(), rest.next()) {
        pairs.push((key, Payload::from(value)));
    }
    let stored = context.store().set_many(database, &pairs, condition, now)?;
    reply(&mut context.reply(), condition, stored);
    Ok(())
}

fn reply(reply: &mut Encoder<'_>, condition: Condition, stored: bool) {
    if condition == Condition::Always {
        reply.simple("OK");
    } else {
        reply.integer(i64::from(stored));
    }
}

#[derive(Debug)]
struct SetMany {
    database: Database,
    condition: Condition,
    /// Keys and values in turn.
    arguments: Arguments,
    copying: Option<Copying>,
    /// Pairs that wait to be written; where their keys are.
    copied: Vec<(Range<usize>, Value)>,
}

/// A pair whose value is being copied.
#[derive(Debug)]
struct Copying {
    key: Range<usize>,
    /// What is not copied yet.
    value: Range<usize>,
    builder: ValueBuilder,
}

impl Work for SetMany {
    fn step(&mut self, step: &mut Step<'_>) -> Result<Progress, CommandError> {
        self.copy(step.store())?;
        let is_last = self.copying.is_none() && self.arguments.is_empty();
        if !is_last && self.copied.len() < ATOMIC_PAIRS {
            return Ok(Progress::Unfinished);
        }
        let stored = self.write(step)?;
        if is_last {
            reply(&mut step.reply(), self.condition, stored);
        }
        Ok(Progress::done_if(is_last))
    }

    /// The values' copies are accounted by the store.
    fn request_bytes(&self) -> usize {
        let copied = self.copied.capacity() * size_of::<(Range<usize>, Value)>();
        self.arguments.heap_bytes() + copied
    }
}

impl SetMany {
    /// Copies as much as one step may.
    fn copy(&mut self, store: &ByteStore) -> Result<(), CommandError> {
        let mut left = STEP_BYTES;
        while left > 0 && self.copied.len() < ATOMIC_PAIRS {
            let begun = match self.copying.take() {
                Some(copying) => Some(copying),
                None => self.begin(store)?,
            };
            let Some(mut copying) = begun else {
                break;
            };
            while left > 0 && !copying.builder.is_full() {
                let unfilled = copying.builder.unfilled(store);
                let count = unfilled.len().min(left);
                let start = copying.value.start;
                unfilled[..count].copy_from_slice(self.arguments.at(start..start + count));
                copying.builder.advance(count);
                copying.value.start += count;
                left -= count;
            }
            // Also short values cost something.
            left = left.saturating_sub(PAIR_BYTES);
            if copying.builder.is_full() {
                let value = copying.builder.finish();
                self.copied.extend(value.map(|value| (copying.key, value)));
            } else {
                self.copying = Some(copying);
            }
        }
        Ok(())
    }

    fn begin(&mut self, store: &ByteStore) -> Result<Option<Copying>, CommandError> {
        let (Some(key), Some(value)) = (self.arguments.next_range(), self.arguments.next_range())
        else {
            return Ok(None);
        };
        let builder = store.builder(value.len())?;
        Ok(Some(Copying {
            key,
            value,
            builder,
        }))
    }

    fn write(&mut self, step: &Step<'_>) -> Result<bool, CommandError> {
        let copied = std::mem::take(&mut self.copied);
        let pair = |(key, value): (Range<usize>, Value)| (self.arguments.at(key), value.into());
        let pairs: Vec<(&[u8], Payload<'_>)> = copied.into_iter().map(pair).collect();
        let (database, condition) = (self.database, self.condition);
        let store = step.store();
        Ok(store.set_many(database, &pairs, condition, step.now)?)
    }
}
