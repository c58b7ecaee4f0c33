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

#[test]
fn a_value_longer_than_allowed_is_refused_costs_no_memory_and_the_connection_goes_on() {
    let server = TestServer::start(Config {
        max_item_bytes: 1_000_000,
        ..config()
    });
    let mut client = server.client();
    let (most, too_long) = (value(1_000_000), value(100_000_000));
    let refused = "-ERR string exceeds maximum allowed size (1000000 bytes, --max-item-size)\r\n";
    client.expect(&[&b"SET"[..], b"k", &most], OK);
    for len in [1_000_001, too_long.len()] {
        client.expect(&[&b"SET"[..], b"k", &too_long[..len]], refused);
        client.expect(&[&b"SETEX"[..], b"k", b"10", &too_long[..len]], refused);
    }
    client.expect(
        &[&b"MSET"[..], b"a", b"", b"b", &too_long[..1_000_001]],
        refused,
    );
    client.expect(&["EXISTS", "a", "b"], ":0\r\n");
    client.send(&["GET", "k"]);
    assert!(client.bulk() == most);
    let begun = request(&[&b"SET"[..], b"k", &too_long]);
    let (half, rest) = begun.split_at(begun.len() / 2);
    client.stream.write_all(half).unwrap();
    assert!(server.info("mem_clients_requests") < 100_000);
    assert!(server.info("used_memory_dataset") < 2_000_000);
    client.stream.write_all(rest).unwrap();
    client.expect_reply(refused);
}

#[test]
fn long_values_of_mset_arrive_whole() {
    let server = TestServer::start(config());
    let mut client = server.client();
    let lens = [0, 1, 70_000, 16_384, 3_000_000, 64, 200_000];
    let values: Vec<_> = lens.iter().map(|len| value(*len)).collect();
    let names: Vec<_> = (0..lens.len()).map(|index| format!("k{index}")).collect();
    let pairs = names.iter().zip(&values);
    let pairs: Vec<&[u8]> = pairs
        .flat_map(|(name, value)| [name.as_bytes(), value])
        .collect();
    let mset = [&[&b"MSET"[..]], &pairs[..]].concat();
    client.expect(&mset, OK);
    let msetnx = [&[&b"MSETNX"[..]], &pairs[..]].concat();
    client.expect(&msetnx, ":0\r\n");
    client.expect(&["DEL", "k0", "k1", "k2", "k3", "k4", "k5", "k6"], ":7\r\n");
    client.expect(&msetnx, ":1\r\n");
    for (name, value) in names.iter().zip(&values) {
        client.send(&["GET", name]);
        assert!(client.bulk() == *value, "{name}");
    }
    client.expect(&["FLUSHALL"], OK);
    wait_until("all is freed", || server.info("used_memory_dataset") == 0);
}
