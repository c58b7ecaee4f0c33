//! `flush_all` and `version`.

use super::counts::Count;
use super::expiry::deadline;
use super::{DATABASE, reply};
use crate::command::Context;

/// Client libraries choose their behaviour by it: the version whose text protocol this server follows.
pub(super) const MEMCACHED_VERSION: &str = "1.6.18";

/// Empties the database, at once or in some time. What was scheduled before is scheduled no longer.
pub(super) fn flush_all(context: &mut Context<'_>, delay: i64) {
    context.counts.memcached.add(Count::CmdFlush);
    let due = deadline(delay, context.now).unwrap_or(context.now);
    let shared = context.shared;
    if due > context.now {
        shared.scheduled_flush.schedule(due);
    } else {
        shared.scheduled_flush.cancel();
        shared.flush(DATABASE);
    }
    reply(context.output, "OK");
}

pub(super) fn version(context: &mut Context<'_>) {
    reply(context.output, &format!("VERSION {MEMCACHED_VERSION}"));
}
