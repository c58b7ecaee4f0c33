//! Commands over the wire, reply by reply.

use std::collections::BTreeSet;
use std::io::Write;
use std::time::{Duration, Instant};

use crate::harness::{TestServer, config, request};
use hotcopy_server::Config;

const OK: &str = "+OK\r\n";
const NULL: &str = "$-1\r\n";

#[test]
fn set_does_what_its_options_say() {
    let server = TestServer::start(config());
    let mut client = server.client();
    client.expect(&["SET", "k", "1", "XX"], NULL);
    client.expect(&["SET", "k", "1", "NX", "GET"], NULL);
    client.expect(&["SET", "k", "2", "NX"], NULL);
    client.expect(&["SET", "k", "2", "NX", "GET"], "$1\r\n1\r\n");
    client.expect(&["SET", "k", "2", "XX", "EX", "100"], OK);
    client.expect(&["TTL", "k"], ":100\r\n");
    client.expect(&["SET", "k", "3", "KEEPTTL", "GET"], "$1\r\n2\r\n");
    client.expect(&["TTL", "k"], ":100\r\n");
    client.expect(&["SET", "k", "4"], OK);
    client.expect(&["TTL", "k"], ":-1\r\n");
    client.expect(&["SET", "k", "5", "PXAT", "1"], OK);
    client.expect(&["GET", "k"], NULL);
    for (time, refusal) in [
        ("0", "ERR invalid expire time in 'set' command"),
        ("-1", "ERR invalid expire time in 'set' command"),
        (
            "9223372036854775807",
            "ERR invalid expire time in 'set' command",
        ),
        ("1.5", "ERR value is not an integer or out of range"),
    ] {
        client.expect(&["SET", "k", "6", "EX", time], &format!("-{refusal}\r\n"));
    }
    client.expect(
        &["SET", "k", "6", "EX", "1", "PX", "1"],
        "-ERR syntax error\r\n",
    );
    client.expect(&["EXISTS", "k"], ":0\r\n");
}

#[test]
fn expire_keeps_to_its_conditions() {
    let server = TestServer::start(config());
    let mut client = server.client();
    client.expect(&["EXPIRE", "k", "10"], ":0\r\n");
    client.expect(&["SET", "k", "v"], OK);
    for (seconds, condition, reply) in [
        ("100", "GT", ":0\r\n"),
        ("100", "XX", ":0\r\n"),
        ("100", "LT", ":1\r\n"),
        ("50", "NX", ":0\r\n"),
        ("50", "GT", ":0\r\n"),
        ("200", "GT", ":1\r\n"),
        ("300", "LT", ":0\r\n"),
        ("300", "XX", ":1\r\n"),
    ] {
        client.expect(&["EXPIRE", "k", seconds, condition], reply);
    }
    client.expect(&["TTL", "k"], ":300\r\n");
    client.expect(&["PERSIST", "k"], ":1\r\n");
    client.expect(&["PERSIST", "k"], ":0\r\n");
    client.expect(&["PEXPIRE", "k", "-5"], ":1\r\n");
    client.expect(&["TTL", "k"], ":-2\r\n");
}

#[test]
fn a_key_is_gone_when_its_time_is_up_and_is_swept_without_being_asked_for() {
    let server = TestServer::start(config());
    let mut client = server.client();
    for number in 0..100 {
        let key = format!("k:{number}");
        client.expect(&["PSETEX", &key, "50", "v"], OK);
    }
    crate::harness::wait_until("all keys are swept", || {
        client.send(&["DBSIZE"]);
        client.line() == ":0"
    });
    assert_eq!(server.info("expired_keys"), 100);
}

#[test]
fn requests_may_be_cut_anywhere() {
    let server = TestServer::start(config());
    let mut client = server.client();
    let mut bytes = request(&["SET", "key", "a\r\nb"]);
    bytes.extend_from_slice(b"\r\nget key\r\n");
    bytes.extend_from_slice(&request(&["ECHO", "end"]));
    for byte in bytes {
        client.stream.write_all(&[byte]).unwrap();
    }
    client.expect_reply("+OK\r\n$4\r\na\r\nb\r\n$3\r\nend\r\n");
}

