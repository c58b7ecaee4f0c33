//! What one side writes, the other reads back.

use bytes::BytesMut;
use hotcopy_wire::resp::{Limits, Progress, ReplyDecoder, RequestParser, Version, encode_command};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::generate::{arguments, encoded, flattened, frame};

/// An argument as redis-cli would quote it, every byte escaped.
fn quoted(argument: &[u8]) -> String {
    let escaped = argument
        .iter()
        .map(|byte| format!("\\x{byte:02x}"))
        .collect::<String>();
    format!("\"{escaped}\"")
}

proptest! {
    #[test]
    fn a_pipeline_of_commands_is_parsed_into_the_same_arguments(commands in vec(arguments(), 0..6)) {
        let mut bytes = Vec::new();
        for command in &commands {
            encode_command(&mut bytes, command);
        }
        let mut parser = RequestParser::new(Limits::default());
        let mut input = &bytes[..];
        for command in &commands {
            let Ok(Progress::Complete { consumed }) = parser.parse(input) else { panic!("not complete: {}", input.escape_ascii()) };
            prop_assert_eq!(parser.args(input).iter().collect::<Vec<_>>(), command.iter().map(Vec::as_slice).collect::<Vec<_>>());
            parser.reset();
            input = &input[consumed..];
        }
        prop_assert!(input.is_empty());
    }

    #[test]
    fn a_quoted_inline_request_is_parsed_into_the_same_arguments(arguments in arguments()) {
        let line = arguments.iter().map(|argument| quoted(argument)).collect::<Vec<_>>().join(" ") + "\r\n";
        let mut parser = RequestParser::new(Limits::default());
        prop_assert_eq!(parser.parse(line.as_bytes()), Ok(Progress::Complete { consumed: line.len() }));
        let parsed = parser.args(line.as_bytes()).iter().map(<[u8]>::to_vec).collect::<Vec<_>>();
        prop_assert_eq!(parsed, arguments);
    }

    #[test]
    fn replies_are_decoded_into_the_same_frames(frames in vec(frame(), 0..4)) {
        for (version, expect) in [(Version::Resp3, (|frame| frame) as fn(_) -> _), (Version::Resp2, flattened)] {
            let mut input = BytesMut::new();
            for frame in &frames {
                input.extend_from_slice(&encoded(frame, version));
            }
            let mut decoder = ReplyDecoder::new(Limits::default());
            for frame in &frames {
                prop_assert_eq!(decoder.decode(&mut input).unwrap(), Some(expect(frame.clone())));
            }
            prop_assert_eq!(decoder.decode(&mut input), Ok(None));
        }
    }
}
