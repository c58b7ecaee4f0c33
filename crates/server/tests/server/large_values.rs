//! Values that are read to where they stay while the rest of their request is still on its way.

use std::io::Write;

use hotcopy_server::Config;

use crate::harness::{TestServer, config, request, wait_until};

const OK: &str = "+OK\r\n";

fn value(len: usize) -> Vec<u8> {
    (0..len).map(|index| (index / 251 + index) as u8).collect()
}

#[test]
fn a_large_value_may_arrive_in_any_pieces_and_in_the_middle_of_a_pipeline() {
    let server = TestServer::start(config());
    let mut client = server.client();
    for (len, piece) in [
        (65_000, 7_001),
        (300_000, 16_384),
        (1_000_000, 99_991),
        (2_000_000, 1 << 30),
    ] {
        let value = value(len);
        let mut pipeline = request(&["ECHO", "before"]);
        pipeline.extend(request(&[&b"SET"[..], b"k", &value, b"EX", b"100", b"GET"]));
        pipeline.extend(request(&["DEL", "k"]));
        pipeline.extend(request(&[&b"setex"[..], b"k", b"100", &value]));
        pipeline.extend(request(&[&b"GetSet"[..], b"k", &value[1..]]));
        for part in pipeline.chunks(piece) {
            client.stream.write_all(part).unwrap();
        }
        assert_eq!(client.bulk(), b"before");
        client.expect_reply("$-1\r\n:1\r\n+OK\r\n");
        assert!(client.bulk() == value);
        client.send(&["GET", "k"]);
        assert!(client.bulk() == value[1..]);
        client.expect(&["TTL", "k"], ":-1\r\n");
        client.expect(&["DEL", "k"], ":1\r\n");
    }
    wait_until("all is freed", || server.info("used_memory_dataset") == 0);
}

#[test]
fn a_large_argument_that_is_not_to_be_stored_is_received_as_well() {
    let server = TestServer::start(config());
    let mut client = server.client();
    let large = value(500_000);
    client.send(&[&b"ECHO"[..], &large]);
    assert!(client.bulk() == large);
    client.expect(&[&b"SET"[..], &large, &large], OK);
    client.send(&[&b"GET"[..], &large]);
    assert!(client.bulk() == large);
    client.expect(
        &[&b"SET"[..], b"k", &large, b"XX", b"NX"],
        "-ERR syntax error\r\n",
    );
    client.expect(&[&b"SETNX"[..], &large, &large], ":0\r\n");
    client.expect(&["EXISTS", "k"], ":0\r\n");
}

#[test]
fn a_large_value_without_its_line_end_is_an_error_and_leaves_nothing() {
    let server = TestServer::start(config());
    let mut client = server.client();
    let mut bytes = request(&[&b"SET"[..], b"k", &value(200_000)]);
    let end = bytes.len() - 2;
    bytes[end..].copy_from_slice(b"xx");
    client.stream.write_all(&bytes).unwrap();
    assert!(client.line().starts_with("-ERR Protocol error"));
    wait_until("it is freed", || server.info("used_memory_dataset") == 0);
}

#[test]
fn a_client_that_leaves_in_the_middle_of_a_large_value_leaves_nothing() {
    let server = TestServer::start(config());
    let mut client = server.client();
    let bytes = request(&[&b"SET"[..], b"k", &value(5_000_000)]);
    client.stream.write_all(&bytes[..3_000_000]).unwrap();
    wait_until("it arrives", || {
        server.info("used_memory_dataset") > 2_900_000
    });
    drop(client);
    wait_until("it is freed", || server.info("used_memory_dataset") == 0);
}

#[test]
fn a_large_value_that_arrives_makes_room_for_itself_and_one_beyond_the_limit_is_refused() {
    let server = TestServer::start(Config {
        max_memory: Some(4 << 20),
        ..config()
    });
    let mut client = server.client();
    for number in 0..20 {
        client.expect(
            &[
                &b"SET"[..],
                format!("k{number}").as_bytes(),
                &value(1_500_000),
            ],
            OK,
        );
        assert!(server.info("used_memory_dataset") <= 4 << 20);
    }
    client.send(&["GET", "k19"]);
    assert!(client.bulk() == value(1_500_000));
    client.send(&[&b"SET"[..], b"k", &value(5 << 20)]);
    assert!(client.line().starts_with("-OOM"));
}
