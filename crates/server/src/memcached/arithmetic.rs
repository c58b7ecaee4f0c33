//! `incr` and `decr`: numbers that are kept as text.

use hotcopy_engine::bytes::{BLOCK_VALUE_BYTES, Change, Payload};
use hotcopy_wire::memcached::{Arithmetic, leading_number};

use super::counts::Count;
use super::{DATABASE, reply, reply_error};
use crate::command::Context;

/// What became of a number.
enum Outcome {
    Changed(u64),
    NotFound,
    NotANumber,
}

pub(super) fn change(context: &mut Context<'_>, arithmetic: &Arithmetic<'_>) {
    let Arithmetic {
        key,
        delta,
        subtracts,
        ..
    } = *arithmetic;
    // What is stored must outlive the decision; it is short and goes into the record.
    let mut text = String::new();
    let text = &mut text;
    let store = &context.shared.store;
    let outcome = store.update(DATABASE, key, context.now, |current| {
        let Some(entry) = current else {
            return (Change::Keep, Outcome::NotFound);
        };
        // A longer value is no number to memcached either, and is not copied to find out.
        let is_short = entry.value_len() < BLOCK_VALUE_BYTES;
        let number = is_short.then(|| leading_number(&entry.value().to_vec()));
        let Some(number) = number.flatten() else {
            return (Change::Keep, Outcome::NotANumber);
        };
        let changed = if subtracts {
            number.saturating_sub(delta)
        } else {
            number.wrapping_add(delta)
        };
        // A value does not become shorter.
        let len = entry.value_len();
        *text = format!("{changed:<len$}");
        let store = Change::Store {
            value: Payload::Bytes(text.as_bytes()),
            flags: entry.flags(),
            deadline: entry.deadline(),
        };
        (store, Outcome::Changed(changed))
    });
    let (hit, miss) = if subtracts {
        (Count::DecrHits, Count::DecrMisses)
    } else {
        (Count::IncrHits, Count::IncrMisses)
    };
    match outcome {
        Ok(Outcome::Changed(number)) => {
            context.counts.memcached.add(hit);
            reply(context.output, &number.to_string());
        }
        Ok(Outcome::NotFound) => {
            context.counts.memcached.add(miss);
            reply(context.output, "NOT_FOUND");
        }
        Ok(Outcome::NotANumber) => reply_error(
            context,
            "CLIENT_ERROR cannot increment or decrement non-numeric value",
        ),
        Err(_) => reply_error(context, "SERVER_ERROR out of memory in incr"),
    }
}