#[test]
fn a_pipeline_of_many_commands_is_answered_in_order() {
    let server = TestServer::start(config());
    let mut client = server.client();
    let mut requests = Vec::new();
    let mut replies = String::new();
    for number in 0..5_000 {
        let text = format!("message {number}");
        requests.extend(request(&["ECHO", &text]));
        replies.push_str(&format!("${}\r\n{text}\r\n", text.len()));
    }
    client.stream.write_all(&requests).unwrap();
    client.expect_reply(&replies);
}

#[test]
fn a_value_of_five_megabytes_travels_both_ways() {
    let server = TestServer::start(config());
    let mut client = server.client();
    let value: Vec<u8> = (0..5_000_000_u32).map(|n| (n % 251) as u8).collect();
    client.expect(&[&b"SET"[..], b"large", &value], OK);
    for _ in 0..3 {
        client.send(&["GET", "large"]);
    }
    client.send(&["MGET", "large", "none", "large"]);
    for _ in 0..3 {
        assert!(client.bulk() == value);
    }
    client.expect_reply("*3\r\n");
    assert!(client.bulk() == value);
    client.expect_reply(NULL);
    assert!(client.bulk() == value);
}

#[test]
fn large_requests_may_follow_each_other_and_small_ones_without_a_pause() {
    let server = TestServer::start(config());
    let mut client = server.client();
    let mut requests = Vec::new();
    let mut replies = String::new();
    for len in [10, 70_000, 65_536, 1_000_000, 3, 200_000] {
        let value = "x".repeat(len);
        requests.extend(request(&["SET", "k", &value, "EX", "100"]));
        requests.extend(request(&["GET", "k"]));
        requests.extend(request(&["MSET", "a", &value, "b", "small"]));
        requests.extend(request(&["GET", "a"]));
        replies.push_str(&format!("+OK\r\n${len}\r\n{value}\r\n").repeat(2));
    }
    let mut sender = client.stream.try_clone().unwrap();
    let sending = std::thread::spawn(move || sender.write_all(&requests).unwrap());
    client.expect_reply(&replies);
    sending.join().unwrap();
}

#[test]
fn a_long_quoted_word_of_an_inline_request_is_stored_as_what_it_means() {
    let server = TestServer::start(config());
    let mut client = server.client();
    let word = "x".repeat(65_000);
    let requests = format!("SET k \"{word}\\n\"\r\n{}", "PING\r\n".repeat(200));
    client.stream.write_all(requests.as_bytes()).unwrap();
    client.expect_reply(OK);
    client.expect_reply(&"+PONG\r\n".repeat(200));
    client.expect(&["GET", "k"], &format!("$65001\r\n{word}\n\r\n"));
}

#[test]
fn a_scan_returns_every_key_that_stays_while_another_client_adds_and_removes() {
    let server = TestServer::start(config());
    let mut client = server.client();
    let mut other = server.client();
    let staying: BTreeSet<String> = (0..300).map(|n| format!("stay:{n}")).collect();
    for key in &staying {
        client.expect(&["SET", key, ""], OK);
    }
    let mut found = BTreeSet::new();
    let mut cursor = "0".to_owned();
    let mut round = 0;
    loop {
        client.send(&["SCAN", &cursor, "MATCH", "stay:*", "COUNT", "7"]);
        client.expect_reply("*2\r\n");
        cursor = String::from_utf8(client.bulk()).unwrap();
        for _ in 0..client.array_len() {
            found.insert(String::from_utf8(client.bulk()).unwrap());
        }
        if cursor == "0" {
            break;
        }
        for number in 0..5 {
            let key = format!("go:{}", (round * 5 + number) % 40);
            let is_added = round % 2 == 0;
            let args: &[&str] = if is_added {
                &["SETNX", &key, ""]
            } else {
                &["DEL", &key]
            };
            other.send(args);
            other.line();
        }
        round += 1;
    }
    assert_eq!(found, staying);
}

