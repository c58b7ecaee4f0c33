//! Bytes that were received and not yet executed.
//!
//! Most requests arrive whole and are executed straight from the loop's own buffer, so an idle
//! connection holds none. Only what is left over is kept with the connection: a request that has not
//! arrived completely, or requests for which this turn's budget did not suffice.

use std::io::{self, ErrorKind, Read};

use hotcopy_engine::bytes::{ByteStore, StoreError, Value};

use crate::arriving::Arriving;
use crate::dialect::Parser;
use crate::socket::Socket;

/// Bytes read at once into the loop's buffer.
pub(crate) const READ_BYTES: usize = 16 * 1024;

/// Room that a large argument gets at first. After that its buffer is made four times as long
/// whenever it is full, because each time what was received may have to be moved.
const FIRST_GROWTH_BYTES: usize = 256 * 1024;

/// Most bytes read at once into a connection's own buffer.
const MAX_READ_BYTES: usize = 64 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Input {
    buffer: Vec<u8>,
    /// Bytes at the start of `buffer` that are executed already.
    executed: usize,
    /// Set while the first request is incomplete.
    unfinished: Option<Unfinished>,
    /// The first request's large value.
    arriving: Option<Arriving>,
}

#[derive(Debug)]
struct Unfinished {
    parser: Parser,
    /// Bytes that it lacks at the least.
    wanted: usize,
}

/// What one read brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    /// So many bytes; `drained` if there was room for more.
    Bytes { count: usize, drained: bool },
    /// Nothing for now.
    Nothing,
    /// The peer has finished.
    End,
}

impl Input {
    pub(crate) fn is_empty(&self) -> bool {
        self.buffer.len() == self.executed
    }

    /// Whether looking at what is here can bring something.
    pub(crate) fn is_ready(&self) -> bool {
        let wanted = self.unfinished.as_ref().map_or(0, |it| it.wanted);
        !self.is_empty() && wanted == 0
    }

    /// Whether the rest of a large value is awaited.
    pub(crate) fn is_arriving(&self) -> bool {
        self.arriving.as_ref().is_some_and(|it| !it.is_full())
    }

    /// Memory held.
    pub(crate) fn heap_bytes(&self) -> usize {
        let parser = self.unfinished.as_ref().map(|it| it.parser.heap_bytes());
        let arriving = self.arriving.as_ref().map_or(0, Arriving::filled);
        self.buffer.capacity() + parser.unwrap_or(0) + arriving
    }

    /// Takes the bytes out for execution, with the parser if it is in the middle of a request.
    pub(crate) fn take(&mut self) -> (Vec<u8>, usize, Option<Parser>) {
        let parser = self.unfinished.take().map(|it| it.parser);
        let buffer = std::mem::take(&mut self.buffer);
        (buffer, std::mem::take(&mut self.executed), parser)
    }

    /// Puts back what [`take`](Self::take) gave, of which so much is executed now.
    pub(crate) fn put_back(&mut self, mut buffer: Vec<u8>, executed: usize) {
        if executed == buffer.len() {
            return;
        }
        // Moving the rest costs less than what was executed when that is the larger part.
        if executed * 2 > buffer.len() {
            buffer.drain(..executed);
            buffer.shrink_to(buffer.len().max(READ_BYTES));
            self.executed = 0;
        } else {
            self.executed = executed;
        }
        self.buffer = buffer;
    }

    /// Keeps bytes that were left over in the loop's buffer.
    pub(crate) fn keep(&mut self, left_over: &[u8]) {
        self.buffer.extend_from_slice(left_over);
    }

    /// Notes that the first request is incomplete.
    pub(crate) fn wait_for(&mut self, parser: Parser, wanted: usize) {
        self.unfinished = Some(Unfinished { parser, wanted });
    }

    /// Lets the large value of the first request, if it lacks one, be read to where it stays.
    pub(crate) fn await_value(&mut self, store: &ByteStore) {
        if self.arriving.is_some() || self.unfinished.is_none() {
            return;
        }
        self.drop_executed();
        let Some(Unfinished { parser, wanted }) = &mut self.unfinished else {
            return;
        };
        self.arriving = Arriving::begin(&mut self.buffer, parser, *wanted, store);
        if self.arriving.is_some() {
            self.buffer.shrink_to(READ_BYTES);
        }
    }

    /// The large value of the request that is complete now, if it has one.
    pub(crate) fn take_value(&mut self) -> Option<Result<Value, StoreError>> {
        self.arriving.take()?.finish()
    }

    /// Reads once. What arrives is in `scratch` if nothing is kept here, and else appended here.
    pub(crate) fn read(
        &mut self,
        socket: &mut Socket,
        scratch: &mut [u8],
        store: &ByteStore,
    ) -> io::Result<Received> {
        let wanted = self.unfinished.as_ref().map_or(0, |it| it.wanted);
        let unused = self.buffer.capacity() - self.buffer.len();
        let arriving = self.arriving.as_mut().filter(|it| !it.is_full());
        let (room, read) = if let Some(arriving) = arriving {
            arriving.read(socket, scratch, store)
        } else if wanted > READ_BYTES || (wanted > 1 && wanted <= unused) {
            // A large argument goes where it stays, and no byte of the next request behind it. The
            // buffer grows with what was received, never to what was merely announced.
            self.drop_executed();
            let received = self.buffer.len();
            if self.buffer.capacity() == received {
                let growth = wanted.min((received * 3).max(FIRST_GROWTH_BYTES));
                self.buffer.reserve_exact(growth);
            }
            let room = (self.buffer.capacity() - received).min(MAX_READ_BYTES);
            self.buffer.resize(received + room, 0);
            let read = socket.read(&mut self.buffer[received..]);
            let count = read.as_ref().map_or(0, |count| *count);
            self.buffer.truncate(received + count);
            (room, read)
        } else {
            let read = socket.read(scratch);
            if let Ok(count) = read
                && !self.is_empty()
            {
                self.drop_executed();
                self.buffer.extend_from_slice(&scratch[..count]);
            }
            (scratch.len(), read)
        };
        match read {
            Ok(0) => Ok(Received::End),
            Ok(count) => {
                if let Some(unfinished) = &mut self.unfinished {
                    unfinished.wanted = unfinished.wanted.saturating_sub(count);
                }
                let drained = count < room;
                Ok(Received::Bytes { count, drained })
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(Received::Nothing),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(Received::Bytes {
                count: 0,
                drained: false,
            }),
            Err(error) => Err(error),
        }
    }

    fn drop_executed(&mut self) {
        if self.executed > 0 {
            self.buffer.drain(..self.executed);
            self.executed = 0;
        }
    }
}
