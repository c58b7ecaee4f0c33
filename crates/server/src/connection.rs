//! One connection's turn: write one piece of what waits, read and execute within a budget, and write
//! one piece of that if nothing was written before.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use hotcopy_engine::bytes::{StoreError, UnixMillis, Value};
use hotcopy_wire::resp::Progress;

use crate::clients::Client;
use crate::command::Context;
use crate::command::work::{Progress as WorkProgress, Step, Unfinished};
use crate::dialect::{Fault, Parser, Told, reply_fault, tell};
use crate::input::{Input, Received};
use crate::output::{Mark, Output};
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

    fn receive(&mut self, turn: &mut Turn<'_>, budget: &mut Budget) -> io::Result<()> {
        let had_kept = !self.input.is_empty();
        let was_arriving = self.input.is_arriving();
        let (scratch, store) = (&mut turn.scratch.input, &turn.shared.store);
        match self.input.read(&mut self.socket, scratch, store)? {
            Received::Nothing => self.is_readable = false,
            Received::End => {
                self.is_readable = false;
                // What it asked for before is still answered.
                self.session.is_closing = true;
            }
            Received::Bytes { count, drained } => {
                self.active_at = turn.now;
                self.is_readable = !drained || self.is_read_closed;
                let received = count as u64;
                turn.counts
                    .input_bytes
                    .fetch_add(received, Ordering::Relaxed);
                if had_kept {
                    // Executed bytes are charged when they are executed, these when they come.
                    budget.spend_bytes(count);
                    if was_arriving {
                        // As with what is written, a piece is as much as others shall wait for.
                        budget.spend_all();
                    }
                    self.check_request_bytes(turn);
                } else {
                    self.execute_received(turn, budget, count);
                }
            }
        }
        Ok(())
    }

    /// Executes straight from the loop's buffer and keeps what is left.
    fn execute_received(&mut self, turn: &mut Turn<'_>, budget: &mut Budget, count: usize) {
        // Taken out for the time being, because the turn is needed beside it.
        let scratch = std::mem::take(&mut turn.scratch.input);
        let executed = self.execute(turn, budget, &scratch[..count], None);
        self.input.keep(&scratch[executed..count]);
        self.input.await_value(&turn.shared.store);
        turn.scratch.input = scratch;
    }

    fn execute_kept(&mut self, turn: &mut Turn<'_>, budget: &mut Budget) {
        let (buffer, start, parser) = self.input.take();
        let executed = self.execute(turn, budget, &buffer[start..], parser);
        self.input.put_back(buffer, start + executed);
        self.input.await_value(&turn.shared.store);
    }

    /// Executes complete requests within the budget, the first with the parser that was kept for it;
    /// returns how many bytes they took.
    fn execute(
        &mut self,
        turn: &mut Turn<'_>,
        budget: &mut Budget,
        bytes: &[u8],
        kept: Option<Parser>,
    ) -> usize {
        let mut parser = match kept {
            None | Some(Parser::Unknown) => self.new_parser(turn, bytes),
            Some(parser) => parser,
        };
        let was_authenticated = self.session.is_authenticated;
        let now = UnixMillis::now();
        let mut executed = 0;
        while executed < bytes.len() && !budget.is_spent() && self.may_execute(turn.shared) {
            match parser.parse(&bytes[executed..]) {
                Ok(Progress::Complete { consumed }) => {
                    let request = &bytes[executed..executed + consumed];
                    let value = self.input.take_value();
                    let waiting = self.output.len();
                    self.call(turn, &parser, request, value, now);
                    if self.session.unfinished.is_some() {
                        self.check_request_bytes(turn);
                    }
                    let replied = self.output.len().saturating_sub(waiting);
                    budget.spend(consumed + replied);
                    parser.reset();
                    executed += consumed;
                    if self.session.is_authenticated != was_authenticated {
                        // From here on other limits hold, and they are the parser's.
                        return executed;
                    }
                }
                Ok(Progress::Incomplete { wanted }) => {
                    self.input.wait_for(parser, wanted);
                    return executed;
                }
                Err(error) => {
                    self.end_with(Fault::Client, &error.to_string());
                    executed = bytes.len();
                }
            }
        }
        parser.reset();
        if was_authenticated && let Parser::Resp(parser) = parser {
            turn.scratch.parser = Some(parser);
        }
        executed
    }

    /// A parser for what the client speaks, of which these may be the first bytes.
    fn new_parser(&mut self, turn: &mut Turn<'_>, bytes: &[u8]) -> Parser {
        let session = &mut self.session;
        let is_authenticated = session.is_authenticated;
        if session.dialect.is_none() {
            match tell(turn.shared.config.protocol, is_authenticated, bytes) {
                Told::Speaks(dialect) => session.dialect = Some(dialect),
                Told::Nothing => {}
                Told::Refused(line) => {
                    self.output.text().extend_from_slice(line.as_bytes());
                    self.output.text().extend_from_slice(b"\r\n");
                    session.is_closing = true;
                }
            }
        }
        match session.dialect {
            Some(dialect) => Parser::new(dialect, is_authenticated, &mut turn.scratch.parser),
            None => Parser::Unknown,
        }
    }

    fn call(
        &mut self,
        turn: &Turn<'_>,
        parser: &Parser,
        request: &[u8],
        value: Option<Result<Value, StoreError>>,
        now: UnixMillis,
    ) {
        let mark = self.output.mark();
        let mut context = Context {
            shared: turn.shared,
            counts: turn.counts,
            session: &mut self.session,
            client: &self.client,
            output: &mut self.output,
            value,
            now,
            instant: turn.now,
        };
        // Whatever a handler left half done is the connection's, and the connection is closed. The
        // store runs no handler code while it changes an entry.
        let outcome = catch_unwind(AssertUnwindSafe(|| parser.execute(&mut context, request)));
        if outcome.is_err() {
            self.end_after_panic(turn, mark);
        }
    }

    fn end_after_panic(&mut self, turn: &Turn<'_>, mark: Mark) {
        turn.shared.totals.panics.fetch_add(1, Ordering::Relaxed);
        self.output.roll_back(mark);
        self.end_with(Fault::Server, "internal error, closing the connection");
    }

    /// Says why the connection ends.
    fn end_with(&mut self, fault: Fault, text: &str) {
        reply_fault(&mut self.output, &self.session, fault, text);
        self.session.unfinished = None;
        self.session.is_closing = true;
    }

    /// Disconnects a client whose unfinished request would take the memory of all.
    fn check_request_bytes(&mut self, turn: &Turn<'_>) {
        let shared = turn.shared;
        let before = self.accounted_input;
        let held = self.request_bytes();
        settle(&shared.request_bytes, &mut self.accounted_input, held);
        let total = shared.request_bytes.load(Ordering::Relaxed);
        if held > before && total > shared.config.unfinished_request_bytes {
            let disconnections = &shared.totals.request_limit_disconnections;
            disconnections.fetch_add(1, Ordering::Relaxed);
            let text = "too many bytes of unfinished requests, closing the connection";
            self.end_with(Fault::Server, text);
            self.input = Input::default();
        }
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
