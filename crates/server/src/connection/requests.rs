//! The requests of a connection: received, parsed and executed within a turn's budget.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use hotcopy_engine::bytes::{StoreError, UnixMillis, Value};
use hotcopy_wire::resp::Progress;

use super::Connection;
use crate::command::Context;
use crate::dialect::{Fault, Parser, Told, reply_fault, tell};
use crate::input::{Input, Received};
use crate::output::Mark;
use crate::shared::settle;
use crate::turn::{Budget, Turn};

impl Connection {
    pub(super) fn receive(&mut self, turn: &mut Turn<'_>, budget: &mut Budget) -> io::Result<()> {
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

    pub(super) fn execute_kept(&mut self, turn: &mut Turn<'_>, budget: &mut Budget) {
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

    pub(super) fn end_after_panic(&mut self, turn: &Turn<'_>, mark: Mark) {
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
}
