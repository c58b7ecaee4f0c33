//! However the network cuts the bytes, the same requests and replies come out, and the same error
//! ends them.

use bytes::BytesMut;
use hotcopy_wire::resp::{
    Frame, Limits, Progress, ProtocolError, ReplyDecoder, ReplyError, RequestParser,
};
use proptest::prelude::*;

use crate::generate::{cut, cuts, reply_bytes, request_bytes};

/// Small enough for the generated input to hit.
const LIMITS: Limits = Limits {
    max_inline: 32,
    max_args: 40,
    max_bulk: 60,
    max_depth: 4,
};

type Requests = (Vec<Vec<Vec<u8>>>, Result<usize, ProtocolError>);

/// Every request with its arguments, then how many bytes are left waiting, or the error.
fn requests(limits: Limits, pieces: &[&[u8]]) -> Requests {
    let mut parser = RequestParser::new(limits);
    let (mut found, mut buffer) = (Vec::new(), Vec::new());
    for piece in pieces {
        buffer.extend_from_slice(piece);
        loop {
            match parser.parse(&buffer) {
                Ok(Progress::Incomplete { wanted }) => {
                    assert!(wanted > 0);
                    break;
                }
                Ok(Progress::Complete { consumed }) => {
                    assert!((1..=buffer.len()).contains(&consumed));
                    found.push(parser.args(&buffer).iter().map(<[u8]>::to_vec).collect());
                    parser.reset();
                    buffer.drain(..consumed);
                }
                Err(error) => return (found, Err(error)),
            }
        }
    }
    (found, Ok(buffer.len()))
}

fn replies(limits: Limits, pieces: &[&[u8]]) -> (Vec<Frame>, Result<(), ReplyError>) {
    let mut decoder = ReplyDecoder::new(limits);
    let (mut found, mut buffer) = (Vec::new(), BytesMut::new());
    for piece in pieces {
        buffer.extend_from_slice(piece);
        loop {
            match decoder.decode(&mut buffer) {
                Ok(None) => break,
                Ok(Some(frame)) => found.push(frame),
                Err(error) => return (found, Err(error)),
            }
        }
    }
    (found, Ok(()))
}

fn bytewise(input: &[u8]) -> Vec<&[u8]> {
    input.chunks(1).collect()
}

/// Asking for at least what is wanted never reads past a request: a reader that does so ends
/// exactly at the request's end.
fn bytes_read_when_reading_what_is_wanted(input: &[u8]) -> Option<usize> {
    let mut parser = RequestParser::new(Limits::default());
    let mut received = 0;
    loop {
        match parser.parse(&input[..received]).ok()? {
            Progress::Complete { consumed } => {
                assert_eq!(consumed, received);
                return Some(consumed);
            }
            Progress::Incomplete { wanted } if received + wanted <= input.len() => {
                received += wanted;
            }
            Progress::Incomplete { .. } => return None,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn requests_do_not_depend_on_how_they_are_cut(input in request_bytes(), cuts in cuts()) {
        for limits in [Limits::default(), LIMITS] {
            let whole = requests(limits, &[&input]);
            prop_assert_eq!(&requests(limits, &cut(&input, &cuts)), &whole);
            prop_assert_eq!(&requests(limits, &bytewise(&input)), &whole);
        }
    }

    #[test]
    fn replies_do_not_depend_on_how_they_are_cut(input in reply_bytes(), cuts in cuts()) {
        for limits in [Limits::default(), LIMITS] {
            // Compared as text, where a NaN equals itself.
            let whole = format!("{:?}", replies(limits, &[&input]));
            prop_assert_eq!(&format!("{:?}", replies(limits, &cut(&input, &cuts))), &whole);
            prop_assert_eq!(&format!("{:?}", replies(limits, &bytewise(&input))), &whole);
        }
    }

    #[test]
    fn what_a_request_wants_is_never_more_than_it_takes(input in request_bytes()) {
        let taken = bytes_read_when_reading_what_is_wanted(&input);
        let whole = RequestParser::new(Limits::default()).parse(&input).ok().and_then(|progress| match progress {
            Progress::Complete { consumed } => Some(consumed),
            Progress::Incomplete { .. } => None,
        });
        prop_assert_eq!(taken, whole);
    }
}
