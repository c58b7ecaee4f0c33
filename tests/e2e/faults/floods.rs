//! Much at once: pipelines, floods of writes, commands over everything that is stored, an end under load.

use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hotcopy_tests::resp::{Client, ClientError, Reply};
use hotcopy_tests::servers::Server;
use rustix::process::Signal;

#[cfg(feature = "slow")]
use super::assert_serves;
use super::{MIB, SERVED_WITHIN, assert_grew_at_most, growth_during};

/// Loops of the servers here, and of the clients that witness what the others do to them.
const LOOPS: &str = "2";
const WITNESSES: usize = 4;

/// Reads on several connections, so that each loop has some, while `harm` is done, and asserts that none
/// waited too long.
fn assert_served_during(server: &Server, harm: impl FnOnce()) {
    let is_done = AtomicBool::new(false);
    let witness = || {
        let mut client = server.connect();
        let mut longest = Duration::ZERO;
        while !is_done.load(Ordering::Relaxed) {
            let started = Instant::now();
            client.command(&["GET", "witness"]).expect("a reply");
            longest = longest.max(started.elapsed());
            std::thread::sleep(Duration::from_millis(2));
        }
        longest
    };
    let longest = std::thread::scope(|scope| {
        let witnesses: Vec<_> = (0..WITNESSES).map(|_| scope.spawn(witness)).collect();
        harm();
        is_done.store(true, Ordering::Relaxed);
        let witnesses = witnesses.into_iter();
        let waits = witnesses.map(|witness| witness.join().expect("it was served"));
        waits.max().unwrap_or_default()
    });
    assert!(longest < SERVED_WITHIN, "served after {longest:?} only");
}

fn number(reply: Result<Reply, ClientError>) -> i64 {
    match reply.expect("a reply") {
        Reply::Integer(number) => number,
        other => panic!("not a number: {other}"),
    }
}

#[test]
fn a_pipeline_of_a_million_commands_is_answered_whole_and_disturbs_nobody() {
    const COMMANDS: usize = 1_000_000;
    let server = Server::hotcopy(&["--threads", LOOPS]);
    let mut flooding = server.connect();
    let mut sending = server_stream(&server);
    let growth = growth_during(&server, || {
        assert_served_during(&server, || {
            let mut receiving = sending.try_clone().expect("a second handle");
            let replies = std::thread::spawn(move || {
                let mut total = 0;
                let mut buffer = vec![0; 1 << 16];
                while let Ok(count @ 1..) = std::io::Read::read(&mut receiving, &mut buffer) {
                    total += count;
                }
                total
            });
            let some = b"*2\r\n$4\r\nINCR\r\n$1\r\nk\r\n*1\r\n$4\r\nPING\r\n".repeat(1_000);
            for _ in 0..COMMANDS / 2_000 {
                std::io::Write::write_all(&mut sending, &some).expect("the server reads");
            }
            sending.shutdown(Shutdown::Write).expect("it is connected");
            let numbers: usize = (1..=COMMANDS / 2)
                .map(|number| number.to_string().len() + ":\r\n".len())
                .sum();
            let expected = numbers + COMMANDS / 2 * "+PONG\r\n".len();
            assert_eq!(replies.join().expect("it only reads"), expected);
        });
    });
    assert_eq!(
        number(flooding.command(&["INCR", "k"])),
        COMMANDS as i64 / 2 + 1
    );
    assert_grew_at_most(growth, 96 * MIB);
}

fn server_stream(server: &Server) -> std::net::TcpStream {
    std::net::TcpStream::connect(format!("127.0.0.1:{}", server.port())).expect("a connection")
}

