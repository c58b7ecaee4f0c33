//! `delete` and `touch`.

use hotcopy_engine::bytes::Change;

use super::counts::Count;
use super::expiry::deadline;
use super::{DATABASE, reply};
use crate::command::Context;

pub(super) fn delete(context: &mut Context<'_>, key: &[u8]) {
    let removed = context.shared.store.remove(DATABASE, key, context.now);
    let (count, line) = match removed {
        Some(_) => (Count::DeleteHits, "DELETED"),
        None => (Count::DeleteMisses, "NOT_FOUND"),
    };
    context.counts.memcached.add(count);
    reply(context.output, line);
}

pub(super) fn touch(context: &mut Context<'_>, key: &[u8], exptime: i64) {
    let deadline = deadline(exptime, context.now);
    let store = &context.shared.store;
    let touched = store.update(DATABASE, key, context.now, |current| {
        (Change::SetDeadline(deadline), current.is_some())
    });
    // A deadline fits into any entry.
    let (count, line) = if touched.unwrap_or(false) {
        (Count::TouchHits, "TOUCHED")
    } else {
        (Count::TouchMisses, "NOT_FOUND")
    };
    context.counts.memcached.add(Count::CmdTouch);
    context.counts.memcached.add(count);
    reply(context.output, line);
}
