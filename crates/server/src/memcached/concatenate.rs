//! `append` and `prepend`: a value that is put behind or before another one.
//!
//! The new value is made where nothing is locked, and stored if nobody has written meanwhile; else it is made
//! again. A little that is appended leaves the blocks before it as they are. Where much has to be copied, that goes on
//! in steps.

use hotcopy_engine::bytes::{ByteStore, Payload, StoreError, UnixMillis, Value, ValueBuilder};

use super::storage::{Outcome, made_before, replace_version};
use super::{DATABASE, reply};
use crate::command::Context;
use crate::command::error::CommandError;
use crate::command::work::{Progress, STEP_BYTES, Step, Unfinished, Work};

/// Where the new bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Front,
    Back,
}

/// Extends a value; None if that goes on in steps.
pub(super) fn extend(
    context: &mut Context<'_>,
    key: &[u8],
    side: Side,
    data: Payload<'_>,
) -> Result<Option<Outcome>, StoreError> {
    let store = &context.shared.store;
    if let Payload::Bytes(bytes) = data
        && bytes.len() <= STEP_BYTES
        && let Some(outcome) = extend_at_once(store, key, side, bytes, context.now)
    {
        return Ok(Some(outcome));
    }
    let data = match made_before(store, data)? {
        Payload::Bytes(bytes) => Value::copy_from_slice(bytes),
        Payload::Value(value) => value,
    };
    context.session.unfinished = Some(Unfinished::new(Extension {
        key: key.to_vec(),
        side,
        data,
        joining: None,
    }));
    Ok(None)
}

/// Extends a value by a little; None if that takes much copying.
fn extend_at_once(
    store: &ByteStore,
    key: &[u8],
    side: Side,
    bytes: &[u8],
    now: UnixMillis,
) -> Option<Outcome> {
    loop {
        let Some((value, version)) = current(store, key, now) else {
            return Some(Outcome::NotStored);
        };
        let made = match side {
            Side::Back => store.patched(&value, value.len(), bytes).ok(),
            Side::Front if bytes.len() + value.len() > STEP_BYTES => return None,
            Side::Front => {
                let parts = [Value::copy_from_slice(bytes), value];
                let joining = Joining::begin(store, parts, version);
                joining.and_then(|mut joining| {
                    joining.copy(store, STEP_BYTES);
                    joining.builder.finish()
                })
            }
        };
        let Some(made) = made else {
            return Some(Outcome::NotStored);
        };
        // Whoever was faster has made progress, so that of all who write one always does.
        if let Some(outcome) = replace_version(store, key, version, made, now) {
            return Some(outcome);
        }
    }
}

/// The value of a key, and what tells whether it is still the same later.
fn current(store: &ByteStore, key: &[u8], now: UnixMillis) -> Option<(Value, u64)> {
    store.peek(DATABASE, key, now, |current| {
        current.map(|entry| (entry.value(), entry.version()))
    })
}

/// Two values that are being copied into one.
#[derive(Debug)]
struct Joining {
    parts: [Value; 2],
    builder: ValueBuilder,
    /// Of the entry whose value is one of the parts.
    version: u64,
}

impl Joining {
    /// None if what they make is too large.
    fn begin(store: &ByteStore, parts: [Value; 2], version: u64) -> Option<Self> {
        let len = parts.iter().map(Value::len).sum();
        let builder = store.builder(len).ok()?;
        Some(Joining {
            parts,
            builder,
            version,
        })
    }

    /// Copies up to so many bytes.
    fn copy(&mut self, store: &ByteStore, max_bytes: usize) {
        let [first, second] = &self.parts;
        let mut left = max_bytes;
        while left > 0 && !self.builder.is_full() {
            let position = self.builder.filled();
            let mut rest = match position.checked_sub(first.len()) {
                None => first.slices_from(position),
                Some(position) => second.slices_from(position),
            };
            let Some(slice) = rest.next() else {
                return;
            };
            let unfilled = self.builder.unfilled(store);
            let count = slice.len().min(unfilled.len()).min(left);
            unfilled[..count].copy_from_slice(&slice[..count]);
            self.builder.advance(count);
            left -= count;
        }
    }
}

/// An `append` or `prepend` that takes much copying.
#[derive(Debug)]
struct Extension {
    key: Vec<u8>,
    side: Side,
    data: Value,
    /// None: it has not begun, or somebody else has written meanwhile.
    joining: Option<Joining>,
}

impl Extension {
    /// None while it has not come to its end.
    fn go_on(&mut self, store: &ByteStore, now: UnixMillis) -> Option<Outcome> {
        if self.joining.is_none() {
            let Some((value, version)) = current(store, &self.key, now) else {
                return Some(Outcome::NotStored);
            };
            let parts = match self.side {
                Side::Front => [self.data.clone(), value],
                Side::Back => [value, self.data.clone()],
            };
            self.joining = Joining::begin(store, parts, version);
        }
        let Some(joining) = &mut self.joining else {
            return Some(Outcome::NotStored);
        };
        joining.copy(store, STEP_BYTES);
        if !joining.builder.is_full() {
            return None;
        }
        let Joining {
            builder, version, ..
        } = self.joining.take()?;
        replace_version(store, &self.key, version, builder.finish()?, now)
    }
}

impl Work for Extension {
    fn step(&mut self, step: &mut Step<'_>) -> Result<Progress, CommandError> {
        let outcome = self.go_on(&step.shared.store, step.now);
        if let Some(outcome) = outcome {
            reply(step.output, outcome.line());
        }
        Ok(Progress::done_if(outcome.is_some()))
    }

    /// The values are accounted by the store.
    fn request_bytes(&self) -> usize {
        self.key.capacity()
    }
}
