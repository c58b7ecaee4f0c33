//! A large value that is being received: it is read straight into the blocks in which it will stay.
//!
//! Elsewhere a request is parsed when its bytes lie one after another. A value of megabytes would have to be
//! copied from there to its blocks, in one piece of work. So as soon as a request turns out to be one that stores
//! such a value, what is kept of the request says that the value is empty, and the value itself goes
//! to a builder. When both are complete the command gets the value beside the arguments.

use std::io::{self, IoSliceMut, Read};

use hotcopy_engine::bytes::{ByteStore, Value, ValueBuilder};
use hotcopy_wire::resp::RequestParser;

use crate::socket::Socket;

/// From this length on a value is received so. Below, the copy costs less than the bookkeeping.
const ARRIVING_FROM_BYTES: usize = 64 * 1024;

/// Blocks filled by one read.
const READ_BLOCKS: usize = 4;

/// Commands that store one value, and which of their arguments that is.
const STORING: [(&str, usize); 5] = [
    ("set", 2),
    ("setnx", 2),
    ("getset", 2),
    ("setex", 3),
    ("psetex", 3),
];

#[derive(Debug)]
pub(crate) struct Arriving(ValueBuilder);

impl Arriving {
    /// Begins with a request of which `received` is here and `wanted` bytes are missing at the least, if it
    /// lacks most of a large value to be stored. Then `received` becomes the beginning of the request with an
    /// empty value.
    pub(crate) fn begin(
        received: &mut Vec<u8>,
        parser: &RequestParser,
        wanted: usize,
        store: &ByteStore,
    ) -> Option<Self> {
        if wanted < ARRIVING_FROM_BYTES {
            return None;
        }
        let args = parser.args(received);
        let (name, argument) = (args.get(0)?, args.len());
        let is_storing = |(storing, value): &(&str, usize)| {
            *value == argument && name.eq_ignore_ascii_case(storing.as_bytes())
        };
        if !STORING.iter().any(is_storing) {
            return None;
        }
        let before = args.get(argument - 1)?.as_ptr_range().end;
        // Behind the argument before stands a line end, then the line with the value's length.
        let line = before as usize - received.as_ptr() as usize + 2;
        let line_len = received
            .get(line..)?
            .iter()
            .position(|byte| *byte == b'\n')?
            + 1;
        let value = line + line_len;
        let value_len = (received.len() + wanted).checked_sub(value + 2)?;
        let mut builder = store.builder(value_len).ok()?;
        let mut arrived = received.get(value..)?;
        while !arrived.is_empty() {
            let count = arrived.read(builder.unfilled(store)).unwrap_or(0);
            if count == 0 {
                return None;
            }
            builder.advance(count);
        }
        received.truncate(line);
        received.extend_from_slice(b"$0\r\n");
        Some(Arriving(builder))
    }

    pub(crate) fn is_full(&self) -> bool {
        self.0.is_full()
    }

    /// Bytes of the value that are here.
    pub(crate) fn filled(&self) -> usize {
        self.0.filled()
    }

    /// Reads once; returns how much there was room for beside what came.
    pub(crate) fn read(
        &mut self,
        socket: &mut Socket,
        store: &ByteStore,
    ) -> (usize, io::Result<usize>) {
        let mut slices: Vec<_> = self
            .0
            .unfilled_pieces(store, READ_BLOCKS)
            .map(IoSliceMut::new)
            .collect();
        let room = slices.iter().map(|slice| slice.len()).sum();
        let read = socket.read_vectored(&mut slices);
        if let Ok(count) = read {
            self.0.advance(count);
        }
        (room, read)
    }

    /// The value, if all of it is here.
    pub(crate) fn finish(self) -> Option<Value> {
        self.0.finish()
    }
}

#[cfg(test)]
mod tests {
    use hotcopy_engine::bytes::StoreConfig;
    use hotcopy_wire::resp::{Limits, Progress};

    use super::*;

    const LEN: usize = 100_000;

    /// What becomes of a request of which all but the last `missing` bytes are here.
    fn begin(request: &str, missing: usize) -> Option<(Arriving, Vec<u8>)> {
        let store = ByteStore::new(&StoreConfig::default());
        let mut received = request.as_bytes()[..request.len() - missing].to_vec();
        let mut parser = RequestParser::new(Limits::default());
        let Ok(Progress::Incomplete { wanted }) = parser.parse(&received) else {
            panic!("the request is not complete, and not wrong");
        };
        let arriving = Arriving::begin(&mut received, &parser, wanted, &store)?;
        Some((arriving, received))
    }

    fn set(command: &str) -> String {
        let value = "x".repeat(LEN);
        format!(
            "*3\r\n${}\r\n{command}\r\n$1\r\nk\r\n${LEN}\r\n{value}\r\n",
            command.len()
        )
    }

    #[test]
    fn a_request_with_a_large_value_is_kept_as_one_with_an_empty_value() {
        for missing in [LEN + 2, LEN, 70_000] {
            let (arriving, received) = begin(&set("sEt"), missing).unwrap();
            assert_eq!(received, b"*3\r\n$3\r\nsEt\r\n$1\r\nk\r\n$0\r\n");
            assert_eq!(arriving.filled(), LEN + 2 - missing);
            assert!(!arriving.is_full() && arriving.finish().is_none());
        }
    }

    #[test]
    fn other_requests_are_left_as_they_are() {
        assert!(begin(&set("echo"), LEN).is_none(), "stores nothing");
        assert!(begin(&set("SET"), 60_000).is_none(), "most of it is here");
        assert!(
            begin(&set("setex"), LEN).is_none(),
            "that is its time to live"
        );
        let long_key = set("SET")
            .replacen("$1\r\nk\r\n", "", 1)
            .replacen("*3", "*2", 1);
        assert!(begin(&long_key, LEN).is_none(), "that is its key");
        assert!(
            begin(&set("SET"), LEN + 4).is_none(),
            "its length is not known"
        );
    }
}
