//! Many connections that do nothing, or half of something.

use hotcopy_tests::resp::Client;
use hotcopy_tests::servers::Server;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{MIB, assert_answers, assert_grew_at_most, assert_serves, growth_during};

/// What an idle connection may cost the server in resident memory: its structure, and the buffer that its first request needed.
const BYTES_PER_IDLE_CONNECTION: u64 = 4 * 1024;

/// Allocator and page granularity, independent of the number of connections.
const SLACK: u64 = 4 * MIB;

/// Raises our own limit of open files, which usually is 1,024; the server is to raise its own.
fn allow_open_files(count: u64) {
    let limit = getrlimit(Resource::Nofile);
    assert!(
        limit.maximum.is_none_or(|maximum| maximum >= count),
        "this test needs {count} open files; `ulimit -H -n` allows {:?}",
        limit.maximum
    );
    if limit.current.is_some_and(|current| current < count) {
        let raised = Rlimit {
            current: Some(count),
            maximum: limit.maximum,
        };
        setrlimit(Resource::Nofile, raised).expect("below the maximum it may be raised");
    }
}

fn idle_connections_are_cheap(count: usize) {
    // The server inherits the limit that we were started with.
    let server = Server::hotcopy(&["--threads", "2"]);
    allow_open_files(count as u64 + 100);
    let mut clients = Vec::new();
    let growth = growth_during(&server, || {
        clients.extend((0..count).map(|_| server.connect()));
        // All of them are alive, not only accepted by the kernel.
        for client in &mut clients {
            assert_answers(client);
        }
        assert_serves(&server);
    });
    assert_grew_at_most(growth, BYTES_PER_IDLE_CONNECTION * count as u64 + SLACK);
}

#[test]
fn a_thousand_idle_connections_disturb_nobody_and_cost_little() {
    idle_connections_are_cheap(1_000);
}

#[test]
fn fifteen_thousand_idle_connections_or_as_many_as_there_may_be_disturb_nobody_and_cost_little() {
    // The server has one file for each, and so has this process; both need some others.
    let allowed = getrlimit(Resource::Nofile).maximum;
    let count = allowed.map_or(u64::MAX, |files| files.saturating_sub(200));
    let count = usize::try_from(count).map_or(15_000, |count| count.min(15_000));
    idle_connections_are_cheap(count);
}

#[test]
fn an_announced_length_reserves_no_memory() {
    const CONNECTIONS: usize = 200;
    let server = Server::hotcopy(&["--threads", "2"]);
    let mut clients: Vec<Client> = (0..CONNECTIONS).map(|_| server.connect()).collect();
    let growth = growth_during(&server, || {
        for client in &mut clients {
            // 200 times 400 MB announced, a few bytes sent.
            let half = b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$400000000\r\nonly the beginning";
            client.send_raw(half).expect("the server reads");
        }
        assert_serves(&server);
    });
    assert_grew_at_most(growth, 32 * MIB);
}

#[test]
fn an_announced_number_of_arguments_reserves_no_memory() {
    const CONNECTIONS: usize = 200;
    let server = Server::hotcopy(&["--threads", "2"]);
    let mut clients: Vec<Client> = (0..CONNECTIONS).map(|_| server.connect()).collect();
    let growth = growth_during(&server, || {
        for client in &mut clients {
            let half = b"*1048576\r\n$3\r\nDEL\r\n$1\r\nk\r\n";
            client.send_raw(half).expect("the server reads");
        }
        assert_serves(&server);
    });
    assert_grew_at_most(growth, 32 * MIB);
}

#[test]
fn half_requests_held_open_disturb_nobody_and_can_be_finished() {
    const CONNECTIONS: usize = 500;
    let server = Server::hotcopy(&["--threads", "2"]);
    let mut clients: Vec<Client> = (0..CONNECTIONS).map(|_| server.connect()).collect();
    for client in &mut clients {
        client
            .send_raw(b"*2\r\n$4\r\nECHO\r\n$5\r\nhel")
            .expect("the server reads");
    }
    assert_serves(&server);
    for client in &mut clients {
        client.send_raw(b"lo\r\n").expect("the server reads");
        let reply = client.read_reply().expect("a reply");
        assert_eq!(reply.to_string(), "\"hello\"");
    }
}

#[test]
fn connections_that_come_and_go_leave_nothing_behind() {
    let server = Server::hotcopy(&["--threads", "2"]);
    let cycle = || {
        for _ in 0..2_000 {
            assert_answers(&mut server.connect());
        }
    };
    cycle();
    let growth = growth_during(&server, cycle);
    assert_serves(&server);
    assert_grew_at_most(growth, SLACK);
}
