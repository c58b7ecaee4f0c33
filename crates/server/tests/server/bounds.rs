//! What single requests may take: replies of many keys, patterns, names.

use std::time::{Duration, Instant};

use hotcopy_server::Config;

use crate::harness::{TestServer, config, request, wait_until};

fn mget_of(count: usize) -> Vec<u8> {
    let mut args = vec!["MGET".to_owned()];
    args.extend((0..count).map(|index| format!("k{}", index % 10)));
    request(&args)
}

#[test]
fn an_mget_of_many_keys_holds_what_one_client_may_have_waiting_and_arrives_whole() {
    let limit = 100_000;
    let server = TestServer::start(Config {
        client_output_bytes: limit,
        ..config()
    });
    let mut client = server.client();
    for digit in 0..9 {
        let value = digit.to_string().repeat(400);
        client.expect(&["SET", &format!("k{digit}"), &value], "+OK\r\n");
    }
    let count = 20_000;
    std::io::Write::write_all(&mut client.stream, &mget_of(count)).unwrap();
    client.send(&["PING"]);
    wait_until("the reply waits", || {
        server.info("mem_clients_outputs") >= limit as u64
    });
    std::thread::sleep(Duration::from_millis(50));
    assert!(server.info("mem_clients_outputs") < 2 * limit as u64);
    assert_eq!(client.array_len(), count);
    for index in 0..count {
        match index % 10 {
            9 => client.expect_reply("$-1\r\n"),
            digit => assert_eq!(client.bulk(), digit.to_string().repeat(400).as_bytes()),
        }
    }
    client.expect_reply("+PONG\r\n");
    assert_eq!(server.info("mem_clients_requests"), 0);
}

#[test]
fn a_client_that_closes_its_sending_side_still_gets_a_long_mget_to_its_end() {
    let server = TestServer::start(config());
    let mut client = server.client();
    client.expect(&["SET", "k0", &"x".repeat(2_000)], "+OK\r\n");
    let count = 5_000;
    std::io::Write::write_all(&mut client.stream, &mget_of(count)).unwrap();
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(client.array_len(), count);
    let rest = client.rest();
    assert_eq!(rest.matches("$2000\r\n").count(), count / 10);
    assert_eq!(rest.matches("$-1\r\n").count(), count / 10 * 9);
}

#[test]
fn a_message_that_is_published_during_a_long_mget_follows_its_reply() {
    let server = TestServer::start(Config {
        client_output_bytes: 50_000,
        ..config()
    });
    let mut client = server.client();
    client.expect(&["SET", "k0", &"x".repeat(10_000)], "+OK\r\n");
    client.send(&["HELLO", "3"]);
    client.send(&["SUBSCRIBE", "news"]);
    while client.line() != "subscribe" {}
    client.expect_reply("$4\r\nnews\r\n:1\r\n");
    let count = 5_000;
    std::io::Write::write_all(&mut client.stream, &mget_of(count)).unwrap();
    wait_until("the reply waits", || {
        server.info("mem_clients_outputs") >= 50_000
    });
    server
        .client()
        .expect(&["PUBLISH", "news", "hello"], ":1\r\n");
    assert_eq!(client.array_len(), count);
    for index in 0..count {
        if index % 10 == 0 {
            assert_eq!(client.bulk().len(), 10_000);
        } else {
            client.expect_reply("_\r\n");
        }
    }
    client.expect_reply(">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n");
}

#[test]
fn a_long_mget_whose_reply_is_not_wanted_is_not_begun() {
    let server = TestServer::start(config());
    let mut client = server.client();
    client.send(&["CLIENT", "REPLY", "SKIP"]);
    std::io::Write::write_all(&mut client.stream, &mget_of(1_000)).unwrap();
    client.expect(&["PING"], "+PONG\r\n");
}

#[test]
fn replies_whose_length_a_request_chooses_are_refused_beyond_what_one_client_may_have_waiting() {
    let server = TestServer::start(Config {
        client_output_bytes: 20_000,
        ..config()
    });
    let mut client = server.client();
    for index in 0..30 {
        let key = format!("{index:01000}");
        client.expect(&["SET", &key, "v"], "+OK\r\n");
    }
    client.expect(
        &["KEYS", "*"],
        "-ERR the keys that match are more than may wait for one client, use SCAN\r\n",
    );
    client.send(&["KEYS", "*1"]);
    assert_eq!(client.array_len(), 3);
    for _ in 0..3 {
        assert_eq!(client.bulk().len(), 1_000);
    }
    let refusal = "-ERR the reply is longer than what may wait for one client\r\n";
    let long = "x".repeat(30_000);
    client.expect(&["ECHO", &long], refusal);
    client.expect(&["PING", &long], refusal);
    client.expect(&["COMMAND", "GETKEYS", "GET", &long], refusal);
    let mut args = vec!["COMMAND", "INFO"];
    args.extend(["get"; 100]);
    client.expect(&args, refusal);
    args[1] = "DOCS";
    client.expect(&args, refusal);
    args[0] = "UNSUBSCRIBE";
    args.extend(["channel"; 300]);
    client.expect(&args, refusal);
    let mut clients: Vec<_> = (0..100).map(|_| server.client()).collect();
    for other in &mut clients {
        other.expect(&["PING"], "+PONG\r\n");
    }
    client.expect(&["CLIENT", "LIST"], refusal);
    client.send(&["CLIENT", "SETINFO", &long, "x"]);
    assert!(client.line().len() <= 1_030);
}

