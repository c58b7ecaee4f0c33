//! One connection's turn: write one piece of what waits, read and execute within a budget, and write
//! one piece of that if nothing was written before.

mod requests;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hotcopy_engine::bytes::UnixMillis;

use crate::clients::Client;
use crate::command::work::{Progress as WorkProgress, Step, Unfinished};
use crate::input::Input;
use crate::output::Output;
use crate::session::Session;
use crate::share::Share;
use crate::shared::{Shared, settle};
use crate::socket::Socket;
use crate::turn::{Budget, Outcome, Turn};

pub(crate) struct Connection {
    pub(crate) socket: Socket,
    pub(crate) client: Arc<Client>,
    pub(crate) session: Session,
    input: Input,
    pub(crate) output: Output,
    /// Whether the kernel may have more for us: edge-triggered events tell it once.
    pub(crate) is_readable: bool,
    pub(crate) is_writable: bool,
    /// The peer has finished: read until the end even after a short read, because no event follows.
    pub(crate) is_read_closed: bool,
    pub(crate) queued: bool,
    /// What the socket is set up for.
    share: Share,
    /// The server ends: what has arrived is still answered.
    is_ending: bool,
    /// When a byte last came or went.
    active_at: Instant,
    /// When the peer last took something, while something waits for it.
    waiting_since: Option<Instant>,
    accounted_input: usize,
    accounted_output: usize,
}

impl Connection {
    pub(crate) fn new(socket: Socket, client: Arc<Client>, session: Session, now: Instant) -> Self {
        Connection {
            socket,
            client,
            session,
            input: Input::default(),
            output: Output::default(),
            // It may have sent something before it was registered.
            is_readable: true,
            is_writable: true,
            is_read_closed: false,
            queued: false,
            share: Share::WithOthers,
            is_ending: false,
            active_at: now,
            waiting_since: None,
            accounted_input: 0,
            accounted_output: 0,
        }
    }

    pub(crate) fn turn(&mut self, turn: &mut Turn<'_>) -> Outcome {
        self.output.lend(&mut turn.scratch.output);
        let result = self.work(turn);
        if self.is_ending && !self.has_more_input() && self.session.unfinished.is_none() {
            self.session.is_closing = true;
        }
        self.output.take_back(&mut turn.scratch.output);
        self.account(turn.shared);
        self.waiting_since = match self.waiting_since {
            _ if self.output.is_empty() => None,
            None => Some(turn.now),
            since => since,
        };
        match result {
            Err(_) => Outcome::Close,
            Ok(()) if !self.output.is_empty() && self.is_writable => Outcome::GoOn,
            Ok(()) if self.is_finished() => Outcome::Close,
            Ok(()) if self.has_work(turn.shared) => Outcome::GoOn,
            Ok(()) => Outcome::Wait,
        }
    }

    /// Answers what has arrived and then ends.
    pub(crate) fn begin_end(&mut self) {
        self.is_ending = true;
        // Something may have come of which no event told yet.
        self.is_readable = true;
    }

    fn work(&mut self, turn: &mut Turn<'_>) -> io::Result<()> {
        let has_written = self.write(turn)?;
        let mut budget = Budget::of_a_turn();
        while !budget.is_spent() && self.has_work(turn.shared) {
            if self.session.unfinished.is_some() {
                self.continue_work(turn, &mut budget);
            } else if self.input.is_ready() {
                self.execute_kept(turn, &mut budget);
            } else {
                self.receive(turn, &mut budget)?;
            }
        }
        if !has_written {
            self.write(turn)?;
        }
        Ok(())
    }

    /// Whether it is in the middle of a large value that it sends, or of a command that takes many turns.
    pub(crate) fn has_large_work(&self) -> bool {
        self.session.unfinished.is_some() || self.input.is_arriving()
    }

    fn has_more_input(&self) -> bool {
        self.is_readable || self.input.is_ready()
    }

    /// Whether nothing more will be written to it.
    fn is_finished(&self) -> bool {
        let session = &self.session;
        session.is_closing && session.unfinished.is_none() && self.output.is_empty()
    }

