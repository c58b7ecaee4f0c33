//! What the properties are tried on: well-formed frames and requests, and bytes that only nearly
//! are.

use bytes::Bytes;
use hotcopy_wire::resp::{Encoder, Frame, Version, encode_command};
use proptest::collection::vec;
use proptest::prelude::*;

/// Any reply but a NaN (which equals nothing) that both versions' encoders can write without
/// changing a text.
pub(crate) fn frame() -> impl Strategy<Value = Frame> {
    prop_oneof![4 => element(), 1 => vec(element(), 0..4).prop_map(Frame::Push)]
}

fn element() -> impl Strategy<Value = Frame> {
    scalar().prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Frame::Array),
            vec((scalar(), inner), 0..4)
                .prop_map(|pairs| Frame::Map(distinct(pairs, |pair| &pair.0))),
            // A set's elements and a map's keys are scalars and distinct, because `redis-protocol`
            // keeps them in hash tables.
            vec(scalar(), 0..6)
                .prop_map(|elements| Frame::Set(distinct(elements, |element| element))),
        ]
    })
}

fn scalar() -> impl Strategy<Value = Frame> {
    prop_oneof![
        line().prop_map(|text| Frame::Simple(text.into())),
        line().prop_map(|text| Frame::Error(text.into())),
        any::<i64>().prop_map(Frame::Integer),
        vec(any::<u8>(), 0..40).prop_map(|value| Frame::Bulk(value.into())),
        Just(Frame::Null),
        any::<f64>()
            .prop_filter("NaN equals nothing", |x| !x.is_nan())
            .prop_map(Frame::Double),
        any::<bool>().prop_map(Frame::Boolean),
        "-?[1-9][0-9]{0,60}".prop_map(|digits| Frame::BigNumber(digits.into())),
        // `redis-protocol` keeps errors as text.
        any::<String>().prop_map(|text| Frame::BulkError(text.into())),
        (prop_oneof![Just(*b"txt"), Just(*b"mkd")], any::<String>()).prop_map(|(kind, text)| {
            Frame::Verbatim {
                kind,
                text: text.into(),
            }
        }),
    ]
}

/// A text that fits in a line.
fn line() -> impl Strategy<Value = String> {
    "[^\r\n]{0,20}"
}

fn distinct<T>(items: Vec<T>, key: impl Fn(&T) -> &Frame) -> Vec<T> {
    let mut seen = std::collections::HashSet::new();
    items
        .into_iter()
        .filter(|item| seen.insert(encoded(key(item), Version::Resp3)))
        .collect()
}

pub(crate) fn encoded(frame: &Frame, version: Version) -> Vec<u8> {
    let mut out = Vec::new();
    Encoder::new(&mut out, version).frame(frame);
    out
}

/// The arguments of a request.
pub(crate) fn arguments() -> impl Strategy<Value = Vec<Vec<u8>>> {
    vec(vec(any::<u8>(), 0..40), 0..8)
}

/// Bytes that reach far into a request parser: whole requests, their parts in any order, and noise.
pub(crate) fn request_bytes() -> impl Strategy<Value = Vec<u8>> {
    let request = arguments().prop_map(|arguments| {
        let mut out = Vec::new();
        encode_command(&mut out, &arguments);
        out
    });
    let inline = r#"[ \ta"'\\x0-9]{0,12}\r?\n"#.prop_map(String::into_bytes);
    let parts: [&[u8]; 17] = [
        b"*",
        b"$",
        b"\r",
        b"*1\r\n",
        b"*3\r\n",
        b"*-1\r\n",
        b"*1048576\r\n",
        b"$1\r\n",
        b"$0\r\n\r\n",
        b"$3\r\nGET\r\n",
        b"$-1\r\n",
        b"$99999\r\n",
        b"PING",
        b"\r\n",
        b"\n",
        b"\"",
        b"'",
    ];
    mixture(vec![request.boxed(), inline.boxed()], &parts)
}

