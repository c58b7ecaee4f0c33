//! The reply decoder on any bytes: no panic, the same replies however the bytes are cut, and every
//! reply it accepts is read back from its encoding.

#![no_main]

use bytes::BytesMut;
use hotcopy_fuzz::{SMALL, cuttings};
use hotcopy_wire::resp::{Encoder, Frame, Limits, ReplyDecoder, ReplyError, Version};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    for limits in [Limits::default(), SMALL] {
        let (whole, end) = decode_pieces(limits, &[input]);
        let expected = whole.iter().map(encoded).collect::<Vec<_>>();
        for pieces in cuttings(input) {
            let (frames, same_end) = decode_pieces(limits, &pieces);
            assert_eq!(frames.iter().map(encoded).collect::<Vec<_>>(), expected);
            assert_eq!(same_end, end);
        }
        for reply in &expected {
            assert_eq!(encoded(&only_reply(reply)), *reply);
        }
        for reply in &whole {
            let mut resp2 = Vec::new();
            Encoder::new(&mut resp2, Version::Resp2).frame(reply);
            only_reply(&resp2);
        }
    }
});

/// All replies, then how many bytes are left waiting, or the error.
fn decode_pieces(limits: Limits, pieces: &[&[u8]]) -> (Vec<Frame>, Result<usize, ReplyError>) {
    let mut decoder = ReplyDecoder::new(limits);
    let mut buffer = BytesMut::new();
    let mut frames = Vec::new();
    for piece in pieces {
        buffer.extend_from_slice(piece);
        loop {
            match decoder.decode(&mut buffer) {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return (frames, Err(error)),
            }
        }
        assert!(decoder.wanted(&buffer) > 0);
    }
    (frames, Ok(buffer.len()))
}

/// Frames are compared by their encoding, where a NaN equals itself.
fn encoded(frame: &Frame) -> Vec<u8> {
    let mut out = Vec::new();
    Encoder::new(&mut out, Version::Resp3).frame(frame);
    out
}

fn only_reply(encoded: &[u8]) -> Frame {
    let mut buffer = BytesMut::from(encoded);
    let reply = ReplyDecoder::new(Limits::default()).decode(&mut buffer);
    assert!(buffer.is_empty());
    reply
        .expect("our own encoding is valid")
        .expect("our own encoding is whole")
}
