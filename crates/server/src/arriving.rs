//! A large value that is being received: it is read straight into the blocks in which it will stay.
//!
//! Elsewhere a request is parsed when its bytes lie one after another. A value of megabytes would have to be
//! copied from there to its blocks, in one piece of work. So as soon as a request turns out to be one that stores
//! such a value, what is kept of the request says that the value is empty, and the value itself goes
//! to a builder. When both are complete the command gets the value beside the arguments. A value that the
//! store could not hold is read to nowhere, so that the client gets an answer and costs no memory.

use std::io::{self, IoSliceMut, Read};

use hotcopy_engine::bytes::{ByteStore, StoreError, Value, ValueBuilder};
use hotcopy_wire::{memcached, resp};

use crate::dialect::Parser;
use crate::socket::Socket;

/// From this length on a value is received so. Below, the copy costs less than the bookkeeping.
const ARRIVING_FROM_BYTES: usize = 64 * 1024;

/// Blocks filled by one read.
const READ_BLOCKS: usize = 2;

/// Commands that store one value, and which of their arguments that is.
const STORING: [(&str, usize); 5] = [
    ("set", 2),
    ("setnx", 2),
    ("getset", 2),
    ("setex", 3),
    ("psetex", 3),
];

#[derive(Debug)]
pub(crate) enum Arriving {
    Accepted(ValueBuilder),
    Refused {
        error: StoreError,
        /// Bytes of the value that are still to come.
        missing: usize,
    },
}

impl Arriving {
    /// Begins with a request of which `received` is here and `wanted` bytes are missing at the least, if it
    /// lacks most of a large value to be stored. Then `received` becomes the beginning of the request with an
    /// empty value, and the parser one that goes on with it.
    pub(crate) fn begin(
        received: &mut Vec<u8>,
        parser: &mut Parser,
        wanted: usize,
        store: &ByteStore,
    ) -> Option<Self> {
        if wanted < ARRIVING_FROM_BYTES {
            return None;
        }
        match parser {
            Parser::Unknown => None,
            Parser::Resp(parser) => Self::begin_resp(received, parser, wanted, store),
            Parser::Memcached(parser) => Self::begin_memcached(received, parser, store),
        }
    }

    fn begin_memcached(
        received: &mut Vec<u8>,
        parser: &mut memcached::RequestParser,
        store: &ByteStore,
    ) -> Option<Self> {
        let memcached::Announced { start, len } = parser.announced()?;
        let arriving = Self::with(received.get(start..)?, len, store)?;
        received.truncate(start);
        parser.take_out_data();
        Some(arriving)
    }

    fn begin_resp(
        received: &mut Vec<u8>,
        parser: &mut resp::RequestParser,
        wanted: usize,
        store: &ByteStore,
    ) -> Option<Self> {
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
        let arriving = Self::with(received.get(value..)?, value_len, store)?;
        received.truncate(line);
        received.extend_from_slice(b"$0\r\n");
        parser.reset();
        Some(arriving)
    }

