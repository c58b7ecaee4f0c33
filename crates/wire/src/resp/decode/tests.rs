//! Replies good and bad.

use super::*;

/// The first reply of the input, and how many bytes are left.
fn decode_with(limits: Limits, input: &[u8]) -> Result<(Option<Frame>, usize), ReplyError> {
    let mut input = BytesMut::from(input);
    let frame = ReplyDecoder::new(limits).decode(&mut input)?;
    Ok((frame, input.len()))
}

fn decode(input: &[u8]) -> Result<(Option<Frame>, usize), ReplyError> {
    decode_with(Limits::default(), input)
}

fn bulk(text: &'static str) -> Frame {
    Frame::Bulk(text.into())
}

#[test]
fn every_type_is_decoded() {
    let cases: [(&str, Frame); 27] = [
        ("+OK\r\n", Frame::Simple("OK".into())),
        ("+\r\n", Frame::Simple("".into())),
        ("-ERR no\r\n", Frame::Error("ERR no".into())),
        (":-42\r\n", Frame::Integer(-42)),
        (":+7\r\n", Frame::Integer(7)),
        ("$5\r\na\r\nbc\r\n", bulk("a\r\nbc")),
        ("$0\r\n\r\n", bulk("")),
        ("$-1\r\n", Frame::Null),
        ("*-1\r\n", Frame::Null),
        ("_\r\n", Frame::Null),
        ("*0\r\n", Frame::Array(vec![])),
        (
            "*2\r\n:1\r\n*1\r\n$1\r\na\r\n",
            Frame::Array(vec![Frame::Integer(1), Frame::Array(vec![bulk("a")])]),
        ),
        ("%0\r\n", Frame::Map(vec![])),
        (
            "%1\r\n$1\r\nk\r\n*1\r\n_\r\n",
            Frame::Map(vec![(bulk("k"), Frame::Array(vec![Frame::Null]))]),
        ),
        ("~1\r\n#t\r\n", Frame::Set(vec![Frame::Boolean(true)])),
        (">1\r\n#f\r\n", Frame::Push(vec![Frame::Boolean(false)])),
        (",3.25\r\n", Frame::Double(3.25)),
        (",10\r\n", Frame::Double(10.0)),
        (",1.5e-9\r\n", Frame::Double(1.5e-9)),
        (",inf\r\n", Frame::Double(f64::INFINITY)),
        (",-inf\r\n", Frame::Double(f64::NEG_INFINITY)),
        (
            "(-3492890328409238509324850943850943825024385\r\n",
            Frame::BigNumber("-3492890328409238509324850943850943825024385".into()),
        ),
        (
            "!8\r\nERR a\r\nb\r\n",
            Frame::BulkError("ERR a\r\nb".into()),
        ),
        (
            "=6\r\ntxt:hi\r\n",
            Frame::Verbatim {
                kind: *b"txt",
                text: "hi".into(),
            },
        ),
        (
            "=4\r\nmkd:\r\n",
            Frame::Verbatim {
                kind: *b"mkd",
                text: "".into(),
            },
        ),
        ("|1\r\n+ttl\r\n:9\r\n+OK\r\n", Frame::Simple("OK".into())),
        (
            "*1\r\n|0\r\n|1\r\n*1\r\n:1\r\n:2\r\n:3\r\n",
            Frame::Array(vec![Frame::Integer(3)]),
        ),
    ];
    for (input, frame) in cases {
        assert_eq!(decode(input.as_bytes()), Ok((Some(frame), 0)), "{input:?}");
    }
    assert!(matches!(decode(b",nan\r\n"), Ok((Some(Frame::Double(x)), 0)) if x.is_nan()));
}

#[test]
fn a_malformed_reply_is_an_error() {
    use ReplyError::*;
    let cases = [
        ("x\r\n", UnknownType(b'x')),
        ("\r\n", UnknownType(b'\r')),
        ("$x\r\n", InvalidLength(b'$')),
        ("$-2\r\n", InvalidLength(b'$')),
        ("$01\r\n", InvalidLength(b'$')),
        ("$?\r\n", InvalidLength(b'$')),
        ("*?\r\n", InvalidLength(b'*')),
        ("*-2\r\n", InvalidLength(b'*')),
        ("%-1\r\n", InvalidLength(b'%')),
        ("!-1\r\n", InvalidLength(b'!')),
        (":\r\n", InvalidValue(b':')),
        (":1.0\r\n", InvalidValue(b':')),
        (":9223372036854775808\r\n", InvalidValue(b':')),
        (",\r\n", InvalidValue(b',')),
        (",Infinity\r\n", InvalidValue(b',')),
        (",0x10\r\n", InvalidValue(b',')),
        (",1e\r\n", InvalidValue(b',')),
        ("#true\r\n", InvalidValue(b'#')),
        ("_x\r\n", InvalidValue(b'_')),
        ("(\r\n", InvalidValue(b'(')),
        ("(1x\r\n", InvalidValue(b'(')),
        ("=3\r\ntxt\r\n", InvalidValue(b'=')),
        ("=4\r\ntext\r\n", InvalidValue(b'=')),
        ("+a\nb\r\n", BadTerminator(b'+')),
        ("+a\rb\r\n", BadTerminator(b'+')),
        ("$1\r\naXY", BadTerminator(b'$')),
        ("$1\raXY", BadTerminator(b'$')),
    ];
    for (input, error) in cases {
        assert_eq!(decode(input.as_bytes()), Err(error), "{input:?}");
    }
}