#[test]
fn resp3_has_its_own_null_and_maps() {
    let server = TestServer::start(config());
    let mut client = server.client();
    client.send(&["HELLO", "3"]);
    assert_eq!(client.line(), "%8");
    client.expect_reply("$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n");
    let version = String::from_utf8(client.bulk()).unwrap();
    let (major, rest) = version.split_once('.').unwrap();
    let minor = rest.split('.').next().unwrap();
    assert!((major.parse::<u32>().unwrap(), minor.parse::<u32>().unwrap()) >= (7, 4));
    while client.line() != "*0" {}
    client.expect(&["GET", "none"], "_\r\n");
    client.expect(&["CONFIG", "GET", "save"], "%1\r\n$4\r\nsave\r\n$0\r\n\r\n");
    client.expect(&["RESET"], "+RESET\r\n");
    client.expect(&["GET", "none"], NULL);
}

#[test]
fn nothing_is_served_before_the_password() {
    let server = TestServer::start(Config {
        password: Some("secret".to_owned().into()),
        ..config()
    });
    let noauth = "-NOAUTH Authentication required.\r\n";
    let wrong = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
    let mut client = server.client();
    client.expect(&["GET", "k"], noauth);
    client.expect(&["AUTH", "secreT"], wrong);
    client.expect(&["AUTH", "other", "secret"], wrong);
    client.expect(&["GET", "k"], noauth);
    // The rest of a pipeline counts as authenticated, and may be larger than what may come before.
    let large = vec![b'x'; 100_000];
    let mut pipeline = request(&["AUTH", "default", "secret"]);
    pipeline.extend(request(&[&b"SET"[..], b"k", &large]));
    client.stream.write_all(&pipeline).unwrap();
    client.expect_reply("+OK\r\n+OK\r\n");
    client.expect(&["RESET"], "+RESET\r\n");
    client.expect(&["GET", "k"], noauth);
    let mut hello = server.client();
    hello.send(&["HELLO", "3", "AUTH", "default", "secret", "SETNAME", "me"]);
    while hello.line() != "*0" {}
    hello.expect(&["CLIENT", "GETNAME"], "$2\r\nme\r\n");
    let mut hostile = server.client();
    hostile
        .stream
        .write_all(b"*3\r\n$3\r\nSET\r\n$1000000\r\n")
        .unwrap();
    assert_eq!(
        hostile.rest(),
        "-ERR Protocol error: invalid bulk length\r\n"
    );
}

#[test]
fn a_memory_limit_evicts_and_refuses_only_what_could_never_fit() {
    let server = TestServer::start(Config {
        max_memory: Some(1_000_000),
        ..config()
    });
    let mut client = server.client();
    let value = "x".repeat(10_000);
    for number in 0..500 {
        let key = format!("k:{number}");
        client.expect(&["SET", &key, &value], OK);
        client.expect(&["STRLEN", &key], ":10000\r\n");
    }
    assert!(server.info("used_memory_dataset") <= 1_000_000);
    assert!(server.info("evicted_keys") >= 400);
    let oom = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";
    client.expect(&["SET", "large", &"x".repeat(1_000_001)], oom);
    client.expect(&["GET", "large"], NULL);
}

#[test]
fn databases_are_apart_and_are_flushed_apart() {
    let server = TestServer::start(config());
    let mut client = server.client();
    client.expect(&["SET", "k", "0"], OK);
    client.expect(&["SELECT", "15"], OK);
    client.expect(&["GET", "k"], NULL);
    client.expect(&["SET", "k", "15"], OK);
    client.expect(&["SELECT", "16"], "-ERR DB index is out of range\r\n");
    client.expect(&["FLUSHDB"], OK);
    client.expect(&["DBSIZE"], ":0\r\n");
    client.expect(&["SELECT", "0"], OK);
    client.expect(&["KEYS", "*"], "*1\r\n$1\r\nk\r\n");
    client.expect(&["FLUSHALL", "ASYNC"], OK);
    client.expect(&["DBSIZE"], ":0\r\n");
    // The memory is freed aside.
    let deadline = Instant::now() + Duration::from_secs(5);
    while server.info("used_memory_dataset") > 0 {
        assert!(Instant::now() < deadline, "memory of flushed entries stays");
    }
}