    /// Begins a value of such a length with what has arrived of it.
    fn with(mut arrived: &[u8], len: usize, store: &ByteStore) -> Option<Self> {
        match store.builder(len) {
            Ok(mut builder) => {
                while !arrived.is_empty() {
                    let count = arrived.read(builder.unfilled(store)).unwrap_or(0);
                    if count == 0 {
                        return None;
                    }
                    builder.advance(count);
                }
                Some(Arriving::Accepted(builder))
            }
            Err(error) => Some(Arriving::Refused {
                error,
                missing: len.checked_sub(arrived.len())?,
            }),
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        match self {
            Arriving::Accepted(builder) => builder.is_full(),
            Arriving::Refused { missing, .. } => *missing == 0,
        }
    }

    /// Bytes of the value that are here.
    pub(crate) fn filled(&self) -> usize {
        match self {
            Arriving::Accepted(builder) => builder.filled(),
            Arriving::Refused { .. } => 0,
        }
    }

    /// Reads once; returns how much there was room for beside what came.
    pub(crate) fn read(
        &mut self,
        socket: &mut Socket,
        scratch: &mut [u8],
        store: &ByteStore,
    ) -> (usize, io::Result<usize>) {
        match self {
            Arriving::Accepted(builder) => {
                let pieces = builder.unfilled_pieces(store, READ_BLOCKS);
                let mut slices: Vec<_> = pieces.map(IoSliceMut::new).collect();
                let room = slices.iter().map(|slice| slice.len()).sum();
                let read = socket.read_vectored(&mut slices);
                builder.advance(*read.as_ref().unwrap_or(&0));
                (room, read)
            }
            Arriving::Refused { missing, .. } => {
                let room = scratch.len().min(*missing);
                let read = socket.read(&mut scratch[..room]);
                *missing -= read.as_ref().unwrap_or(&0);
                (room, read)
            }
        }
    }

    /// The value or why there is none, if all of it has arrived.
    pub(crate) fn finish(self) -> Option<Result<Value, StoreError>> {
        match self {
            Arriving::Accepted(builder) => builder.finish().map(Ok),
            Arriving::Refused { error, missing: 0 } => Some(Err(error)),
            Arriving::Refused { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use hotcopy_engine::bytes::StoreConfig;
    use hotcopy_wire::resp::Progress;

    use super::*;
    use crate::dialect::Dialect;

    const LEN: usize = 100_000;

    /// What becomes of a request of which all but the last `missing` bytes are here.
    fn begin(request: &str, missing: usize) -> Option<(Arriving, Vec<u8>)> {
        begin_in(&StoreConfig::default(), request, missing)
    }

    fn begin_in(
        config: &StoreConfig,
        request: &str,
        missing: usize,
    ) -> Option<(Arriving, Vec<u8>)> {
        let store = ByteStore::new(config);
        let mut received = request.as_bytes()[..request.len() - missing].to_vec();
        let dialect = if request.starts_with('*') {
            Dialect::Resp
        } else {
            Dialect::Memcached
        };
        let mut parser = Parser::new(dialect, true, &mut None);
        let Ok(Progress::Incomplete { wanted }) = parser.parse(&received) else {
            panic!("the request is not complete, and not wrong");
        };
        let arriving = Arriving::begin(&mut received, &mut parser, wanted, &store)?;
        let lacking = Progress::Incomplete { wanted: 2 };
        assert_eq!(parser.parse(&received), Ok(lacking), "only the end");
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
    fn the_block_behind_a_line_of_memcached_is_taken_out() {
        for verb in ["set", "append"] {
            let line = format!("{verb} k 1 0 {LEN}\r\n");
            let request = format!("{line}{}\r\n", "x".repeat(LEN));
            for missing in [LEN + 2, LEN, 70_000] {
                let (arriving, received) = begin(&request, missing).unwrap();
                assert_eq!(received, line.as_bytes());
                assert_eq!(arriving.filled(), LEN + 2 - missing);
                assert!(!arriving.is_full());
            }
        }
    }

    #[test]
    fn a_value_that_the_store_cannot_hold_is_kept_nowhere() {
        let no_room = StoreConfig {
            max_bytes: Some(50_000),
            ..StoreConfig::default()
        };
        let short_items = StoreConfig {
            max_item_bytes: LEN - 1,
            ..StoreConfig::default()
        };
        for config in [no_room, short_items] {
            let (arriving, received) = begin_in(&config, &set("set"), 70_002).unwrap();
            assert_eq!(received, b"*3\r\n$3\r\nset\r\n$1\r\nk\r\n$0\r\n");
            assert_eq!(arriving.filled(), 0);
            assert!(matches!(
                arriving,
                Arriving::Refused {
                    missing: 70_000,
                    ..
                }
            ));
            assert!(arriving.finish().is_none(), "there is more to come");
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
