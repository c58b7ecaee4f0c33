//! The memcached text protocol beside RESP: which of them a connection speaks, and what both see. What single requests
//! are answered with is held to memcached in `tests/conformance/memcached`.

use std::io::Write;
use std::thread;

use hotcopy_server::{Config, Protocol};

use crate::harness::{Client, TestServer, config, wait_until};

fn says(client: &mut Client, sent: &str, reply: &str) {
    client.stream.write_all(sent.as_bytes()).unwrap();
    client.expect_reply(reply);
}

#[test]
fn both_protocols_see_each_others_data_in_database_0() {
    let server = TestServer::start(config());
    let (mut redis, mut memcached) = (server.client(), server.client());
    redis.expect(&["SET", "k", "from redis"], "+OK\r\n");
    says(
        &mut memcached,
        "get k\r\n",
        "VALUE k 0 10\r\nfrom redis\r\nEND\r\n",
    );
    says(&mut memcached, "set k 5 100 2\r\n41\r\n", "STORED\r\n");
    redis.expect(&["INCR", "k"], ":42\r\n");
    says(&mut memcached, "incr k 1\r\n", "43\r\n");
    redis.expect(&["TTL", "k"], ":100\r\n");
    // Redis has no flags, and keeps those that are there.
    says(&mut memcached, "get k\r\n", "VALUE k 5 2\r\n43\r\nEND\r\n");
    redis.expect(&["SELECT", "1"], "+OK\r\n");
    redis.expect(&["GET", "k"], "$-1\r\n");
    redis.expect(&["SET", "k", "elsewhere"], "+OK\r\n");
    says(&mut memcached, "flush_all\r\nget k\r\n", "OK\r\nEND\r\n");
    redis.expect(&["GET", "k"], "$9\r\nelsewhere\r\n");
}

#[test]
fn a_write_over_redis_lets_cas_fail() {
    let server = TestServer::start(config());
    let (mut redis, mut memcached) = (server.client(), server.client());
    says(
        &mut memcached,
        "set k 0 0 1\r\na\r\ngets k\r\n",
        "STORED\r\n",
    );
    let value = memcached.line();
    let unique = value.strip_prefix("VALUE k 0 1 ").unwrap().to_owned();
    memcached.expect_reply("a\r\nEND\r\n");
    redis.expect(&["SET", "k", "b"], "+OK\r\n");
    let cas = format!("cas k 0 0 1 {unique}\r\nc\r\n");
    says(&mut memcached, &cas, "EXISTS\r\n");
}

#[test]
fn a_connection_is_what_its_first_word_says_however_slowly_that_comes() {
    let server = TestServer::start(config());
    let mut slow = server.client();
    for byte in ["v", "e", "r", "s", "i", "o", "n"] {
        slow.stream.write_all(byte.as_bytes()).unwrap();
        assert!(slow.is_silent(), "nothing is clear after {byte}");
    }
    says(&mut slow, "\r\nPING\r\n", "VERSION 1.6.18\r\nERROR\r\n");

    let mut other = server.client();
    says(&mut other, "gettt", "");
    says(&mut other, "\r\nping\r\n", "-ERR unknown command 'gettt'");
    assert!(other.line().starts_with(", with args"));
    // Once it is told, a verb of the other protocol changes nothing.
    says(&mut other, "get k\r\n", "+PONG\r\n$-1\r\n");

    let mut upper = server.client();
    says(&mut upper, "GET k\r\n", "$-1\r\n");
    let mut lower = server.client();
    says(&mut lower, "get k\r\n", "END\r\n");
    says(&mut lower, "*1\r\n", "ERROR\r\n");
}

#[test]
fn what_is_not_served_is_refused_with_a_reason() {
    let server = TestServer::start(config());
    for (bytes, reason) in [
        (&b"\x16\x03\x01\x02\x00"[..], "TLS"),
        (b"\x80\x0b\x00\x00\x00\x00", "binary protocol"),
    ] {
        let mut client = server.client();
        client.stream.write_all(bytes).unwrap();
        let reply = client.rest();
        assert!(
            reply.contains(reason) && reply.ends_with("\r\n"),
            "{reply:?}"
        );
    }
}

#[test]
fn a_protocol_can_be_the_only_one() {
    let only = |protocol| {
        let config = config();
        TestServer::start(Config { protocol, ..config })
    };
    let server = only(Protocol::Resp);
    says(&mut server.client(), "get k\r\n", "$-1\r\n");
    let server = only(Protocol::Memcached);
    says(&mut server.client(), "PING\r\n*1\r\n", "ERROR\r\nERROR\r\n");
}

#[test]
fn memcached_clients_are_refused_where_there_is_a_password() {
    for protocol in [Protocol::Auto, Protocol::Memcached] {
        let server = TestServer::start(Config {
            password: Some("secret".to_owned().into()),
            protocol,
            ..config()
        });
        let mut client = server.client();
        client.stream.write_all(b"set k 0 0 1\r\na\r\n").unwrap();
        let reply = client.rest();
        assert!(
            reply.starts_with("CLIENT_ERROR authentication"),
            "{reply:?}"
        );
    }
}

