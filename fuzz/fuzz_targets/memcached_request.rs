//! The memcached request parser on any bytes: no panic, the same requests however the bytes are cut, lines
//! within their bounds, and every request that stores is read back from its own line.

#![no_main]

use hotcopy_fuzz::cuttings;
use hotcopy_wire::memcached::{
    Limits, LineTooLong, MAX_KEY_BYTES, Message, Progress, Refused, Request, RequestParser, Store,
    StoreMode,
};
use libfuzzer_sys::fuzz_target;

/// Bounds so small that short inputs reach them.
const SMALL: Limits = Limits {
    max_line: 24,
    max_keys_line: 40,
};

fuzz_target!(|input: &[u8]| {
    for limits in [Limits::default(), SMALL] {
        let whole = parse_pieces(limits, input, &[input]);
        for pieces in cuttings(input) {
            assert_eq!(parse_pieces(limits, input, &pieces), whole);
        }
        for message in whole.0.into_iter().flatten() {
            check(&message);
        }
    }
});

/// All requests, then how many bytes are left waiting, or the error.
fn parse_pieces<'a>(
    limits: Limits,
    input: &'a [u8],
    pieces: &[&[u8]],
) -> (
    Vec<Result<Message<'a>, Refused>>,
    Result<usize, LineTooLong>,
) {
    let mut parser = RequestParser::new(limits);
    let mut messages = Vec::new();
    let (mut start, mut end) = (0, 0);
    for piece in pieces {
        end += piece.len();
        loop {
            let received = &input[start..end];
            match parser.parse(received) {
                Ok(Progress::Incomplete { wanted }) => {
                    assert!(wanted > 0);
                    if let Some(announced) = parser.announced() {
                        let block_end = announced.start + announced.len + 2;
                        assert_eq!(received.len() + wanted, block_end);
                    } else {
                        assert!(received.len() <= limits.max_keys_line + 1);
                    }
                    break;
                }
                Ok(Progress::Complete { consumed }) => {
                    assert!((1..=received.len()).contains(&consumed));
                    messages.push(parser.message(received));
                    parser.reset();
                    start += consumed;
                }
                Err(error) => return (messages, Err(error)),
            }
        }
    }
    (messages, Ok(end - start))
}

fn check(message: &Message<'_>) {
    match message.request {
        Request::Store(store) => {
            assert_eq!(message.data.len(), store.len);
            assert_eq!(reparsed(&store, message.data), store);
        }
        Request::Get(get) => {
            assert!(
                get.keys
                    .iter()
                    .all(|key| (1..=MAX_KEY_BYTES).contains(&key.len()))
            );
            let mut keys = get.keys;
            let taken = std::iter::from_fn(|| keys.take_next());
            assert!(taken.eq(get.keys.iter()));
        }
        _ => assert!(message.data.is_empty()),
    }
}

/// What is read back from a line that says the same.
fn reparsed<'a>(store: &Store<'a>, data: &[u8]) -> Store<'a> {
    let (verb, unique) = match store.mode {
        StoreMode::Set => ("set", String::new()),
        StoreMode::Add => ("add", String::new()),
        StoreMode::Replace => ("replace", String::new()),
        StoreMode::Append => ("append", String::new()),
        StoreMode::Prepend => ("prepend", String::new()),
        StoreMode::Cas(unique) => ("cas", format!(" {unique}")),
    };
    let Store {
        flags,
        exptime,
        len,
        ..
    } = store;
    let noreply = if store.noreply { " noreply" } else { "" };
    let mut line = format!("{verb} ").into_bytes();
    line.extend_from_slice(store.key);
    line.extend_from_slice(format!(" {flags} {exptime} {len}{unique}{noreply}\r\n").as_bytes());
    line.extend_from_slice(data);
    line.extend_from_slice(b"\r\n");
    let mut parser = RequestParser::new(Limits::default());
    let consumed = line.len();
    assert_eq!(parser.parse(&line), Ok(Progress::Complete { consumed }));
    match parser.message(&line).expect("it was well-formed").request {
        Request::Store(again) => {
            assert_eq!(again.key, store.key);
            Store {
                key: store.key,
                ..again
            }
        }
        other => panic!("{other:?}"),
    }
}
