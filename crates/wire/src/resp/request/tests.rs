//! Requests good and bad. What redis-server 7.0 answers to the same bytes was compared by hand;
//! where hotcopy differs, the name says so.

use super::*;

fn parse(input: &[u8]) -> Result<Progress, ProtocolError> {
    RequestParser::new(Limits::default()).parse(input)
}

/// All requests of the input, each argument with a space after it.
fn requests(mut input: &[u8]) -> Result<Vec<String>, ProtocolError> {
    let mut parser = RequestParser::new(Limits::default());
    let mut found = Vec::new();
    while let Progress::Complete { consumed } = parser.parse(input)? {
        found.push(
            parser
                .args(input)
                .iter()
                .map(|arg| format!("{} ", arg.escape_ascii()))
                .collect(),
        );
        parser.reset();
        input = &input[consumed..];
    }
    Ok(found)
}

#[test]
fn pipelined_requests_come_out_one_by_one() {
    let input =
        b"*1\r\n$4\r\nPING\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\nGET  k\r\n*1\r\n$4\r\nPI";
    assert_eq!(requests(input).unwrap(), ["PING ", "SET k  ", "GET k "]);
}

#[test]
fn an_empty_request_has_no_arguments() {
    for empty in [
        "*0\r\n", "*-1\r\n", "*-5\r\n", "\r\n", "\n", "   \r\n", "\r\r\n",
    ] {
        assert_eq!(
            parse(empty.as_bytes()),
            Ok(Progress::Complete {
                consumed: empty.len()
            }),
            "{empty:?}"
        );
        let pipelined = format!("{empty}PING\r\n");
        assert_eq!(
            requests(pipelined.as_bytes()).unwrap(),
            ["", "PING "],
            "{empty:?}"
        );
    }
}

#[test]
fn a_malformed_request_gets_the_error_that_redis_gives() {
    use ProtocolError::*;
    let cases = [
        ("*\r\n", InvalidMultibulkLength),
        ("*a\r\n", InvalidMultibulkLength),
        ("*1x\r\n", InvalidMultibulkLength),
        ("*+1\r\n", InvalidMultibulkLength),
        ("*01\r\n", InvalidMultibulkLength),
        ("*-0\r\n", InvalidMultibulkLength),
        ("* 1\r\n", InvalidMultibulkLength),
        ("*2147483648\r\n", InvalidMultibulkLength),
        ("*-99999999999999999999\r\n", InvalidMultibulkLength),
        ("*1\r\n:4\r\n", ExpectedBulk(b':')),
        ("*1\r\n\r\n", ExpectedBulk(b'\r')),
        ("*1\r\n$\r\n", InvalidBulkLength),
        ("*1\r\n$-1\r\n", InvalidBulkLength),
        ("*1\r\n$04\r\n", InvalidBulkLength),
        ("*1\r\n$+4\r\n", InvalidBulkLength),
        ("*1\r\n$536870913\r\n", InvalidBulkLength),
        ("*1\r\n$99999999999999999999\r\n", InvalidBulkLength),
        ("ECHO \"abc\r\n", UnbalancedQuotes),
    ];
    for (input, error) in cases {
        assert_eq!(parse(input.as_bytes()), Err(error), "{input:?}");
    }
}

#[test]
fn a_wrong_terminator_is_refused_where_redis_skips_it() {
    assert_eq!(
        parse(b"*1\rX$4\r\nPING\r\n"),
        Err(ProtocolError::InvalidMultibulkLength)
    );
    assert_eq!(
        parse(b"*1\n$4\nPING\n"),
        Err(ProtocolError::InvalidMultibulkLength)
    );
    assert_eq!(
        parse(b"*1\r\n$4\rXPING\r\n"),
        Err(ProtocolError::InvalidBulkLength)
    );
    assert_eq!(
        parse(b"*1\r\n$4\r\nPINGXX"),
        Err(ProtocolError::UnterminatedBulk)
    );
    assert_eq!(
        parse(b"*1\r\n$4\r\nPING\rX"),
        Err(ProtocolError::UnterminatedBulk)
    );
}

#[test]
fn more_arguments_than_the_bound_are_refused_before_they_arrive() {
    assert_eq!(
        parse(b"*1048577\r\n"),
        Err(ProtocolError::InvalidMultibulkLength)
    );
    assert_eq!(
        parse(b"*1048576\r\n"),
        Ok(Progress::Incomplete { wanted: 1 })
    );
    let mut parser = RequestParser::new(Limits {
        max_args: 1,
        ..Limits::default()
    });
    assert_eq!(
        parser.parse(b"a b\r\n"),
        Err(ProtocolError::InvalidMultibulkLength)
    );
}

