//! Clients that ask for much and read nothing, or late.

use std::time::{Duration, Instant};

use hotcopy_tests::resp::Client;
use hotcopy_tests::servers::Server;

use super::{
    MIB, assert_answers, assert_grew_at_most, assert_in_time, assert_serves, growth_during,
};

/// What waits for one client may be 64 MiB, the server's default limit; half as much for the buffers around it.
const WAITING_OUTPUT: u64 = 96 * MIB;

fn server_with_a_value_of(bytes: usize) -> Server {
    let server = Server::hotcopy(&["--threads", "2"]);
    let value = vec![b'x'; bytes];
    let reply = server
        .connect()
        .command(&[b"SET".as_slice(), b"big", &value]);
    assert_eq!(reply.expect("a reply").to_string(), "+OK");
    server
}

/// Sends `request` again and again until the server takes no more or `limit` are sent.
fn flood(client: &mut Client, request: &[u8], limit: usize) {
    client
        .set_timeout(Duration::from_millis(300))
        .expect("a timeout can be set");
    for _ in 0..limit {
        if client.send_raw(request).is_err() {
            break;
        }
    }
}

#[test]
fn a_client_that_asks_for_big_values_and_never_reads_costs_bounded_memory() {
    let server = server_with_a_value_of(5_000_000);
    let mut witness = server.connect();
    let mut deaf = server.connect();
    let growth = growth_during(&server, || {
        // 10,000 replies of 5 MB are 50 GB.
        flood(&mut deaf, b"*2\r\n$3\r\nGET\r\n$3\r\nbig\r\n", 10_000);
        assert_answers(&mut witness);
        assert_serves(&server);
    });
    assert_grew_at_most(growth, WAITING_OUTPUT);
}

#[test]
fn a_client_that_asks_for_small_values_and_never_reads_costs_bounded_memory() {
    let server = server_with_a_value_of(100);
    let mut witness = server.connect();
    let mut deaf = server.connect();
    let requests = b"*2\r\n$3\r\nGET\r\n$3\r\nbig\r\n".repeat(1_000);
    let growth = growth_during(&server, || {
        // Up to 5 million replies of 108 bytes, 540 MB.
        flood(&mut deaf, &requests, 5_000);
        assert_answers(&mut witness);
        assert_serves(&server);
    });
    assert_grew_at_most(growth, WAITING_OUTPUT);
}

#[test]
fn one_request_for_gigabytes_costs_bounded_memory_and_disturbs_nobody() {
    let server = server_with_a_value_of(5_000_000);
    let mut witness = server.connect();
    let mut deaf = server.connect();
    // 2,000 times the same 5 MB in one reply of 10 GB.
    let mut request = vec!["MGET"];
    request.extend(["big"; 2_000]);
    let growth = growth_during(&server, || {
        deaf.send(&request).expect("the server reads");
        for _ in 0..50 {
            assert_answers(&mut witness);
        }
    });
    assert_grew_at_most(growth, WAITING_OUTPUT);
}

#[test]
fn deaf_clients_that_ask_for_many_small_values_in_one_request_cost_what_all_may_have_waiting() {
    const ALL_WAITING: u64 = 512 * MIB;
    let server = server_with_a_value_of(500);
    let mut witness = server.connect();
    let mut deaf: Vec<Client> = (0..12).map(|_| server.connect()).collect();
    // 150 MB of replies for each, 1.8 GB in all.
    let mut request = vec!["MGET"];
    request.extend(std::iter::repeat_n("big", 300_000));
    let growth = growth_during(&server, || {
        for client in &mut deaf {
            client.send(&request).expect("the server reads");
            assert_answers(&mut witness);
        }
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(50));
            assert_answers(&mut witness);
        }
    });
    // An eighth for the requests and for what surrounds the bytes that wait.
    assert_grew_at_most(growth, ALL_WAITING * 9 / 8);
}

