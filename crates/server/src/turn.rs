//! A turn: what the loop lends a connection for it, how much the connection may do, and what the loop
//! shall do afterwards.

use std::time::Instant;

use hotcopy_wire::resp::RequestParser;

use crate::input::READ_BYTES;
use crate::share::Share;
use crate::shared::{LoopCounts, Shared};

/// Commands that a connection may execute before others have their turn.
const TURN_COMMANDS: usize = 128;

/// Bytes of requests and replies that a connection may take and produce in a turn.
const TURN_BYTES: usize = 64 * 1024;

/// Buffers of a loop that its connections use in turn.
pub(crate) struct Scratch {
    pub(crate) input: Vec<u8>,
    pub(crate) output: Vec<u8>,
    /// For RESP. None until a connection has finished a request with it.
    pub(crate) parser: Option<Box<RequestParser>>,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Scratch {
            input: vec![0; READ_BYTES],
            output: Vec::new(),
            parser: None,
        }
    }
}

/// What a turn needs of its loop.
pub(crate) struct Turn<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) counts: &'a LoopCounts,
    pub(crate) scratch: &'a mut Scratch,
    pub(crate) now: Instant,
    /// For a large reply that is under way, and none for one that begins.
    pub(crate) share: Option<Share>,
}

/// What the loop shall do with a connection after its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Wait for an event.
    Wait,
    /// There is more to read, to execute, or to write to a kernel that would take it.
    GoOn,
    /// It has ended.
    Close,
}

/// What a turn may still do.
pub(crate) struct Budget {
    commands: usize,
    bytes: usize,
}

impl Budget {
    pub(crate) fn of_a_turn() -> Self {
        Budget {
            commands: TURN_COMMANDS,
            bytes: TURN_BYTES,
        }
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.commands == 0 || self.bytes == 0
    }

    /// Charges a command with the bytes that it took and produced.
    pub(crate) fn spend(&mut self, bytes: usize) {
        self.commands = self.commands.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// Ends the turn: a step of long work is as much as others shall wait for.
    pub(crate) fn spend_all(&mut self) {
        self.commands = 0;
    }

    /// Charges bytes that belong to no command yet.
    pub(crate) fn spend_bytes(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}
