//! Publishing and subscribing over several loops.

use std::io::Write;

use crate::harness::{TestServer, config, request};
use hotcopy_server::Config;

fn on_four_loops() -> TestServer {
    TestServer::start(Config {
        threads: 4,
        ..config()
    })
}

#[test]
fn a_message_reaches_the_subscribers_of_every_loop_in_the_order_of_publishing() {
    let server = on_four_loops();
    let mut subscribers: Vec<_> = (0..20).map(|_| server.client()).collect();
    for subscriber in &mut subscribers {
        let confirmation = "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n";
        subscriber.expect(&["SUBSCRIBE", "news"], confirmation);
    }
    let mut publisher = server.client();
    for number in 0..100 {
        let text = format!("{number:03}");
        publisher.expect(&["PUBLISH", "news", &text], ":20\r\n");
    }
    for subscriber in &mut subscribers {
        for number in 0..100 {
            let message = format!("*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$3\r\n{number:03}\r\n");
            subscriber.expect_reply(&message);
        }
    }
}

#[test]
fn a_client_gets_a_message_once_for_its_channel_and_once_for_each_pattern() {
    let server = on_four_loops();
    let mut subscriber = server.client();
    subscriber.expect(
        &["SUBSCRIBE", "a.b"],
        "*3\r\n$9\r\nsubscribe\r\n$3\r\na.b\r\n:1\r\n",
    );
    subscriber.expect(
        &["PSUBSCRIBE", "a.*"],
        "*3\r\n$10\r\npsubscribe\r\n$3\r\na.*\r\n:2\r\n",
    );
    let mut publisher = server.client();
    publisher.expect(&["PUBLISH", "a.b", "x"], ":2\r\n");
    subscriber.expect_reply("*3\r\n$7\r\nmessage\r\n$3\r\na.b\r\n$1\r\nx\r\n");
    subscriber.expect_reply("*4\r\n$8\r\npmessage\r\n$3\r\na.*\r\n$3\r\na.b\r\n$1\r\nx\r\n");
    publisher.expect(&["PUBLISH", "a.c", "y"], ":1\r\n");
    subscriber.expect_reply("*4\r\n$8\r\npmessage\r\n$3\r\na.*\r\n$3\r\na.c\r\n$1\r\ny\r\n");
    publisher.expect(&["PUBLISH", "b", "z"], ":0\r\n");
    assert!(subscriber.is_silent());
}

#[test]
fn nothing_arrives_after_the_end_of_a_subscription_is_confirmed() {
    let server = on_four_loops();
    let mut subscriber = server.client();
    let mut publisher = server.client();
    for _ in 0..50 {
        subscriber.expect(
            &["SUBSCRIBE", "c"],
            "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n",
        );
        publisher.send(&["PUBLISH", "c", "m"]);
        subscriber.send(&["UNSUBSCRIBE", "c"]);
        publisher.line();
        let kind = |client: &mut crate::harness::Client| {
            client.expect_reply("*3\r\n");
            String::from_utf8(client.bulk()).unwrap()
        };
        if kind(&mut subscriber) == "message" {
            subscriber.expect_reply("$1\r\nc\r\n$1\r\nm\r\n");
            assert_eq!(kind(&mut subscriber), "unsubscribe");
        }
        subscriber.expect_reply("$1\r\nc\r\n:0\r\n");
        subscriber.expect(&["PING"], "+PONG\r\n");
    }
}

#[test]
fn a_resp2_subscriber_is_restricted_and_a_resp3_subscriber_is_not() {
    let server = on_four_loops();
    let mut client = server.client();
    client.expect(
        &["SUBSCRIBE", "c"],
        "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n",
    );
    client.expect(
        &["GET", "k"],
        "-ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context\r\n",
    );
    client.expect(&["PING"], "*2\r\n$4\r\npong\r\n$0\r\n\r\n");
    client.expect(&["RESET"], "+RESET\r\n");
    client.expect(&["GET", "k"], "$-1\r\n");

    let mut client = server.client();
    client.send(&["HELLO", "3"]);
    while client.line() != "*0" {}
    client.expect(
        &["SUBSCRIBE", "c"],
        ">3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n",
    );
    client.expect(&["GET", "k"], "_\r\n");
    client.expect(&["PING"], "+PONG\r\n");
    server.client().expect(&["PUBLISH", "c", "m"], ":1\r\n");
    client.expect_reply(">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n");
}

#[test]
fn a_subscriber_that_does_not_read_is_disconnected_and_the_others_get_everything() {
    let server = TestServer::start(Config {
        subscriber_output_bytes: 100_000,
        ..config()
    });
    let subscribed = "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n";
    let mut slow = server.client();
    slow.expect(&["SUBSCRIBE", "c"], subscribed);
    let mut quick = server.client();
    quick.expect(&["SUBSCRIBE", "c"], subscribed);
    let mut publisher = server.client();
    let payload = "x".repeat(50_000);
    let message = format!("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$50000\r\n{payload}\r\n");
    let mut receivers = 2;
    for _ in 0..400 {
        publisher.send(&["PUBLISH", "c", &payload]);
        receivers = publisher.line()[1..].parse().unwrap();
        quick.expect_reply(&message);
    }
    assert_eq!(receivers, 1, "the slow subscriber is gone");
    assert_eq!(server.info("client_output_buffer_limit_disconnections"), 1);
    slow.rest();
}

#[test]
fn a_subscriber_that_leaves_is_forgotten() {
    let server = on_four_loops();
    for _ in 0..10 {
        let mut client = server.client();
        client
            .stream
            .write_all(&request(&["SUBSCRIBE", "c", "d"]))
            .unwrap();
        client.line();
    }
    crate::harness::wait_until("all subscriptions are gone", || {
        server.info("pubsub_channels") == 0 && server.info("connected_clients") == 1
    });
    server.client().expect(&["PUBLISH", "c", "m"], ":0\r\n");
}