#[test]
fn deaf_clients_that_list_all_keys_again_and_again_cost_what_all_may_have_waiting() {
    const ALL_WAITING: u64 = 512 * MIB;
    let server = Server::hotcopy(&["--threads", "2"]);
    let mut witness = server.connect();
    let name = "x".repeat(100_000);
    for index in 0..300 {
        let key = format!("{index}:{name}");
        witness.command(&["SET", &key, ""]).expect("a reply");
    }
    let mut deaf: Vec<Client> = (0..20).map(|_| server.connect()).collect();
    let growth = growth_during(&server, || {
        // 30 MB each time, 6 GB in all.
        for client in &mut deaf {
            client
                .send_raw(&b"KEYS *\r\n".repeat(10))
                .expect("the server reads");
            assert_answers(&mut witness);
        }
    });
    // What one client may have waiting may be passed by one reply.
    assert_grew_at_most(growth, ALL_WAITING + 256 * MIB);
}

#[test]
fn many_clients_that_never_read_disturb_nobody() {
    let server = server_with_a_value_of(1_000_000);
    let mut witness = server.connect();
    let mut deaf: Vec<Client> = (0..50).map(|_| server.connect()).collect();
    let growth = growth_during(&server, || {
        for client in &mut deaf {
            for _ in 0..20 {
                client.send(&["GET", "big"]).expect("the server reads");
            }
        }
        for _ in 0..50 {
            assert_answers(&mut witness);
        }
    });
    assert_grew_at_most(growth, WAITING_OUTPUT);
}

#[test]
fn a_subscriber_that_never_reads_costs_bounded_memory_and_disturbs_nobody() {
    let server = Server::hotcopy(&["--threads", "2"]);
    let mut deaf = server.connect();
    deaf.send(&["SUBSCRIBE", "news"]).expect("the server reads");
    let mut publisher = server.connect();
    let message = vec![b'x'; 1_000_000];
    let growth = growth_during(&server, || {
        for _ in 0..300 {
            let started = Instant::now();
            publisher
                .command(&[b"PUBLISH".as_slice(), b"news", &message])
                .expect("a reply");
            assert_in_time(started);
        }
        assert_serves(&server);
    });
    assert_grew_at_most(growth, WAITING_OUTPUT);
}

#[test]
fn a_client_that_reads_late_gets_every_byte_in_order() {
    let server = server_with_a_value_of(3_000_000);
    let mut late = server.connect();
    for _ in 0..10 {
        late.send(&["STRLEN", "big"]).expect("the server reads");
        late.send(&["GET", "big"]).expect("the server reads");
    }
    for _ in 0..10 {
        assert_eq!(late.read_reply().expect("a reply").to_string(), ":3000000");
        std::thread::sleep(Duration::from_millis(20));
        let reply = late.read_reply().expect("a reply");
        let value = reply.bytes().expect("a value");
        assert!(value.len() == 3_000_000 && value.iter().all(|&byte| byte == b'x'));
    }
}

/// All requests that have not arrived whole may together take 1 GiB, the server's default limit.
#[cfg(feature = "slow")]
#[test]
fn unfinished_requests_of_gigabytes_cost_bounded_memory() {
    const UNFINISHED: u64 = 1024 * MIB;
    let server = Server::hotcopy(&["--threads", "2"]);
    let mut witness = server.connect();
    let mut clients: Vec<Client> = (0..40).map(|_| server.connect()).collect();
    let part = vec![b'x'; 64 << 20];
    let growth = growth_during(&server, || {
        for client in &mut clients {
            let head = b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$500000000\r\n";
            client.send_raw(head).expect("the server reads");
            // Beyond the limit the server may disconnect us.
            let _ = client.send_raw(&part);
            assert_answers(&mut witness);
        }
        assert_serves(&server);
    });
    assert_grew_at_most(growth, UNFINISHED * 5 / 4);
}

#[test]
fn values_written_beyond_the_memory_limit_leave_resident_memory_bounded() {
    const LIMIT: u64 = 64 * MIB;
    let server = Server::hotcopy(&["--max-memory", "64mb"]);
    let mut client = server.connect();
    let value = vec![b'x'; 10_000];
    let growth = growth_during(&server, || {
        // 400 MB in all.
        for index in 0..40_000 {
            let key = format!("key:{index}");
            let reply = client.command(&[b"SET".as_slice(), key.as_bytes(), &value]);
            assert_eq!(reply.expect("a reply").to_string(), "+OK");
        }
    });
    assert_serves(&server);
    // Half as much again for what the allocator holds beyond the bytes that are accounted.
    assert_grew_at_most(growth, LIMIT * 3 / 2);
}