    /// Whether the turn can go on: with a reply that has begun, also if the connection is to end
    /// after it, or with the next request.
    fn has_work(&self, shared: &Shared) -> bool {
        if self.session.unfinished.is_some() {
            self.output.len() < shared.output_allowance()
        } else {
            self.may_execute(shared) && self.has_more_input()
        }
    }

    fn may_execute(&self, shared: &Shared) -> bool {
        !self.session.is_closing
            && self.session.unfinished.is_none()
            && self.output.len() < shared.output_allowance()
    }

    fn continue_work(&mut self, turn: &Turn<'_>, budget: &mut Budget) {
        let Some(mut unfinished) = self.session.unfinished.take() else {
            return;
        };
        let mut step = Step {
            shared: turn.shared,
            counts: turn.counts,
            output: &mut self.output,
            version: self.session.version,
            now: UnixMillis::now(),
        };
        let mark = step.output.mark();
        // As for a command that is done at once.
        match catch_unwind(AssertUnwindSafe(|| unfinished.step(&mut step))) {
            Ok(WorkProgress::Done) => {}
            Ok(WorkProgress::Unfinished) => self.session.unfinished = Some(unfinished),
            Err(_) => self.end_after_panic(turn, mark),
        }
        budget.spend_all();
    }

    /// Appends a published message, behind a reply that is under way.
    pub(crate) fn deliver(&mut self, message: &Bytes) {
        match &mut self.session.unfinished {
            Some(unfinished) => unfinished.defer(message),
            None => self.output.encoded(message),
        }
    }

    /// Reply bytes that wait, with messages that wait for a reply's end.
    pub(crate) fn output_bytes(&self) -> usize {
        let unfinished = self.session.unfinished.as_ref();
        self.output.len() + unfinished.map_or(0, Unfinished::output_bytes)
    }

    /// Memory held for requests that are not finished.
    fn request_bytes(&self) -> usize {
        let unfinished = self.session.unfinished.as_ref();
        self.input.heap_bytes() + unfinished.map_or(0, Unfinished::request_bytes)
    }

    /// Writes one piece; returns whether there was something to write and a kernel to take it.
    fn write(&mut self, turn: &Turn<'_>) -> io::Result<bool> {
        if !self.is_writable || self.output.is_empty() {
            return Ok(false);
        }
        if let Some(share) = turn.share
            && share != self.share
        {
            self.share = share;
            self.socket.set_share(share);
        }
        let max_bytes = turn.share.unwrap_or(Share::WithOthers).piece_bytes();
        let written = self.output.write_piece(&mut self.socket, max_bytes)?;
        self.is_writable = written.all;
        if written.bytes > 0 {
            self.active_at = turn.now;
            self.waiting_since = Some(turn.now);
            let count = written.bytes as u64;
            turn.counts.output_bytes.fetch_add(count, Ordering::Relaxed);
        }
        Ok(true)
    }

    fn account(&mut self, shared: &Shared) {
        let (input, output) = (self.request_bytes(), self.output_bytes());
        if (input, output) != (self.accounted_input, self.accounted_output) {
            settle(&shared.request_bytes, &mut self.accounted_input, input);
            settle(&shared.output_bytes, &mut self.accounted_output, output);
            self.client.input_bytes.store(input, Ordering::Relaxed);
            self.client.output_bytes.store(output, Ordering::Relaxed);
        }
    }

    /// Whether the peer took nothing of what waits for it for so long.
    pub(crate) fn is_stalled(&self, now: Instant, timeout: Duration) -> bool {
        self.waiting_since
            .is_some_and(|since| now.saturating_duration_since(since) >= timeout)
    }

    /// Whether no byte came or went for so long, and none needs to.
    pub(crate) fn is_idle(&self, now: Instant, timeout: Duration) -> bool {
        now.saturating_duration_since(self.active_at) >= timeout
            && self.output.is_empty()
            && self.session.unfinished.is_none()
            && !self.session.is_subscriber()
    }

    /// Ends the sums' share. The connection is dropped after it.
    pub(crate) fn release(&mut self, shared: &Shared) {
        settle(&shared.request_bytes, &mut self.accounted_input, 0);
        settle(&shared.output_bytes, &mut self.accounted_output, 0);
    }
}
