//! Work: a command that takes longer than a turn, and how it goes on in steps.
//!
//! A handler that has much to do leaves it to the connection, which executes nothing else until it is
//! done. Each step is a piece of work as small as a turn of any other client, so whoever
//! names a million keys keeps nobody waiting but itself.

use std::fmt;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use hotcopy_engine::bytes::{ByteStore, UnixMillis};
use hotcopy_wire::resp::{Encoder, Version};

use super::error::CommandError;
use super::reply_error;
use crate::output::Output;
use crate::shared::{LoopCounts, Shared};

/// Keys that one step looks at.
pub(crate) const STEP_KEYS: usize = 512;

/// Bytes of reply, or of values to be copied, after which a step ends.
pub(crate) const STEP_BYTES: usize = 64 * 1024;

/// What remains to be done of a command.
pub(crate) trait Work: fmt::Debug + Send {
    /// Does a little more.
    ///
    /// # Errors
    /// What the command is answered with, which ends it. Nothing of its reply may be in the output.
    fn step(&mut self, step: &mut Step<'_>) -> Result<Progress, CommandError>;

    /// Memory held for what was asked.
    fn request_bytes(&self) -> usize;

    /// Memory held for a reply that cannot begin yet.
    fn reply_bytes(&self) -> usize {
        0
    }
}

/// Whether work has come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    Unfinished,
    Done,
}

impl Progress {
    pub(crate) fn done_if(is_done: bool) -> Self {
        if is_done {
            Progress::Done
        } else {
            Progress::Unfinished
        }
    }
}

/// What a step works with.
pub(crate) struct Step<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) counts: &'a LoopCounts,
    pub(crate) output: &'a mut Output,
    pub(crate) version: Version,
    pub(crate) now: UnixMillis,
}

impl Step<'_> {
    pub(super) fn store(&self) -> &ByteStore {
        &self.shared.store
    }

    pub(super) fn reply(&mut self) -> Encoder<'_> {
        self.output.encoder(self.version)
    }
}

/// Work that a connection goes on with.
#[derive(Debug)]
pub(crate) struct Unfinished {
    work: Box<dyn Work>,
    /// The client wants no reply, which is no reason not to do it.
    is_silent: bool,
    /// Published messages that came meanwhile: they may not stand in the middle of a reply.
    messages: Vec<Bytes>,
    message_bytes: usize,
}

impl Unfinished {
    pub(crate) fn new(work: impl Work + 'static) -> Self {
        Unfinished {
            work: Box::new(work),
            is_silent: false,
            messages: Vec::new(),
            message_bytes: 0,
        }
    }

    /// Lets its reply, of which nothing was written yet, go nowhere.
    pub(crate) fn silence(&mut self) {
        self.is_silent = true;
    }

    /// Memory held for what was asked.
    pub(crate) fn request_bytes(&self) -> usize {
        self.work.request_bytes()
    }

    /// Bytes that will be written when it has ended.
    pub(crate) fn output_bytes(&self) -> usize {
        self.message_bytes + self.work.reply_bytes()
    }

    /// Keeps a message until the reply has ended.
    pub(crate) fn defer(&mut self, message: &Bytes) {
        self.message_bytes += message.len();
        self.messages.push(message.clone());
    }

    /// Does a little more.
    pub(crate) fn step(&mut self, step: &mut Step<'_>) -> Progress {
        let mark = step.output.mark();
        let progress = self.work.step(step).unwrap_or_else(|error| {
            let errors = &step.counts.error_replies;
            errors.fetch_add(1, Ordering::Relaxed);
            reply_error(&mut step.reply(), &error);
            Progress::Done
        });
        if self.is_silent {
            step.output.roll_back(mark);
        }
        if progress == Progress::Done {
            for message in self.messages.drain(..) {
                step.output.encoded(&message);
            }
        }
        progress
    }
}