#[test]
fn a_read_of_many_keys_lets_others_in_and_is_answered_whole() {
    const KEYS: usize = 50_000;
    let server = TestServer::start(Config {
        threads: 1,
        ..config()
    });
    let mut client = server.client();
    says(&mut client, "set k 0 0 5\r\nhello\r\n", "STORED\r\n");
    let get = format!("get{}\r\nversion\r\n", " k nothing".repeat(KEYS));
    let mut writer = client.stream.try_clone().unwrap();
    let sending = thread::spawn(move || writer.write_all(get.as_bytes()).unwrap());
    says(
        &mut server.client(),
        "get k\r\n",
        "VALUE k 0 5\r\nhello\r\nEND\r\n",
    );
    let all = "VALUE k 0 5\r\nhello\r\n".repeat(KEYS);
    client.expect_reply(&format!("{all}END\r\nVERSION 1.6.18\r\n"));
    sending.join().unwrap();
}

#[test]
fn a_reader_of_large_values_that_does_not_read_is_given_only_as_much_as_may_wait() {
    const LEN: usize = 1024 * 1024;
    let server = TestServer::start(Config {
        client_output_bytes: 4 * LEN,
        ..config()
    });
    let mut client = server.client();
    let set = format!("set k 0 0 {LEN}\r\n{}\r\n", "x".repeat(LEN));
    says(&mut client, &set, "STORED\r\n");
    let get = format!("get{}\r\n", " k".repeat(100));
    client.stream.write_all(get.as_bytes()).unwrap();
    wait_until("it has begun to answer", || {
        server.info("mem_clients_outputs") > 0
    });
    assert!(server.info("mem_clients_outputs") < 6 * LEN as u64);
    let value = format!("VALUE k 0 {LEN}\r\n{}\r\n", "x".repeat(LEN));
    for _ in 0..100 {
        client.expect_reply(&value);
    }
    client.expect_reply("END\r\n");
}

#[test]
fn nothing_is_lost_when_many_change_the_same_entries() {
    const CLIENTS: usize = 4;
    const ROUNDS: usize = 200;
    let server = TestServer::start(Config {
        threads: 4,
        ..config()
    });
    let mut client = server.client();
    says(&mut client, "set n 0 0 1\r\n0\r\n", "STORED\r\n");
    says(&mut client, "set c 0 0 1\r\n0\r\n", "STORED\r\n");
    // Long enough that what is put before it is copied in steps.
    let long = "-".repeat(100_000);
    let set = format!("set s 0 0 100000\r\n{long}\r\n");
    says(&mut client, &set, "STORED\r\n");
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            let mut client = server.client();
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    client.stream.write_all(b"incr n 1\r\n").unwrap();
                    client.line();
                    if round % 10 == 0 {
                        says(&mut client, "append s 0 0 1\r\nb\r\n", "STORED\r\n");
                        says(&mut client, "prepend s 0 0 1\r\na\r\n", "STORED\r\n");
                    }
                    add_one_by_cas(&mut client);
                }
            });
        }
    });
    let total = CLIENTS * ROUNDS;
    says(
        &mut client,
        "get n c\r\n",
        &format!("VALUE n 0 3\r\n{total}\r\nVALUE c 0 3\r\n{total}\r\nEND\r\n"),
    );
    let ends = total / 10;
    let (before, behind) = ("a".repeat(ends), "b".repeat(ends));
    let len = long.len() + 2 * ends;
    says(
        &mut client,
        "get s\r\n",
        &format!("VALUE s 0 {len}\r\n{before}{long}{behind}\r\nEND\r\n"),
    );
}

/// Reads a number and stores the next one until nobody came between.
fn add_one_by_cas(client: &mut Client) {
    loop {
        client.stream.write_all(b"gets c\r\n").unwrap();
        let header = client.line();
        let unique = header.rsplit(' ').next().unwrap().to_owned();
        let next = (client.line().parse::<u64>().unwrap() + 1).to_string();
        client.expect_reply("END\r\n");
        let cas = format!("cas c 0 0 {} {unique}\r\n{next}\r\n", next.len());
        client.stream.write_all(cas.as_bytes()).unwrap();
        if client.line() == "STORED" {
            return;
        }
    }
}

#[test]
fn large_values_are_put_before_and_behind_others_whole() {
    let server = TestServer::start(config());
    let mut client = server.client();
    let part = |letter: &str| letter.repeat(700_000);
    for (verb, letter) in [("set", "m"), ("append", "z"), ("prepend", "a")] {
        let request = format!("{verb} k 3 0 700000\r\n{}\r\n", part(letter));
        says(&mut client, &request, "STORED\r\n");
    }
    let value = [part("a"), part("m"), part("z")].concat();
    let reply = format!("VALUE k 3 2100000\r\n{value}\r\nEND\r\n");
    says(&mut client, "get k\r\n", &reply);
    // Nobody hears of it, but it is done.
    let silent = format!("prepend k 0 0 700000 noreply\r\n{}\r\nget j\r\n", part("a"));
    says(&mut client, &silent, "END\r\n");
    says(&mut client, "get k\r\n", "VALUE k 3 2800000\r\n");
}

#[test]
fn a_set_that_is_cut_off_leaves_what_was_there() {
    let server = TestServer::start(config());
    let mut client = server.client();
    says(&mut client, "set k 0 0 1\r\na\r\n", "STORED\r\n");
    let mut cut_off = server.client();
    let half = format!("set k 0 0 5000000\r\n{}", "x".repeat(2_000_000));
    cut_off.stream.write_all(half.as_bytes()).unwrap();
    drop(cut_off);
    wait_until("its memory is free", || {
        server.info("mem_clients_requests") == 0
    });
    says(&mut client, "get k\r\n", "VALUE k 0 1\r\na\r\nEND\r\n");
}