#[test]
fn the_list_of_clients_shows_what_each_said_about_itself() {
    let server = TestServer::start(config());
    let mut client = server.client();
    client.expect(&["CLIENT", "SETNAME", "reader"], OK);
    client.expect(&["CLIENT", "SETINFO", "LIB-NAME", "some-lib"], OK);
    client.expect(&["SELECT", "3"], OK);
    let _idle = server.client();
    let list = client.text(&["CLIENT", "LIST"]);
    let mine = list.lines().find(|line| line.contains("name=reader"));
    let mine = mine.unwrap();
    assert!(
        mine.contains(" db=3 ") && mine.contains("lib-name=some-lib"),
        "{mine}"
    );
    assert!(mine.contains("cmd=client|list"), "{mine}");
    client.send(&["CLIENT", "ID"]);
    let id = client.line();
    assert!(mine.starts_with(&format!("id={} ", &id[1..])));
    let subscribers = client.text(&["CLIENT", "LIST", "TYPE", "pubsub"]);
    assert_eq!(subscribers, "");
}

#[test]
fn replies_can_be_turned_off_and_skipped() {
    let server = TestServer::start(config());
    let mut client = server.client();
    for args in [
        &["CLIENT", "REPLY", "SKIP"][..],
        &["SET", "k", "1"],
        &["CLIENT", "REPLY", "OFF"],
        &["SET", "k", "2"],
        &["NO-SUCH-COMMAND"],
        &["CLIENT", "REPLY", "ON"],
        &["GET", "k"],
    ] {
        client.send(args);
    }
    client.expect_reply("+OK\r\n$1\r\n2\r\n");
}

#[test]
fn only_commands_that_read_a_value_count_as_hits_and_misses() {
    let server = TestServer::start(config());
    let mut client = server.client();
    client.expect(&["SET", "k", "v"], "+OK\r\n");
    let counts = || (server.info("keyspace_hits"), server.info("keyspace_misses"));
    for (args, reply) in [
        (&["TTL", "k"][..], ":-1\r\n"),
        (&["PTTL", "no"], ":-2\r\n"),
        (&["TYPE", "k"], "+string\r\n"),
        (&["EXISTS", "k", "no"], ":1\r\n"),
        (&["STRLEN", "k"], ":1\r\n"),
    ] {
        client.expect(args, reply);
        assert_eq!(counts(), (0, 0), "{args:?}");
    }
    for (nth, (args, reply)) in [
        (&["GET", "k"][..], "$1\r\nv\r\n"),
        (&["GETEX", "k"], "$1\r\nv\r\n"),
        (&["GETSET", "k", "v"], "$1\r\nv\r\n"),
        (&["SET", "k", "v", "GET"], "$1\r\nv\r\n"),
        (&["GETDEL", "k"], "$1\r\nv\r\n"),
    ]
    .iter()
    .enumerate()
    {
        client.expect(args, reply);
        assert_eq!(counts(), (nth as u64 + 1, 0), "{args:?}");
    }
    client.expect(&["GETDEL", "k"], "$-1\r\n");
    assert_eq!(counts(), (5, 1));
}

#[test]
fn an_mget_of_few_keys_sees_all_of_an_mset_or_nothing() {
    let server = TestServer::start(config());
    let names: Vec<String> = (0..100).map(|index| format!("key:{index}")).collect();
    let mset = |value: &str| {
        let pairs = names.iter().flat_map(|name| [name.as_str(), value]);
        let args: Vec<&str> = std::iter::once("MSET").chain(pairs).collect();
        crate::harness::request(&args)
    };
    let mut writer = server.client();
    let writes = [mset("1"), mset("2")].concat().repeat(50);
    let writing = std::thread::spawn(move || {
        std::io::Write::write_all(&mut writer.stream, &writes).unwrap();
        writer.expect_reply(&"+OK\r\n".repeat(100));
    });
    let mut reader = server.client();
    let mget: Vec<&str> = std::iter::once("MGET")
        .chain(names.iter().map(String::as_str))
        .collect();
    loop {
        let is_last = writing.is_finished();
        reader.send(&mget);
        assert_eq!(reader.array_len(), 100);
        let mut line = || {
            let header = reader.line();
            if header == "$-1" {
                header
            } else {
                reader.line()
            }
        };
        let first = line();
        assert!((1..100).all(|_| line() == first));
        if is_last {
            break;
        }
    }
    writing.join().unwrap();
}
