//! Well-formed frames mean the same to `redis-protocol`, an independent implementation, in both
//! directions and both versions.
//!
//! Only well-formed ones: on hostile input that crate is no reference (its stack overflows on deep
//! nesting, and it takes terminators that are none).

use bytes::{Bytes, BytesMut};
use hotcopy_wire::resp::{Frame, Limits, ReplyDecoder, Version};
use proptest::prelude::*;
use redis_protocol::resp2::types::{OwnedFrame as Frame2, Resp2Frame as _};
use redis_protocol::resp3::types::{
    OwnedAttributes, OwnedFrame as Frame3, Resp3Frame as _, VerbatimStringFormat,
};
use redis_protocol::{resp2, resp3};

use crate::generate::{encoded, flattened, frame, sorted};

proptest! {
    #[test]
    fn redis_protocol_reads_our_resp3(frame in frame()) {
        let bytes = encoded(&frame, Version::Resp3);
        let (theirs, taken) = resp3::decode::complete::decode(&bytes).unwrap().unwrap();
        prop_assert_eq!(taken, bytes.len());
        prop_assert_eq!(sorted(from_resp3(theirs)), sorted(frame));
    }

    #[test]
    fn we_read_the_resp3_of_redis_protocol(frame in frame(), with_attributes: bool) {
        let theirs = to_resp3(&frame, with_attributes);
        let mut bytes = vec![0; theirs.encode_len(false)];
        resp3::encode::complete::encode(&mut bytes, &theirs, false).unwrap();
        prop_assert_eq!(decode_all(&bytes), [sorted(frame)]);
    }

    #[test]
    fn redis_protocol_reads_our_resp2(frame in frame()) {
        let bytes = encoded(&frame, Version::Resp2);
        let (theirs, taken) = resp2::decode::decode(&bytes).unwrap().unwrap();
        prop_assert_eq!(taken, bytes.len());
        prop_assert_eq!(from_resp2(theirs), flattened(frame));
    }

    #[test]
    fn we_read_the_resp2_of_redis_protocol(frame in frame()) {
        let frame = flattened(frame);
        let theirs = to_resp2(&frame);
        let mut bytes = vec![0; theirs.encode_len(false)];
        resp2::encode::encode(&mut bytes, &theirs, false).unwrap();
        prop_assert_eq!(decode_all(&bytes), [frame]);
    }
}

fn decode_all(bytes: &[u8]) -> Vec<Frame> {
    let mut input = BytesMut::from(bytes);
    let mut decoder = ReplyDecoder::new(Limits::default());
    let frames = std::iter::from_fn(|| decoder.decode(&mut input).unwrap())
        .map(sorted)
        .collect();
    assert!(input.is_empty());
    frames
}

fn text(bytes: &Bytes) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn to_resp2(frame: &Frame) -> Frame2 {
    match frame {
        Frame::Simple(text) => Frame2::SimpleString(text.to_vec()),
        Frame::Error(error) => Frame2::Error(text(error)),
        Frame::Integer(n) => Frame2::Integer(*n),
        Frame::Bulk(value) => Frame2::BulkString(value.to_vec()),
        Frame::Null => Frame2::Null,
        Frame::Array(elements) => Frame2::Array(elements.iter().map(to_resp2).collect()),
        other => panic!("not a RESP2 frame: {other:?}"),
    }
}

fn from_resp2(frame: Frame2) -> Frame {
    match frame {
        Frame2::SimpleString(text) => Frame::Simple(text.into()),
        Frame2::Error(text) => Frame::Error(text.into()),
        Frame2::Integer(n) => Frame::Integer(n),
        Frame2::BulkString(value) => Frame::Bulk(value.into()),
        Frame2::Array(elements) => Frame::Array(elements.into_iter().map(from_resp2).collect()),
        Frame2::Null => Frame::Null,
    }
}

