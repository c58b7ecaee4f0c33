//! `set`, `add`, `replace`, `append`, `prepend` and `cas`.

use hotcopy_engine::bytes::{
    BLOCK_VALUE_BYTES, ByteStore, Change, Condition, DeadlineChange, Payload, SetOptions,
    StoreError, UnixMillis, Value,
};
use hotcopy_wire::memcached::{Store, StoreMode};

use super::concatenate::{self, Side};
use super::counts::Count;
use super::expiry::deadline;
use super::{DATABASE, reply, reply_error};
use crate::command::Context;

/// What became of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Stored,
    /// Nothing, or something, was there.
    NotStored,
    /// Somebody has written since.
    Exists,
    NotFound,
}

impl Outcome {
    pub(super) fn line(self) -> &'static str {
        match self {
            Outcome::Stored => "STORED",
            Outcome::NotStored => "NOT_STORED",
            Outcome::Exists => "EXISTS",
            Outcome::NotFound => "NOT_FOUND",
        }
    }

    fn stored_if(stored: bool) -> Self {
        if stored {
            Outcome::Stored
        } else {
            Outcome::NotStored
        }
    }
}

pub(super) fn store(context: &mut Context<'_>, request: &Store<'_>, data: &[u8]) {
    context.counts.memcached.add(Count::CmdSet);
    let value = context.value.take();
    let outcome = match value {
        None => write(context, request, data.into()),
        Some(Ok(value)) => write(context, request, value.into()),
        Some(Err(error)) => Err(error),
    };
    match outcome {
        Ok(Some(outcome)) => reply(context.output, outcome.line()),
        // It is answered when it is done.
        Ok(None) => {}
        Err(_) => {
            context.counts.memcached.add(Count::StoreTooLarge);
            // The client wanted the old value to be no more.
            if request.mode == StoreMode::Set {
                let store = &context.shared.store;
                store.remove(DATABASE, request.key, context.now);
            }
            reply_error(context, "SERVER_ERROR object too large for cache");
        }
    }
}

/// None if it goes on in steps.
fn write(
    context: &mut Context<'_>,
    request: &Store<'_>,
    value: Payload<'_>,
) -> Result<Option<Outcome>, StoreError> {
    let condition = match request.mode {
        StoreMode::Set => Condition::Always,
        StoreMode::Add => Condition::IfAbsent,
        StoreMode::Replace => Condition::IfPresent,
        StoreMode::Append => return concatenate::extend(context, request.key, Side::Back, value),
        StoreMode::Prepend => return concatenate::extend(context, request.key, Side::Front, value),
        StoreMode::Cas(unique) => return cas(context, request, unique, value).map(Some),
    };
    let now = context.now;
    let options = SetOptions {
        condition,
        deadline: match deadline(request.exptime, now) {
            Some(at) => DeadlineChange::At(at),
            None => DeadlineChange::Clear,
        },
        flags: request.flags,
        is_read: false,
    };
    let store = &context.shared.store;
    let outcome = store.set(DATABASE, request.key, value, options, now)?;
    Ok(Some(Outcome::stored_if(outcome.stored)))
}

fn cas(
    context: &Context<'_>,
    request: &Store<'_>,
    unique: u64,
    value: Payload<'_>,
) -> Result<Outcome, StoreError> {
    let (store, now) = (&context.shared.store, context.now);
    let value = made_before(store, value)?;
    let outcome = store.update(DATABASE, request.key, now, |current| match current {
        None => (Change::Keep, Outcome::NotFound),
        Some(entry) if entry.version() != unique => (Change::Keep, Outcome::Exists),
        Some(_) => {
            let store = Change::Store {
                value,
                flags: request.flags,
                deadline: deadline(request.exptime, now),
            };
            (store, Outcome::Stored)
        }
    })?;
    context.counts.memcached.add(match outcome {
        Outcome::Stored => Count::CasHits,
        Outcome::NotFound => Count::CasMisses,
        _ => Count::CasBadval,
    });
    Ok(outcome)
}

/// A long value is copied to its blocks here, where nothing is locked.
pub(super) fn made_before<'a>(
    store: &ByteStore,
    value: Payload<'a>,
) -> Result<Payload<'a>, StoreError> {
    let Payload::Bytes(mut bytes) = value else {
        return Ok(value);
    };
    if bytes.len() < BLOCK_VALUE_BYTES {
        return Ok(value);
    }
    let mut builder = store.builder(bytes.len())?;
    while !bytes.is_empty() {
        let unfilled = builder.unfilled(store);
        let (part, rest) = bytes.split_at(unfilled.len());
        unfilled.copy_from_slice(part);
        builder.advance(part.len());
        bytes = rest;
    }
    Ok(builder.finish().map_or(value, Payload::Value))
}

/// Puts a value in the place of the one that had this version; None if somebody has written since.
pub(super) fn replace_version(
    store: &ByteStore,
    key: &[u8],
    version: u64,
    value: Value,
    now: UnixMillis,
) -> Option<Outcome> {
    let replaced = store.update(DATABASE, key, now, |current| match current {
        None => (Change::Keep, Some(Outcome::NotStored)),
        Some(entry) if entry.version() != version => (Change::Keep, None),
        Some(entry) => {
            let store = Change::Store {
                value: value.into(),
                flags: entry.flags(),
                deadline: entry.deadline(),
            };
            (store, Some(Outcome::Stored))
        }
    });
    // What has become too large is not stored, and what was there stays.
    replaced.unwrap_or(Some(Outcome::NotStored))
}
