//! Arbitrary bytes never panic, and never make a parser hold memory beyond a fixed multiple of the
//! bytes that arrived.
#![allow(unsafe_code)] // A counting global allocator is the only way to see every allocation.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use bytes::BytesMut;
use hotcopy_wire::resp::{Frame, Limits, Progress, ReplyDecoder, RequestParser, encode_command};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::generate::{reply_bytes, request_bytes};

/// Counts what this thread holds and the most it held.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

fn count(change: isize) {
    HELD.set(HELD.get() + change);
    PEAK.set(PEAK.get().max(HELD.get()));
    CALLS.set(CALLS.get() + usize::from(change > 0));
}

// SAFETY: every call is passed on to the system's allocator unchanged; counting touches
// thread-local cells without destructors only.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promise is ours.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's promise is ours, and every block came from `System`.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size as isize - layout.size() as isize);
        // SAFETY: the caller's promise is ours, and every block came from `System`.
        unsafe { System.realloc(block, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes that were held at once during `work`, beyond those held before, and the number of
/// allocations.
fn measured(work: impl FnOnce()) -> (usize, usize) {
    let (held, calls) = (HELD.get(), CALLS.get());
    PEAK.set(held);
    work();
    ((PEAK.get() - held) as usize, CALLS.get() - calls)
}

/// Feeds the bytes in pieces of `piece` bytes, as a server would, and returns the peak beyond the
/// buffer itself.
fn request_peak(input: &[u8], piece: usize) -> usize {
    let mut parser = RequestParser::new(Limits::default());
    let (peak, _) = measured(|| {
        let (mut start, mut end) = (0, 0);
        while end < input.len() {
            end = input.len().min(end + piece);
            while let Ok(Progress::Complete { consumed }) = parser.parse(&input[start..end]) {
                start += consumed;
                parser.reset();
            }
        }
    });
    peak
}

/// The peak of decoding all replies in the bytes, kept until the end.
fn reply_peak(input: &[u8], limits: Limits) -> usize {
    let mut buffer = BytesMut::from(input);
    let mut frames = Vec::<Frame>::with_capacity(input.len());
    let mut decoder = ReplyDecoder::new(limits);
    let (peak, _) = measured(|| {
        while let Ok(Some(frame)) = decoder.decode(&mut buffer) {
            frames.push(frame);
        }
    });
    peak
}

/// A place in the list of arguments takes 16 bytes and the list may have twice the room it needs;
/// the shortest word of an inline request takes two bytes of input.
fn request_bound(input: &[u8]) -> usize {
    16 * input.len() + 256
}

/// A frame takes 40 bytes and its list may have twice the room it needs; the shortest element takes
/// three bytes of input. Apart from that come the open aggregates with room made in advance, as
/// many as may be nested.
fn reply_bound(input: &[u8], limits: Limits) -> usize {
    28 * input.len() + 1024 * (limits.max_depth + 1)
}

#[test]
fn a_frame_takes_forty_bytes() {
    assert_eq!(size_of::<Frame>(), 40);
}

#[test]
fn the_costliest_inputs_stay_within_the_bound() {
    let limits = Limits::default();
    let requests = [
        "a ".repeat(30_000) + "\r\n",
        "'' ".repeat(20_000) + "\r\n",
        format!("*100000\r\n{}", "$0\r\n\r\n".repeat(100_000)),
        "*1048576\r\n$536870912\r\n".to_owned(),
        "*1\r\n$1\r\na\r\n".repeat(1000),
    ];
    for input in &requests {
        let peak = request_peak(input.as_bytes(), usize::MAX / 2);
        assert!(
            peak <= request_bound(input.as_bytes()),
            "{peak} bytes for {} starting {:?}",
            input.len(),
            &input[..20]
        );
    }
    let replies = [
        format!("*100000\r\n{}", "_\r\n".repeat(100_000)),
        format!("%50000\r\n{}", "_\r\n".repeat(100_000)),
        format!("*20000\r\n{}", "*1\r\n_\r\n".repeat(20_000)),
        format!("*20000\r\n{}", "%1\r\n_\r\n_\r\n".repeat(20_000)),
        format!("*20000\r\n{}", "*0\r\n".repeat(20_000)),
        "*1000000\r\n".to_owned(),
        "*16\r\n".repeat(64),
        "|16\r\n".repeat(64),
        "$536870912\r\n".to_owned(),
        format!("*20000\r\n{}", "$1\r\na\r\n".repeat(20_000)),
    ];
    for input in &replies {
        let peak = reply_peak(input.as_bytes(), limits);
        assert!(
            peak <= reply_bound(input.as_bytes(), limits),
            "{peak} bytes for {} starting {:?}",
            input.len(),
            &input[..10]
        );
    }
}

#[test]
fn a_parser_in_steady_state_allocates_nothing() {
    let mut input = Vec::new();
    for _ in 0..100 {
        encode_command(
            &mut input,
            &["SET", "key:000000000001", "a value", "EX", "60"],
        );
        input.extend_from_slice(b"SET 'quoted key' value\r\n");
    }
    let mut parser = RequestParser::new(Limits::default());
    let mut parse_all = || {
        let mut rest = &input[..];
        while let Ok(Progress::Complete { consumed }) = parser.parse(rest) {
            parser.reset();
            rest = &rest[consumed..];
        }
        assert!(rest.is_empty());
    };
    parse_all();
    assert_eq!(measured(parse_all), (0, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn arbitrary_requests_hold_no_more_than_a_multiple_of_the_input(input in prop_oneof![request_bytes(), vec(any::<u8>(), 0..200)], piece in 1..50usize) {
        prop_assert!(request_peak(&input, piece) <= request_bound(&input));
    }

    #[test]
    fn arbitrary_replies_hold_no_more_than_a_multiple_of_the_input(input in prop_oneof![reply_bytes(), vec(any::<u8>(), 0..200)]) {
        for limits in [Limits::default(), Limits { max_depth: 2, ..Limits::default() }] {
            prop_assert!(reply_peak(&input, limits) <= reply_bound(&input, limits));
        }
    }
}
