//! Commands: from a request's arguments to a reply in the connection's output.
//!
//! [`dispatch`] checks what holds for every command (is it known, is the number of arguments right,
//! has the client authenticated, may a subscriber use it) and calls the handler. Handlers are in one
//! file per family; each file lists its commands in a table of its own, which [`table`] puts together.

mod admin;
mod arguments;
mod arithmetic;
mod client;
mod config;
mod connection;
pub(crate) mod error;
mod expire;
pub(crate) mod glob;
mod info;
mod introspection;
mod keys;
mod long_double;
mod mget;
mod numbers;
mod object;
mod other_types;
mod pubsub;
mod ranges;
mod rename;
mod scan;
mod set;
mod set_many;
mod strings;
pub(crate) mod table;
pub(crate) mod work;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use hotcopy_engine::bytes::{ByteStore, Database, Payload, StoreError, UnixMillis, Value};
use hotcopy_wire::resp::{Args, Encoder, Version};

use crate::clients::Client;
use crate::output::Output;
use crate::session::{Replies, Session};
use crate::shared::{LoopCounts, Shared};
use error::CommandError;
use table::Flags;
use work::Unfinished;

/// Longest error reply: some have an argument in them.
const MAX_ERROR_BYTES: usize = 1024;

/// Longest name of a client, its library or a channel.
const MAX_NAME_BYTES: usize = 1024;

/// Bytes that one client's subscriptions may hold, see [`crate::session::Session::subscription_bytes`].
const MAX_SUBSCRIPTION_BYTES: usize = 1024 * 1024;

/// What a handler works with.
pub(crate) struct Context<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) counts: &'a LoopCounts,
    pub(crate) session: &'a mut Session,
    pub(crate) client: &'a Arc<Client>,
    pub(crate) output: &'a mut Output,
    /// What the command shall store, if that is large, or why it cannot be: then its argument is empty.
    pub(crate) value: Option<Result<Value, StoreError>>,
    /// Read once for all commands of a turn.
    pub(crate) now: UnixMillis,
    pub(crate) instant: Instant,
}

impl<'a> Context<'a> {
    /// Where the reply goes.
    fn reply(&mut self) -> Encoder<'_> {
        self.output.encoder(self.session.version)
    }

    fn reply_ok(&mut self) {
        self.reply().simple("OK");
    }

    fn reply_value(&mut self, value: Option<&Value>) {
        match value {
            Some(value) => self.output.value(value, self.session.version),
            None => self.reply().null(),
        }
    }

    /// Refuses a reply that would be longer than what may wait for the client. For replies whose
    /// length a request can choose.
    fn check_reply_len(&self, len: usize) -> Handled {
        if len > self.shared.output_allowance() {
            return Err(CommandError::ReplyTooLong);
        }
        Ok(())
    }

    /// What the command shall store, of which this is the argument.
    fn take_value<'b>(&mut self, argument: &'b [u8]) -> Result<Payload<'b>, CommandError> {
        match self.value.take() {
            Some(value) => Ok(value?.into()),
            None => Ok(argument.into()),
        }
    }

    fn store(&self) -> &'a ByteStore {
        &self.shared.store
    }

    fn database(&self) -> Database {
        self.session.database
    }
}

fn check_name_len(name: &[u8], what: &'static str) -> Handled {
    if name.len() > MAX_NAME_BYTES {
        return Err(CommandError::NameTooLong { what });
    }
    Ok(())
}

type Handled = Result<(), CommandError>;

/// Executes one request. `args` has at least the command's name.
pub(crate) fn dispatch(context: &mut Context<'_>, args: Args<'_>) {
    let mark = context.output.mark();
    if let Err(error) = execute(context, args) {
        let errors = &context.counts.error_replies;
        errors.fetch_add(1, Ordering::Relaxed);
        reply_error(&mut context.reply(), &error);
    }
    let session = &mut *context.session;
    if session.replies != Replies::On {
        session.replies = session.replies.after_command();
        session.unfinished.iter_mut().for_each(Unfinished::silence);
        context.output.roll_back(mark);
    }
}

fn reply_error(reply: &mut Encoder<'_>, error: &CommandError) {
    let mut text = error.to_string();
    text.truncate(text.floor_char_boundary(MAX_ERROR_BYTES));
    reply.error(&text);
}

fn execute(context: &mut Context<'_>, args: Args<'_>) -> Handled {
    if is_http(&args[0]) {
        // A browser was made to talk to us: what follows shall not be run as commands.
        context.session.is_closing = true;
        return Ok(());
    }
    let (index, command) = table::resolve(args)?;
    let counts = &context.counts.commands;
    counts.fetch_add(1, Ordering::Relaxed);
    context.client.note_command(index, context.instant);
    if !context.session.is_authenticated && !command.flags.contains(Flags::NO_AUTH) {
        return Err(CommandError::NotAuthenticated);
    }
    let is_restricted =
        context.session.version == Version::Resp2 && context.session.is_subscriber();
    if is_restricted && !command.flags.contains(Flags::FOR_SUBSCRIBERS) {
        let name = table::full_name(index).unwrap_or(command.name);
        return Err(CommandError::SubscriberOnly { name });
    }
    (command.handler)(context, args)
}

fn is_http(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"post") || name.eq_ignore_ascii_case(b"host:")
}

/// The reply of `HELP` subcommands.
fn reply_help(context: &mut Context<'_>, command: &str, subcommands: &[table::Command]) {
    let mut lines = vec![format!(
        "{command} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"
    )];
    for subcommand in subcommands {
        lines.push(subcommand.name.to_uppercase());
        lines.push(format!("    {}", subcommand.summary));
    }
    let mut reply = context.reply();
    reply.array(lines.len());
    for line in lines {
        reply.simple(&line);
    }
}

#[cfg(test)]
mod tests;
