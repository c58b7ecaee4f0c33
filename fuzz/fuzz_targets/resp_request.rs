//! The request parser on any bytes: no panic, the same requests however the bytes are cut, memory
//! in proportion to them, and every request it accepts is read back from its encoding.

#![no_main]

use hotcopy_fuzz::{SMALL, cuttings};
use hotcopy_wire::resp::{Limits, Progress, ProtocolError, RequestParser, encode_command};
use libfuzzer_sys::fuzz_target;

type Request = Vec<Vec<u8>>;

fuzz_target!(|input: &[u8]| {
    for limits in [Limits::default(), SMALL] {
        let whole = parse_pieces(limits, input, &[input]);
        for pieces in cuttings(input) {
            assert_eq!(parse_pieces(limits, input, &pieces), whole);
        }
        for request in &whole.0 {
            assert_eq!(reparsed(request), *request);
        }
    }
});

/// All requests, then how many bytes are left waiting, or the error.
fn parse_pieces(
    limits: Limits,
    input: &[u8],
    pieces: &[&[u8]],
) -> (Vec<Request>, Result<usize, ProtocolError>) {
    let mut parser = RequestParser::new(limits);
    let mut requests = Vec::new();
    let (mut start, mut end) = (0, 0);
    for piece in pieces {
        end += piece.len();
        loop {
            let received = &input[start..end];
            let progress = parser.parse(received);
            assert!(parser.heap_bytes() <= 16 * input.len() + 256);
            match progress {
                Ok(Progress::Incomplete { wanted }) => {
                    assert!(wanted > 0);
                    break;
                }
                Ok(Progress::Complete { consumed }) => {
                    assert!((1..=received.len()).contains(&consumed));
                    requests.push(parser.args(received).iter().map(<[u8]>::to_vec).collect());
                    parser.reset();
                    start += consumed;
                }
                Err(error) => return (requests, Err(error)),
            }
        }
    }
    (requests, Ok(end - start))
}

fn reparsed(request: &Request) -> Request {
    let mut encoded = Vec::new();
    encode_command(&mut encoded, request);
    let mut parser = RequestParser::new(Limits::default());
    assert_eq!(
        parser.parse(&encoded),
        Ok(Progress::Complete {
            consumed: encoded.len()
        })
    );
    parser.args(&encoded).iter().map(<[u8]>::to_vec).collect()
}
