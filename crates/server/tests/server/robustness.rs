//! Clients that break the protocol, stop half-way, do not read, or are too many.

use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::harness::{TestServer, config, request, wait_until};
use hotcopy_server::Config;

#[test]
fn hostile_bytes_get_an_error_and_an_end_and_nobody_else_notices() {
    let server = TestServer::start(config());
    let mut bystander = server.client();
    for (bytes, error) in [
        (&b"*x\r\n"[..], "invalid multibulk length"),
        (b"*99999999999\r\n", "invalid multibulk length"),
        (b"*1\r\n:1\r\n", "expected '$', got ':'"),
        (b"*1\r\n$-1\r\n", "invalid bulk length"),
        (b"*1\r\n$99999999999\r\n", "invalid bulk length"),
        (b"get 'unbalanced\r\n", "unbalanced quotes in request"),
        (&[b'x'; 100_000], "too big inline request"),
    ] {
        let mut client = server.client();
        client.send(&["PING"]);
        client.stream.write_all(bytes).unwrap();
        let rest = client.rest();
        assert_eq!(rest, format!("+PONG\r\n-ERR Protocol error: {error}\r\n"));
        bystander.expect(&["PING"], "+PONG\r\n");
    }
}

#[test]
fn no_garbage_harms_the_server() {
    let server = TestServer::start(config());
    let mut random = fastrand::Rng::with_seed(7);
    let words: [&[u8]; 12] = [
        b"*", b"$", b"\r\n", b"1", b"3", b"-1", b"GET", b"SET", b"k", b"\"", b"\0", b"\xff",
    ];
    for _ in 0..300 {
        let mut client = server.client();
        let mut bytes = Vec::new();
        for _ in 0..random.usize(..60) {
            bytes.extend_from_slice(random.choice(&words).unwrap());
        }
        // The server may have ended the connection before all is written.
        let _ = client.stream.write_all(&bytes);
    }
    server.client().expect(&["PING"], "+PONG\r\n");
    wait_until("all are gone", || server.info("connected_clients") == 1);
    assert_eq!(server.info("command_panics"), 0);
    assert_eq!(server.info("mem_clients_requests"), 0);
}

#[test]
fn half_requests_take_the_memory_of_what_arrived_not_of_what_they_announce() {
    let server = TestServer::start(config());
    let mut clients: Vec<_> = (0..100).map(|_| server.client()).collect();
    for client in &mut clients {
        let announced = b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$500000000\r\nonly the beginning";
        client.stream.write_all(announced).unwrap();
    }
    wait_until("all beginnings are there", || {
        server.info("mem_clients_requests") >= 100 * 40
    });
    assert!(server.info("mem_clients_requests") < 100 * 1024);
    drop(clients);
    wait_until("all is given back", || {
        server.info("mem_clients_requests") == 0
    });
}

#[test]
fn unfinished_requests_of_all_clients_together_are_bounded() {
    let limit = 8 * 1024 * 1024;
    let server = TestServer::start(Config {
        unfinished_request_bytes: limit,
        ..config()
    });
    let mut refused = 0;
    let mut clients = Vec::new();
    for _ in 0..20 {
        let mut client = server.client();
        let mut bytes = b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$500000000\r\n".to_vec();
        bytes.resize(1_000_000, b'x');
        refused += usize::from(client.stream.write_all(&bytes).is_err());
        clients.push(client);
    }
    wait_until("some are disconnected", || {
        server.info("client_query_buffer_limit_disconnections") > 0
    });
    assert!(server.info("mem_clients_requests") <= limit as u64 + 2_000_000);
    assert!(refused < 20);
    // A request that arrives whole needs none of it.
    server.client().expect(&["SET", "k", "v"], "+OK\r\n");
}

#[test]
fn a_client_that_never_reads_costs_a_bounded_amount_and_is_disconnected_in_the_end() {
    let limit = 1_000_000;
    let server = TestServer::start(Config {
        client_output_bytes: limit,
        write_timeout: Duration::from_secs(2),
        ..config()
    });
    let mut bystander = server.client();
    let value = "x".repeat(100_000);
    bystander.expect(&["SET", "k", &value], "+OK\r\n");
    let silent = TcpStream::connect(server.address).unwrap();
    silent.set_nonblocking(true).unwrap();
    let gets = request(&["GET", "k"]).repeat(1_000);
    let mut sent = 0;
    // Goes on until the server takes no more, because it does not read from who does not read.
    wait_until("the server stops reading", || {
        loop {
            match (&silent).write(&gets[sent % gets.len()..]) {
                Ok(count) => sent += count,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    break;
                }
            }
        }
        bystander.expect(&["PING"], "+PONG\r\n");
        server.info("mem_clients_outputs") >= limit as u64
    });
    assert!(server.info("mem_clients_outputs") < limit as u64 + 200_000);
    wait_until("it is disconnected", || {
        server.info("client_output_buffer_limit_disconnections") == 1
    });
    assert_eq!(server.info("mem_clients_outputs"), 0);
    bystander.expect(&["STRLEN", "k"], ":100000\r\n");
}