#[test]
fn a_line_without_an_end_is_refused_at_the_bound() {
    let endless = |start: &str| format!("{start}{}", "1".repeat(70_000));
    assert_eq!(
        parse(endless("*").as_bytes()),
        Err(ProtocolError::TooBigMultibulkCount)
    );
    assert_eq!(
        parse(endless("*1\r\n$").as_bytes()),
        Err(ProtocolError::TooBigBulkCount)
    );
    assert_eq!(
        parse(endless("PING ").as_bytes()),
        Err(ProtocolError::TooBigInline)
    );
    let longest = "P".repeat(64 * 1024);
    assert_eq!(
        parse(longest.as_bytes()),
        Ok(Progress::Incomplete { wanted: 1 })
    );
    assert_eq!(
        parse(format!("{longest}\n").as_bytes()),
        Ok(Progress::Complete {
            consumed: 64 * 1024 + 1
        })
    );
    assert_eq!(
        parse(format!("{longest}\r\n").as_bytes()),
        Err(ProtocolError::TooBigInline)
    );
}

#[test]
fn the_remainder_of_an_argument_is_known_exactly() {
    let mut parser = RequestParser::new(Limits::default());
    let mut input = b"*2\r\n$3\r\nGET\r\n$41083\r\n".to_vec();
    assert_eq!(
        parser.parse(&input),
        Ok(Progress::Incomplete { wanted: 41_085 })
    );
    input.extend_from_slice(&[b'v'; 41_083]);
    assert_eq!(parser.parse(&input), Ok(Progress::Incomplete { wanted: 2 }));
    input.extend_from_slice(b"\r\n");
    assert_eq!(
        parser.parse(&input),
        Ok(Progress::Complete {
            consumed: input.len()
        })
    );
    assert_eq!(parser.args(&input)[1].len(), 41_083);
}

#[test]
fn a_completed_or_failed_parser_stays_so_until_it_is_reset() {
    let mut parser = RequestParser::new(Limits::default());
    assert_eq!(
        parser.parse(b"PING\r\n"),
        Ok(Progress::Complete { consumed: 6 })
    );
    assert_eq!(
        parser.parse(b"PING\r\nmore\r\n"),
        Ok(Progress::Complete { consumed: 6 })
    );
    parser.reset();
    assert_eq!(
        parser.parse(b"*x\r\n"),
        Err(ProtocolError::InvalidMultibulkLength)
    );
    assert_eq!(
        parser.parse(b"*1\r\n"),
        Err(ProtocolError::InvalidMultibulkLength)
    );
    parser.reset();
    assert_eq!(
        parser.parse(b"PING\r\n"),
        Ok(Progress::Complete { consumed: 6 })
    );
}

#[test]
fn unescaped_words_outlive_the_line_they_came_from() {
    let mut parser = RequestParser::new(Limits::default());
    let input = b"SET \"a\\x00b\" 'c d'\r\n";
    assert_eq!(
        parser.parse(input),
        Ok(Progress::Complete {
            consumed: input.len()
        })
    );
    assert_eq!(
        parser.args(input).iter().collect::<Vec<_>>(),
        [&b"SET"[..], b"a\0b", b"c d"]
    );
}

#[test]
fn a_declared_length_reserves_nothing() {
    let mut parser = RequestParser::new(Limits::default());
    let input = b"*1048576\r\n$536870912\r\nabc";
    assert_eq!(
        parser.parse(input),
        Ok(Progress::Incomplete {
            wanted: 536_870_912 - 3 + 2
        })
    );
    assert_eq!(parser.heap_bytes(), 0);
}

#[test]
fn the_memory_of_a_large_request_is_given_back() {
    let mut parser = RequestParser::new(Limits::default());
    let input = format!("*10000\r\n{}", "$0\r\n\r\n".repeat(10_000));
    assert_eq!(
        parser.parse(input.as_bytes()),
        Ok(Progress::Complete {
            consumed: input.len()
        })
    );
    assert!(parser.heap_bytes() >= 10_000 * size_of::<Span>());
    parser.reset();
    assert!(parser.heap_bytes() <= KEPT_ARGS * size_of::<Span>() + KEPT_UNESCAPED);
}

#[test]
fn an_input_that_shrinks_is_waited_for_and_not_read_past() {
    let mut parser = RequestParser::new(Limits::default());
    assert_eq!(
        parser.parse(b"*1\r\n$4\r\nPI"),
        Ok(Progress::Incomplete { wanted: 4 })
    );
    assert_eq!(parser.parse(b"*1"), Ok(Progress::Incomplete { wanted: 12 }));
}