#[test]
fn requests_that_arrive_a_byte_at_a_time_are_answered_and_disturb_nobody() {
    const CLIENTS: usize = 50;
    let server = Server::hotcopy(&["--threads", LOOPS]);
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| server.connect()).collect();
    let growth = growth_during(&server, || {
        assert_served_during(&server, || {
            for byte in b"*3\r\n$3\r\nSET\r\n$4\r\nslow\r\n$5\r\nvalue\r\n" {
                for client in &mut clients {
                    client.send_raw(&[*byte]).expect("the server reads");
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
    });
    for client in &mut clients {
        assert_eq!(client.read_reply().expect("a reply").to_string(), "+OK");
    }
    assert_grew_at_most(growth, 8 * MIB);
}

/// What is read back after each write is what was written, whatever sizes the values have, and
/// of what is there every byte is right.
#[test]
fn at_the_memory_limit_under_mixed_sizes_what_was_just_acknowledged_is_there() {
    const LIMIT: u64 = 64 * MIB;
    let sizes = [
        10, 300, 5_000, 40_000, 17_000, 700_000, 1, 90_000, 2_500_000,
    ];
    let server = Server::hotcopy(&["--threads", LOOPS, "--max-memory", "64mb"]);
    let value = |index: usize| {
        let byte = b'a' + (index % 26) as u8;
        vec![byte; sizes[index % sizes.len()] + index % 7]
    };
    let growth = growth_during(&server, || {
        assert_served_during(&server, || {
            let mut client = server.connect();
            for index in 0..3_000 {
                let (key, value) = (format!("key:{index}"), value(index));
                let reply = client.command(&[b"SET".as_slice(), key.as_bytes(), &value]);
                assert_eq!(reply.expect("a reply").to_string(), "+OK");
                let reply = client.command(&["GET", &key]).expect("a reply");
                assert!(
                    reply.bytes() == Some(&value),
                    "{key} is not what was stored"
                );
            }
            let mut kept = 0;
            for index in 0..3_000 {
                let reply = client.command(&["GET", &format!("key:{index}")]);
                if let Reply::Bulk(bytes) = reply.expect("a reply") {
                    assert!(bytes == value(index), "key:{index} is not what was stored");
                    kept += bytes.len() as u64;
                }
            }
            assert!(kept > LIMIT / 2, "only {kept} bytes are kept");
        });
    });
    assert_grew_at_most(growth, LIMIT * 3 / 2);
}

#[test]
fn a_server_that_is_told_to_end_under_load_answers_what_it_took_and_ends() {
    const CLIENTS: usize = 16;
    let mut server = Server::hotcopy(&["--threads", LOOPS]);
    let clients: Vec<Client> = (0..CLIENTS).map(|_| server.connect()).collect();
    std::thread::scope(|scope| {
        let loads: Vec<_> = clients
            .into_iter()
            .enumerate()
            .map(|(client, connection)| {
                scope.spawn(move || write_until_the_end(client, connection))
            })
            .collect();
        std::thread::sleep(Duration::from_millis(300));
        let told = Instant::now();
        server.process.signal(Signal::TERM);
        let status = server.process.wait(Duration::from_secs(10));
        assert!(status.expect("it ends").success());
        assert!(told.elapsed() < Duration::from_secs(7));
        for load in loads {
            assert!(load.join().expect("every reply is whole") > 0);
        }
    });
}

/// Writes and reads replies until the server ends the connection; returns how many came. None is cut.
fn write_until_the_end(client: usize, mut connection: Client) -> usize {
    let value = vec![b'x'; 20_000];
    for written in 0.. {
        let key = format!("{client}:{written}");
        let reply = connection.command(&[b"SET".as_slice(), key.as_bytes(), &value]);
        match reply {
            Ok(reply) => assert_eq!(reply.to_string(), "+OK"),
            Err(ClientError::Closed | ClientError::Io(_)) => return written,
            Err(error) => panic!("{error}"),
        }
    }
    unreachable!("the loop has no end");
}

#[cfg(feature = "slow")]
#[test]
fn a_value_of_half_a_gigabyte_that_is_cut_off_half_way_leaves_nothing_and_disturbs_nobody() {
    const LEN: usize = 512 << 20;
    let server = Server::hotcopy(&["--threads", LOOPS]);
    let mut client = server.connect();
    let growth = growth_during(&server, || {
        assert_served_during(&server, || {
            let mut cut_off = server_stream(&server);
            let head = format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${LEN}\r\n");
            std::io::Write::write_all(&mut cut_off, head.as_bytes()).expect("the server reads");
            let part = vec![b'x'; 1 << 20];
            for _ in 0..LEN / 2 / part.len() {
                std::io::Write::write_all(&mut cut_off, &part).expect("the server reads");
            }
            drop(cut_off);
            // Until all of it is freed again.
            let deadline = Instant::now() + Duration::from_secs(10);
            while used_memory(&mut client) > MIB {
                assert!(Instant::now() < deadline, "what arrived stays in memory");
                std::thread::sleep(Duration::from_millis(20));
            }
        });
    });
    assert_eq!(number(client.command(&["EXISTS", "k"])), 0);
    assert_grew_at_most(growth, LEN as u64 / 2 + 32 * MIB);
}

#[cfg(feature = "slow")]
fn used_memory(client: &mut Client) -> u64 {
    let reply = client.command(&["INFO", "memory"]).expect("a reply");
    let text = String::from_utf8_lossy(reply.bytes().expect("a text")).into_owned();
    let mut lines = text.lines();
    let used = lines.find_map(|line| line.strip_prefix("used_memory:"));
    used.and_then(|used| used.parse().ok()).expect("a number")
}

#[cfg(feature = "slow")]
#[test]
fn keys_and_flushall_on_five_million_keys_disturb_nobody() {
    const KEYS: i64 = 5_000_000;
    let server = Server::hotcopy(&["--threads", LOOPS]);
    let mut client = server.connect();
    for first in (0..KEYS).step_by(1_000) {
        let mut mset = vec!["MSET".to_owned()];
        mset.extend((first..first + 1_000).flat_map(|key| [format!("key:{key}"), String::new()]));
        let reply = client.command(&mset).expect("a reply");
        assert_eq!(reply.to_string(), "+OK");
    }
    client
        .set_timeout(Duration::from_secs(60))
        .expect("a timeout can be set");
    assert_served_during(&server, || {
        // 60 MB of names.
        let reply = client.command(&["KEYS", "key:*9*9*"]).expect("a reply");
        let Reply::Array(names) = reply else {
            panic!("not a list of keys: {reply}");
        };
        let expected = (0..KEYS).filter(|key| key.to_string().matches('9').count() >= 2);
        assert_eq!(names.len(), expected.count());
        assert_eq!(number(client.command(&["DBSIZE"])), KEYS);
        let reply = client.command(&["FLUSHALL"]).expect("a reply");
        assert_eq!(reply.to_string(), "+OK");
        assert_eq!(number(client.command(&["DBSIZE"])), 0);
        let deadline = Instant::now() + Duration::from_secs(30);
        while used_memory(&mut client) > 64 * MIB {
            assert!(
                Instant::now() < deadline,
                "what was flushed stays in memory"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    assert_serves(&server);
}