/// Bytes that reach far into a reply decoder: whole replies, their parts in any order, and noise.
pub(crate) fn reply_bytes() -> impl Strategy<Value = Vec<u8>> {
    let reply = frame().prop_map(|frame| encoded(&frame, Version::Resp3));
    let parts: [&[u8]; 22] = [
        b"*",
        b"$",
        b"+",
        b"\r",
        b"*1\r\n",
        b"*2\r\n",
        b"*0\r\n",
        b"*-1\r\n",
        b"*1000000\r\n",
        b"%1\r\n",
        b"~2\r\n",
        b">2\r\n",
        b"|1\r\n",
        b"|0\r\n",
        b"$-1\r\n",
        b"$2\r\n",
        b"=5\r\n",
        b"_\r\n",
        b"#t\r\n",
        b":1\r\n",
        b"\r\n",
        b"$99999\r\n",
    ];
    mixture(vec![reply.boxed()], &parts)
}

fn mixture(
    mut kinds: Vec<BoxedStrategy<Vec<u8>>>,
    parts: &[&'static [u8]],
) -> impl Strategy<Value = Vec<u8>> + use<> {
    let parts = parts.iter().map(|part| part.to_vec()).collect::<Vec<_>>();
    kinds.push(proptest::sample::select(parts).boxed());
    kinds.push(vec(any::<u8>(), 0..6).boxed());
    let weighted = kinds
        .into_iter()
        .zip([6, 4, 4, 1].into_iter().rev().cycle())
        .map(|(kind, weight)| (weight, kind));
    vec(
        proptest::strategy::Union::new_weighted(weighted.collect()),
        0..12,
    )
    .prop_map(|pieces| pieces.concat())
}

/// Where to cut an input into pieces.
pub(crate) fn cuts() -> impl Strategy<Value = Vec<prop::sample::Index>> {
    vec(any::<prop::sample::Index>(), 0..20)
}

/// The input in pieces.
pub(crate) fn cut<'a>(input: &'a [u8], cuts: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places = cuts
        .iter()
        .map(|cut| cut.index(input.len() + 1))
        .collect::<Vec<_>>();
    places.extend([0, input.len()]);
    places.sort_unstable();
    places
        .windows(2)
        .map(|pair| &input[pair[0]..pair[1]])
        .collect()
}

/// The same frame with the elements of sets and the pairs of maps in one certain order.
pub(crate) fn sorted(frame: Frame) -> Frame {
    let all = |frames: Vec<Frame>| frames.into_iter().map(sorted).collect::<Vec<_>>();
    match frame {
        Frame::Array(elements) => Frame::Array(all(elements)),
        Frame::Push(elements) => Frame::Push(all(elements)),
        Frame::Set(elements) => {
            let mut elements = all(elements);
            elements.sort_by_cached_key(|element| encoded(element, Version::Resp3));
            Frame::Set(elements)
        }
        Frame::Map(pairs) => {
            let mut pairs = pairs
                .into_iter()
                .map(|(key, value)| (sorted(key), sorted(value)))
                .collect::<Vec<_>>();
            pairs.sort_by_cached_key(|(key, _)| encoded(key, Version::Resp3));
            Frame::Map(pairs)
        }
        scalar => scalar,
    }
}

/// What is left of a frame after RESP2, which has fewer types.
pub(crate) fn flattened(frame: Frame) -> Frame {
    let all = |frames: Vec<Frame>| Frame::Array(frames.into_iter().map(flattened).collect());
    match frame {
        Frame::Array(elements) | Frame::Set(elements) | Frame::Push(elements) => all(elements),
        Frame::Map(pairs) => all(pairs
            .into_iter()
            .flat_map(|(key, value)| [key, value])
            .collect()),
        Frame::Boolean(b) => Frame::Integer(b.into()),
        Frame::Double(x) => {
            let text = encoded(&Frame::Double(x), Version::Resp3);
            Frame::Bulk(Bytes::copy_from_slice(&text[1..text.len() - 2]))
        }
        Frame::BigNumber(digits) => Frame::Bulk(digits),
        Frame::Verbatim { text, .. } => Frame::Bulk(text),
        Frame::BulkError(text) => Frame::Error(
            text.iter()
                .map(|&byte| {
                    if matches!(byte, b'\r' | b'\n') {
                        b' '
                    } else {
                        byte
                    }
                })
                .collect(),
        ),
        same => same,
    }
}