#[test]
fn a_client_that_writes_a_whole_pipeline_before_it_reads_gets_every_reply() {
    let server = TestServer::start(config());
    let mut client = server.client();
    client.expect(&["SET", "k", &"x".repeat(1_000)], "+OK\r\n");
    // Requests and replies both exceed what the kernel holds for a connection.
    let count = 20_000;
    let gets = request(&["GET", "k"]).repeat(count);
    client.stream.write_all(&gets).unwrap();
    for _ in 0..count {
        assert_eq!(client.bulk().len(), 1_000);
    }
}

#[test]
fn replies_in_flight_are_bounded_over_all_clients() {
    let server = TestServer::start(Config {
        total_output_bytes: 4_000_000,
        crowded_output_bytes: 100_000,
        ..config()
    });
    let mut client = server.client();
    client.expect(&["SET", "k", &"x".repeat(100_000)], "+OK\r\n");
    let mut silent: Vec<_> = (0..20).map(|_| server.client()).collect();
    for client in &mut silent {
        client
            .stream
            .write_all(&request(&["GET", "k"]).repeat(50))
            .unwrap();
    }
    wait_until("replies wait", || {
        server.info("mem_clients_outputs") > 4_000_000
    });
    // Each of the others may have one reply begun beyond it, and one turn of those before.
    let bound = 4_000_000 + 20 * 200_000 + 5_000_000;
    assert!(server.info("mem_clients_outputs") < bound);
    for client in &mut silent {
        for _ in 0..50 {
            assert_eq!(client.bulk().len(), 100_000);
        }
    }
    wait_until("all is delivered", || {
        server.info("mem_clients_outputs") == 0
    });
}

#[test]
fn clients_beyond_the_limit_are_refused_with_a_reason() {
    let server = TestServer::start(Config {
        max_clients: 3,
        ..config()
    });
    let mut clients: Vec<_> = (0..3).map(|_| server.client()).collect();
    for client in &mut clients {
        client.expect(&["PING"], "+PONG\r\n");
    }
    let refusal = server.client().rest();
    assert_eq!(refusal, "-ERR max number of clients reached\r\n");
    drop(clients.pop());
    wait_until("there is a place again", || {
        let mut client = server.client();
        client.stream.write_all(&request(&["PING"])).is_ok() && client.line() == "+PONG"
    });
}

#[test]
fn idle_connections_hold_no_buffers() {
    let server = TestServer::start(config());
    let mut clients: Vec<_> = (0..400).map(|_| server.client()).collect();
    for client in &mut clients {
        client.expect(&["SET", "k", &"x".repeat(30_000)], "+OK\r\n");
        client.send(&["GET", "k"]);
        client.bulk();
    }
    assert_eq!(server.info("connected_clients"), 401);
    assert_eq!(server.info("mem_clients_requests"), 0);
    assert_eq!(server.info("mem_clients_outputs"), 0);
}

#[test]
fn a_client_that_closes_its_sending_side_still_gets_its_replies() {
    let server = TestServer::start(config());
    let mut client = server.client();
    client.expect(&["SET", "k", &"x".repeat(3_000_000)], "+OK\r\n");
    client.send(&["GET", "k"]);
    client.send(&["QUIT"]);
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(client.bulk().len(), 3_000_000);
    assert_eq!(client.rest(), "+OK\r\n");
}

#[test]
fn a_browser_that_was_made_to_send_commands_is_cut_off() {
    let server = TestServer::start(config());
    let mut client = server.client();
    let post = b"POST / HTTP/1.1\r\nHost: x\r\n\r\nSET k v\r\n";
    client.stream.write_all(post).unwrap();
    assert_eq!(client.rest(), "");
    server.client().expect(&["GET", "k"], "$-1\r\n");
}

/// How often a client is answered on the loop where another has this sent and its replies read.
fn pings_beside(requests: Vec<u8>, reply_bytes: usize) -> usize {
    let server = TestServer::start(Config {
        threads: 1,
        ..config()
    });
    let mut busy = server.client();
    busy.expect(&["SET", "k", &"x".repeat(5_000_000)], "+OK\r\n");
    let mut small = server.client();
    small.expect(&["PING"], "+PONG\r\n");
    let mut sender = busy.stream.try_clone().unwrap();
    let sending = std::thread::spawn(move || sender.write_all(&requests).unwrap());
    let reading = std::thread::spawn(move || {
        let mut replies = vec![0; reply_bytes];
        std::io::Read::read_exact(&mut busy.stream, &mut replies).unwrap();
    });
    let mut pings = 0;
    while !reading.is_finished() {
        small.expect(&["PING"], "+PONG\r\n");
        pings += 1;
    }
    sending.join().unwrap();
    reading.join().unwrap();
    pings
}

#[test]
fn a_long_pipeline_does_not_keep_another_client_of_the_loop_waiting() {
    let count = 200_000;
    let pings = pings_beside(request(&["PING"]).repeat(count), count * 7);
    assert!(pings > 20, "{pings}");
}

#[test]
fn large_replies_do_not_keep_another_client_of_the_loop_waiting() {
    let count = 20;
    let reply_bytes = count * (5_000_000 + "$5000000\r\n\r\n".len());
    let pings = pings_beside(request(&["GET", "k"]).repeat(count), reply_bytes);
    assert!(pings > 20, "{pings}");
}