#[test]
fn a_pattern_made_to_be_slow_keeps_nobody_waiting() {
    let server = TestServer::start(Config {
        threads: 1,
        ..config()
    });
    let mut client = server.client();
    client.expect(&["SET", &"a".repeat(200_000), "v"], "+OK\r\n");
    let slow = format!("*{}b", "a".repeat(1_000));
    let started = Instant::now();
    client.expect(&["KEYS", &slow], "*0\r\n");
    client.expect(&["SCAN", "0", "MATCH", &slow], "*2\r\n$1\r\n0\r\n*0\r\n");
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_pattern_longer_than_a_kilobyte_is_refused_wherever_one_is_given() {
    let server = TestServer::start(config());
    let mut client = server.client();
    let longest = "*".repeat(1_024);
    let long = "*".repeat(1_025);
    client.expect(&["KEYS", &longest], "*0\r\n");
    let refusal = "-ERR pattern is longer than 1024 bytes\r\n";
    for args in [
        &["KEYS", &long][..],
        &["SCAN", "0", "MATCH", &long],
        &["PSUBSCRIBE", "*", &long],
        &["CONFIG", "GET", &long],
        &["COMMAND", "LIST", "FILTERBY", "PATTERN", &long],
    ] {
        client.expect(args, refusal);
    }
    // Nothing of what was refused was done.
    client.expect(&["PUBLISH", "x", ""], ":0\r\n");
}

#[test]
fn a_name_longer_than_a_kilobyte_is_refused() {
    let server = TestServer::start(config());
    let mut client = server.client();
    let longest = "n".repeat(1_024);
    let long = "n".repeat(1_025);
    client.expect(&["CLIENT", "SETNAME", &longest], "+OK\r\n");
    let name = "-ERR client name is longer than 1024 bytes\r\n";
    client.expect(&["CLIENT", "SETNAME", &long], name);
    client.expect(&["HELLO", "2", "SETNAME", &long], name);
    let library = "-ERR client library information is longer than 1024 bytes\r\n";
    client.expect(&["CLIENT", "SETINFO", "LIB-NAME", &long], library);
    client.expect(&["CLIENT", "SETINFO", "LIB-VER", &long], library);
    let channel = "-ERR channel name is longer than 1024 bytes\r\n";
    client.expect(&["PUBLISH", &long, ""], channel);
    client.expect(&["SUBSCRIBE", "a", &long], channel);
    assert_eq!(client.text(&["CLIENT", "GETNAME"]), longest);
}

#[test]
fn the_names_that_one_client_subscribes_to_are_bounded_together() {
    let server = TestServer::start(config());
    let mut client = server.client();
    let refusal = "-ERR the names of this client's subscriptions exceed 1048576 bytes\r\n";
    let name = |index: usize| format!("{index:01000}");
    let too_many: Vec<String> = std::iter::once("SUBSCRIBE".to_owned())
        .chain((0..1_000).map(name))
        .collect();
    client.expect(&too_many, refusal);
    let accepted = &too_many[..900];
    client.send(accepted);
    for nth in 1..900 {
        assert_eq!(client.array_len(), 3);
        client.bulk();
        client.bulk();
        client.expect_reply(&format!(":{nth}\r\n"));
    }
    client.expect(&too_many, refusal);
    // What is subscribed already counts once, and what is ended no longer counts.
    client.send(accepted);
    client.send(&["UNSUBSCRIBE"]);
    client.send(&["PING"]);
    while client.line() != "+PONG" {}
    client.send(accepted);
    assert_eq!(client.array_len(), 3);
}

fn pairs(command: &str, count: usize) -> Vec<String> {
    let pairs = (0..count).flat_map(|index| [format!("key:{index}"), format!("value:{index}")]);
    [command.to_owned()].into_iter().chain(pairs).collect()
}

#[test]
fn an_mset_of_any_number_of_pairs_stores_all_of_them() {
    let server = TestServer::start(config());
    let mut client = server.client();
    for count in [1_023, 1_024, 1_025, 2_048, 10_001] {
        client.expect(&pairs("MSET", count), "+OK\r\n");
        client.expect(&["DBSIZE"], &format!(":{count}\r\n"));
        let last = format!("value:{}", count - 1);
        client.send(&["GET", &format!("key:{}", count - 1)]);
        assert_eq!(client.bulk(), last.as_bytes());
        client.expect(&["FLUSHALL"], "+OK\r\n");
    }
}

#[test]
fn an_msetnx_of_more_pairs_than_one_step_writes_is_refused() {
    let server = TestServer::start(config());
    let mut client = server.client();
    client.expect(&pairs("MSETNX", 1_024), ":1\r\n");
    client.expect(&["FLUSHALL"], "+OK\r\n");
    let refused = "-ERR more than 1024 pairs cannot be stored as one step\r\n";
    client.expect(&pairs("MSETNX", 1_025), refused);
    client.expect(&["DBSIZE"], ":0\r\n");
}