#[test]
fn limits_hold_as_soon_as_a_header_says_too_much() {
    use ReplyError::*;
    let limits = Limits {
        max_inline: 40,
        max_args: 3,
        max_bulk: 10,
        max_depth: 2,
    };
    let decode = |input: &str| decode_with(limits, input.as_bytes());
    assert_eq!(decode("$11\r\n"), Err(BulkTooLong { longest: 10 }));
    assert_eq!(decode("*4\r\n"), Err(TooManyElements { most: 3 }));
    assert_eq!(decode("%2\r\n"), Err(TooManyElements { most: 3 }));
    assert_eq!(
        decode("%9223372036854775807\r\n"),
        Err(TooManyElements { most: 3 })
    );
    assert_eq!(decode("*2\r\n*2\r\n"), Err(TooManyElements { most: 3 }));
    assert_eq!(decode("*1\r\n*1\r\n*0\r\n"), Err(TooDeep { deepest: 2 }));
    assert_eq!(decode(&"+".repeat(41)), Err(LineTooLong { longest: 40 }));
    assert!(decode(&"+".repeat(40)).is_ok());
}

#[test]
fn the_bound_on_elements_counts_each_reply_anew() {
    let mut input = BytesMut::from(&b"*3\r\n_\r\n_\r\n_\r\n*3\r\n_\r\n_\r\n_\r\n"[..]);
    let mut decoder = ReplyDecoder::new(Limits {
        max_args: 3,
        ..Limits::default()
    });
    for _ in 0..2 {
        assert_eq!(
            decoder.decode(&mut input),
            Ok(Some(Frame::Array(vec![Frame::Null; 3])))
        );
    }
}

#[test]
fn deep_nesting_ends_in_an_error_and_not_in_a_stack_overflow() {
    let bomb = "*1\r\n".repeat(1_000_000);
    assert_eq!(
        decode(bomb.as_bytes()),
        Err(ReplyError::TooDeep { deepest: 64 })
    );
    let unbounded = Limits {
        max_depth: usize::MAX,
        ..Limits::default()
    };
    assert_eq!(
        decode_with(unbounded, bomb.as_bytes()),
        Err(ReplyError::TooDeep {
            deepest: Limits::DEEPEST
        })
    );
}

#[test]
fn the_deepest_reply_can_be_compared_printed_encoded_and_dropped() {
    let input = format!("{}_\r\n", "*1\r\n".repeat(Limits::DEEPEST));
    let limits = Limits {
        max_depth: Limits::DEEPEST,
        ..Limits::default()
    };
    let (frame, left) = decode_with(limits, input.as_bytes()).unwrap();
    let frame = frame.unwrap();
    assert_eq!(left, 0);
    assert_eq!(frame.clone(), frame);
    assert!(format!("{frame:?}").ends_with(&"])".repeat(Limits::DEEPEST)));
    let mut encoded = Vec::new();
    crate::resp::Encoder::new(&mut encoded, crate::resp::Version::Resp3).frame(&frame);
    assert_eq!(encoded, input.as_bytes());
}

#[test]
fn a_failed_decoder_stays_failed() {
    let mut decoder = ReplyDecoder::new(Limits::default());
    let mut input = BytesMut::from(&b"?"[..]);
    assert_eq!(
        decoder.decode(&mut input),
        Err(ReplyError::UnknownType(b'?'))
    );
    let mut input = BytesMut::from(&b"+OK\r\n"[..]);
    assert_eq!(
        decoder.decode(&mut input),
        Err(ReplyError::UnknownType(b'?'))
    );
}

#[test]
fn a_value_shares_the_memory_it_was_received_in() {
    let mut input = BytesMut::from(&b"$5\r\nvalue\r\n"[..]);
    let received = input[4..].as_ptr();
    let frame = ReplyDecoder::new(Limits::default())
        .decode(&mut input)
        .unwrap();
    assert!(matches!(frame, Some(Frame::Bulk(value)) if value.as_ptr() == received));
}

#[test]
fn the_remainder_of_a_value_is_known_exactly() {
    let mut decoder = ReplyDecoder::new(Limits::default());
    let mut input = BytesMut::from(&b"*2\r\n$100\r\nabc"[..]);
    assert_eq!(decoder.decode(&mut input), Ok(None));
    assert_eq!(decoder.wanted(&input), 99);
    input.extend_from_slice(&[b'v'; 99]);
    assert_eq!(
        decoder.decode(&mut input),
        Err(ReplyError::BadTerminator(b'$'))
    );
}