/// With attributes, every integer and every array carries one.
fn to_resp3(frame: &Frame, with_attributes: bool) -> Frame3 {
    let attributes = None;
    let attribute = || {
        let key = Frame3::SimpleString {
            data: b"ttl".to_vec(),
            attributes: None,
        };
        let value = Frame3::Array {
            data: vec![
                Frame3::Null,
                Frame3::Boolean {
                    data: true,
                    attributes: None,
                },
            ],
            attributes: None,
        };
        with_attributes.then(|| OwnedAttributes::from([(key, value)]))
    };
    let all = |frames: &[Frame]| {
        frames
            .iter()
            .map(|frame| to_resp3(frame, with_attributes))
            .collect::<Vec<_>>()
    };
    match frame {
        Frame::Simple(text) => Frame3::SimpleString {
            data: text.to_vec(),
            attributes,
        },
        Frame::Error(error) => Frame3::SimpleError {
            data: text(error),
            attributes,
        },
        Frame::Integer(n) => Frame3::Number {
            data: *n,
            attributes: attribute(),
        },
        Frame::Bulk(value) => Frame3::BlobString {
            data: value.to_vec(),
            attributes,
        },
        Frame::Null => Frame3::Null,
        Frame::Double(x) => Frame3::Double {
            data: *x,
            attributes,
        },
        Frame::Boolean(b) => Frame3::Boolean {
            data: *b,
            attributes,
        },
        Frame::BigNumber(digits) => Frame3::BigNumber {
            data: digits.to_vec(),
            attributes,
        },
        Frame::BulkError(text) => Frame3::BlobError {
            data: text.to_vec(),
            attributes,
        },
        Frame::Verbatim { kind, text } => {
            let format = if kind == b"txt" {
                VerbatimStringFormat::Text
            } else {
                VerbatimStringFormat::Markdown
            };
            Frame3::VerbatimString {
                data: text.to_vec(),
                format,
                attributes,
            }
        }
        Frame::Array(elements) => Frame3::Array {
            data: all(elements),
            attributes: attribute(),
        },
        Frame::Push(elements) => Frame3::Push {
            data: all(elements),
            attributes,
        },
        // Keys and the elements of sets go without attributes: equal ones would then differ.
        Frame::Set(elements) => Frame3::Set {
            data: elements
                .iter()
                .map(|element| to_resp3(element, false))
                .collect(),
            attributes,
        },
        Frame::Map(pairs) => {
            let data = pairs
                .iter()
                .map(|(key, value)| (to_resp3(key, false), to_resp3(value, with_attributes)))
                .collect();
            Frame3::Map { data, attributes }
        }
    }
}

fn from_resp3(frame: Frame3) -> Frame {
    let all = |frames: Vec<Frame3>| frames.into_iter().map(from_resp3).collect::<Vec<_>>();
    match frame {
        Frame3::SimpleString { data, .. } => Frame::Simple(data.into()),
        Frame3::SimpleError { data, .. } => Frame::Error(data.into()),
        Frame3::Number { data, .. } => Frame::Integer(data),
        Frame3::BlobString { data, .. } => Frame::Bulk(data.into()),
        Frame3::Null => Frame::Null,
        Frame3::Double { data, .. } => Frame::Double(data),
        Frame3::Boolean { data, .. } => Frame::Boolean(data),
        Frame3::BigNumber { data, .. } => Frame::BigNumber(data.into()),
        Frame3::BlobError { data, .. } => Frame::BulkError(data.into()),
        Frame3::VerbatimString { data, format, .. } => {
            let kind = if format == VerbatimStringFormat::Text {
                *b"txt"
            } else {
                *b"mkd"
            };
            Frame::Verbatim {
                kind,
                text: data.into(),
            }
        }
        Frame3::Array { data, .. } => Frame::Array(all(data)),
        Frame3::Push { data, .. } => Frame::Push(all(data)),
        Frame3::Set { data, .. } => Frame::Set(all(data.into_iter().collect())),
        Frame3::Map { data, .. } => Frame::Map(
            data.into_iter()
                .map(|(key, value)| (from_resp3(key), from_resp3(value)))
                .collect(),
        ),
        other => panic!("we do not write {other:?}"),
    }
}
