use super::*;

const SMALL: Limits = Limits {
    max_line: 16,
    max_keys_line: 24,
};

/// What a stream of requests says, and what is left of it.
fn messages(
    limits: Limits,
    input: &[u8],
    cuts: &[usize],
) -> (Vec<String>, Result<usize, LineTooLong>) {
    let mut parser = RequestParser::new(limits);
    let (mut said, mut start) = (Vec::new(), 0);
    for &end in cuts.iter().chain([&input.len()]) {
        loop {
            let received = &input[start..end];
            match parser.parse(received) {
                Ok(Progress::Incomplete { wanted }) => {
                    assert!(wanted > 0);
                    break;
                }
                Ok(Progress::Complete { consumed }) => {
                    said.push(format!("{:?}", parser.message(received)));
                    parser.reset();
                    start += consumed;
                }
                Err(error) => return (said, Err(error)),
            }
        }
    }
    (said, Ok(input.len() - start))
}

#[test]
fn requests_are_found_wherever_they_are_cut() {
    let input =
        b"set k 1 2 5\r\nhe\r\no\r\nget k\nget a b\r\nset k 0 0 0 noreply\r\n\r\nset k 0 0 x\r\n\
        cas k 0 0 1 7\nxyzquit\r\nge";
    let whole = messages(Limits::default(), input, &[]);
    assert_eq!((whole.0.len(), whole.1), (7, Ok(2)));
    assert!(whole.0[4].contains("BadFormat") && whole.0[5].contains("BadChunk"));
    assert!(whole.0[6].contains("Quit"));
    for first in 0..input.len() {
        for second in first..input.len() {
            let cut = messages(Limits::default(), input, &[first, second]);
            assert_eq!(cut, whole, "cut at {first} and {second}");
        }
    }
}

#[test]
fn the_bound_of_a_line_holds_wherever_the_line_is_cut() {
    for (line, is_good) in [
        ("delete 123456789", true),
        ("delete 1234567890", false),
        ("get 12345678901234567890", true),
        ("get 123456789012345678901", false),
        ("gat 1 123456789 12345678", true),
        ("getx 12345678901", true),
        ("getx 123456789012", false),
        ("               get", false),
    ] {
        let input = format!("{line}\n").into_bytes();
        for cut in 0..input.len() {
            let (said, left) = messages(SMALL, &input, &[cut]);
            let found = (said.len(), left.is_ok());
            assert_eq!(
                found,
                (usize::from(is_good), is_good),
                "{line} cut at {cut}"
            );
        }
    }
}

#[test]
fn a_line_without_end_fails_as_soon_as_it_is_too_long() {
    let mut parser = RequestParser::new(SMALL);
    let incomplete = Progress::Incomplete { wanted: 1 };
    assert_eq!(parser.parse(&[b'x'; 16]), Ok(incomplete));
    let error = LineTooLong { max: 16 };
    assert_eq!(parser.parse(&[b'x'; 17]), Err(error));
    assert_eq!(parser.parse(b""), Err(error));
    parser.reset();
    assert!(parser.parse(b"quit\n").is_ok());
}

#[test]
fn a_block_says_how_much_of_it_is_missing() {
    let mut parser = RequestParser::new(Limits::default());
    let progress = parser.parse(b"append k 0 0 1000000\r\nabc");
    assert_eq!(progress, Ok(Progress::Incomplete { wanted: 999_999 }));
    let (start, len) = (22, 1_000_000);
    assert_eq!(parser.announced(), Some(Announced { start, len }));
    assert_eq!(RequestParser::new(SMALL).announced(), None);
}

#[test]
fn data_can_be_taken_out_of_the_input() {
    let mut parser = RequestParser::new(Limits::default());
    let line = b"set k 7 0 1000000\r\n";
    parser.parse(line).unwrap();
    parser.take_out_data();
    let incomplete = Progress::Incomplete { wanted: 2 };
    assert_eq!(parser.parse(line), Ok(incomplete));
    let input = [&line[..], b"\r\n"].concat();
    let complete = Progress::Complete { consumed: 21 };
    assert_eq!(parser.parse(&input), Ok(complete));
    assert_eq!(parser.message(&input).unwrap().data, b"");
}

#[test]
fn a_request_that_is_not_complete_is_none() {
    let mut parser = RequestParser::new(Limits::default());
    parser.parse(b"set k 0 0 1\r\n").unwrap();
    assert!(parser.message(b"set k 0 0 1\r\n").is_err());
}
