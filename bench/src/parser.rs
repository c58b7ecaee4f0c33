//! The RESP parser: requests as a server reads them, replies as a client does.

use std::hint::black_box;
use std::sync::atomic::AtomicBool;

use bytes::BytesMut;
use hotcopy_lab::rounds::{Contender, Pace, PerOperation, measure};
use hotcopy_wire::resp::{
    Encoder, Limits, Progress, ReplyDecoder, RequestParser, Version, encode_command,
};

use crate::table::{Row, Table, columns};

/// Requests in one buffer, as a pipelining client sends them.
const PIPELINE: usize = 16;

struct Request {
    name: &'static str,
    bytes: Vec<u8>,
}

pub(crate) fn run(pace: Pace) -> Table {
    let requests = [
        request("request GET, 16-byte key", &[b"GET", b"session:12345678"]),
        request(
            "request SET, 100-byte value",
            &[b"SET", b"session:12345678", &[b'x'; 100]],
        ),
        request(
            "request SET, 41,083-byte value",
            &[b"SET", b"config", &[b'x'; 41_083]],
        ),
    ];
    let reply = bulk_reply(41_083);
    let mut sizes: Vec<usize> = requests
        .iter()
        .map(|request| request.bytes.len() / PIPELINE)
        .collect();
    sizes.push(reply.len());

    let mut contenders: Vec<Contender<'_>> = requests
        .iter()
        .map(|request| Contender::new(request.name, |count| parse_requests(&request.bytes, count)))
        .collect();
    contenders.push(Contender::new("reply, 41,083-byte value", |count| {
        decode_replies(&reply, count);
    }));

    let times = measure(&mut contenders, pace, &AtomicBool::new(false));
    let row = |((contender, time), size): ((&Contender<'_>, Option<PerOperation>), usize)| {
        let time = time?;
        let mb_per_s = size as f64 / time.median_ns * 1e3;
        Some(Row {
            name: contender.name.into(),
            figures: vec![mb_per_s, time.median_ns, time.min_ns, time.max_ns],
        })
    };
    Table {
        title: "RESP parser, one thread, 16 requests a buffer",
        columns: columns(["MB/s", "ns each, median", "min", "max"]),
        rows: contenders
            .iter()
            .zip(times)
            .zip(sizes)
            .filter_map(row)
            .collect(),
    }
}

fn request(name: &'static str, arguments: &[&[u8]]) -> Request {
    let mut bytes = Vec::new();
    for _ in 0..PIPELINE {
        encode_command(&mut bytes, arguments);
    }
    Request { name, bytes }
}

fn bulk_reply(len: usize) -> Vec<u8> {
    let mut reply = Vec::new();
    Encoder::new(&mut reply, Version::Resp2).bulk(&vec![b'x'; len]);
    reply
}

fn parse_requests(pipeline: &[u8], count: u64) {
    let mut parser = RequestParser::new(Limits::default());
    let mut rest = pipeline;
    for _ in 0..count {
        if rest.is_empty() {
            rest = black_box(pipeline);
        }
        let Ok(Progress::Complete { consumed }) = parser.parse(rest) else {
            unreachable!("the pipeline is well-formed")
        };
        black_box(parser.args(rest).get(0));
        parser.reset();
        rest = &rest[consumed..];
    }
}

/// Filling the buffer is part of it: a client reads its socket into one, too.
fn decode_replies(reply: &[u8], count: u64) {
    let mut decoder = ReplyDecoder::new(Limits::default());
    let mut buffer = BytesMut::with_capacity(reply.len());
    for _ in 0..count {
        buffer.extend_from_slice(black_box(reply));
        black_box(
            decoder
                .decode(&mut buffer)
                .expect("the reply is well-formed"),
        );
    }
}
