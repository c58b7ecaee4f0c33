//! The memcached text protocol: from a request to a reply in the connection's output.
//!
//! It works on database 0, on the same entries as the other commands. Handlers are in one file per family. What is not
//! wanted is not sent: `noreply` takes back whatever a handler has replied.

mod arithmetic;
mod concatenate;
mod counts;
mod expiry;
mod keys;
mod retrieval;
mod server;
mod stats;
mod storage;

use std::sync::atomic::Ordering;

use hotcopy_engine::bytes::Database;
use hotcopy_wire::memcached::{Message, Refused, Request};

use crate::command::Context;
use crate::command::work::Unfinished;
use crate::output::Output;
pub(crate) use counts::Counts;

/// What memcached clients see.
const DATABASE: Database = Database::FIRST;

/// Executes one request.
pub(crate) fn dispatch(context: &mut Context<'_>, message: Result<Message<'_>, Refused>) {
    context.counts.commands.fetch_add(1, Ordering::Relaxed);
    context.client.note_activity(context.instant);
    let mark = context.output.mark();
    let is_silent = match message {
        Ok(message) => {
            execute(context, &message);
            message.request.is_silent()
        }
        Err(refused) => {
            reply_error(context, &refused.error.to_string());
            refused.is_silent
        }
    };
    if is_silent {
        let unfinished = &mut context.session.unfinished;
        unfinished.iter_mut().for_each(Unfinished::silence);
        context.output.roll_back(mark);
    }
}

fn execute(context: &mut Context<'_>, message: &Message<'_>) {
    match message.request {
        Request::Get(get) => retrieval::get(context, get),
        Request::Store(store) => storage::store(context, &store, message.data),
        Request::Arithmetic(arithmetic) => arithmetic::change(context, &arithmetic),
        Request::Delete { key, .. } => keys::delete(context, key),
        Request::Touch { key, exptime, .. } => keys::touch(context, key, exptime),
        Request::FlushAll { delay, .. } => server::flush_all(context, delay),
        Request::Stats(about) => stats::stats(context, about),
        Request::Verbosity { .. } => reply(context.output, "OK"),
        Request::Version => server::version(context),
        Request::NoOp => reply(context.output, "MN"),
        Request::Quit => context.session.is_closing = true,
    }
}

/// Appends a line.
fn reply(output: &mut Output, line: &str) {
    let text = output.text();
    text.extend_from_slice(line.as_bytes());
    text.extend_from_slice(b"\r\n");
}

fn reply_error(context: &mut Context<'_>, line: &str) {
    let errors = &context.counts.error_replies;
    errors.fetch_add(1, Ordering::Relaxed);
    reply(context.output, line);
}
