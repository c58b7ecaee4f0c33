//! The order in which connections are served, round by round.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use super::*;
use crate::{Config, Server};

fn event_loop() -> EventLoop {
    let config = Config {
        port: Some(0),
        threads: 1,
        ..Config::default()
    };
    let (shared, mut polls) = Server::bind(config).unwrap().into_parts();
    EventLoop::new(0, polls.remove(0), shared)
}

/// A client of the loop, as the listener would have placed it there.
fn connect(event_loop: &mut EventLoop) -> TcpStream {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (accepted, _) = listener.accept().unwrap();
    accepted.set_nonblocking(true).unwrap();
    client.set_nonblocking(true).unwrap();
    event_loop.adopt(Socket::Tcp(mio::net::TcpStream::from_std(accepted)));
    client
}

/// Bytes that have arrived.
fn received(client: &mut TcpStream) -> usize {
    let (mut total, mut buffer) = (0, vec![0; 1 << 20]);
    while let Ok(count @ 1..) = client.read(&mut buffer) {
        total += count;
    }
    total
}

#[test]
fn a_small_request_waits_for_one_piece_however_many_clients_read_large_replies() {
    const READERS: usize = 20;
    let mut event_loop = event_loop();
    let mut events = Events::with_capacity(EVENTS_PER_POLL);
    let mut small = connect(&mut event_loop);
    let mut readers: Vec<_> = (0..READERS).map(|_| connect(&mut event_loop)).collect();
    let value = vec![b'x'; 20_000_000];
    let store = &event_loop.shared.store;
    store
        .set(
            store.database(0).unwrap(),
            b"k",
            &value[..],
            hotcopy_engine::bytes::SetOptions::default(),
            UnixMillis::now(),
        )
        .unwrap();
    for reader in &mut readers {
        reader.write_all(b"GET k\r\nGET k\r\n").unwrap();
    }
    // Until nobody's socket takes more.
    while event_loop.waiting.len() < READERS || event_loop.timeout() == Some(Duration::ZERO) {
        event_loop.round(&mut events).unwrap();
    }
    // Now all of them can be written to, and beside that there is a small request.
    for reader in &mut readers {
        received(reader);
    }
    small.write_all(b"PING\r\n").unwrap();
    std::thread::sleep(Duration::from_millis(50));
    event_loop.round(&mut events).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(received(&mut small), "+PONG\r\n".len());
    let served = readers.iter_mut().map(received).filter(|count| *count > 0);
    assert_eq!(served.count(), 1);
    // And none of them is forgotten.
    for _ in 1..READERS {
        event_loop.round(&mut events).unwrap();
    }
    std::thread::sleep(Duration::from_millis(50));
    let served = readers.iter_mut().map(received).filter(|count| *count > 0);
    assert_eq!(served.count(), READERS - 1);
}

/// Puts so many keys there: `k0`, `k1`, ...
fn fill(event_loop: &EventLoop, keys: usize) {
    let store = &event_loop.shared.store;
    let (database, now) = (store.database(0).unwrap(), UnixMillis::now());
    for index in 0..keys {
        let key = format!("k{index}");
        let options = hotcopy_engine::bytes::SetOptions::default();
        store
            .set(database, key.as_bytes(), b"v", options, now)
            .unwrap();
    }
}

fn naming_all_keys(command: &str, keys: usize) -> String {
    let names = (0..keys).map(|index| format!("k{index}"));
    let words: Vec<_> = [command.to_owned()].into_iter().chain(names).collect();
    let bulk = |word: &String| format!("${}\r\n{word}\r\n", word.len());
    let arguments: String = words.iter().map(bulk).collect();
    format!("*{}\r\n{arguments}", words.len())
}

/// Goes on until `client` has sent `request` and the loop is in the middle of working on it.
fn send_until_at_work(event_loop: &mut EventLoop, client: &mut TcpStream, request: &[u8]) {
    let mut events = Events::with_capacity(EVENTS_PER_POLL);
    let mut sent = 0;
    let is_at_work = |event_loop: &EventLoop| {
        let mut connections = event_loop.connections.iter();
        connections.any(|(_, it)| it.session.unfinished.is_some())
    };
    while sent < request.len() || !is_at_work(event_loop) {
        sent += client.write(&request[sent..]).unwrap_or(0);
        event_loop.round(&mut events).unwrap();
    }
}

/// Goes on until so much has arrived, and asserts that it is no more.
fn finish(event_loop: &mut EventLoop, client: &mut TcpStream, bytes: usize) {
    let mut events = Events::with_capacity(EVENTS_PER_POLL);
    let mut total = 0;
    while total < bytes {
        event_loop.round(&mut events).unwrap();
        total += received(client);
    }
    assert_eq!(total, bytes);
}

#[test]
fn a_small_request_waits_for_one_step_of_a_command_over_many_keys() {
    const KEYS: usize = 20_000;
    let values = KEYS * "$1\r\nv\r\n".len();
    let names: usize = (0..KEYS)
        .map(|index| {
            let len = format!("k{index}").len();
            format!("${len}\r\n\r\n").len() + len
        })
        .sum();
    let header = "*20000\r\n".len();
    for (command, reply) in [
        ("EXISTS", ":20000\r\n".len()),
        ("MGET", header + values),
        ("KEYS", header + names),
        ("DEL", ":20000\r\n".len()),
    ] {
        let mut event_loop = event_loop();
        fill(&event_loop, KEYS);
        let mut small = connect(&mut event_loop);
        let mut large = connect(&mut event_loop);
        let request = match command {
            "KEYS" => "KEYS *\r\n".to_owned(),
            _ => naming_all_keys(command, KEYS),
        };
        send_until_at_work(&mut event_loop, &mut large, request.as_bytes());
        for _ in 0..3 {
            small.write_all(b"PING\r\n").unwrap();
            std::thread::sleep(Duration::from_millis(20));
            let mut events = Events::with_capacity(EVENTS_PER_POLL);
            event_loop.round(&mut events).unwrap();
            std::thread::sleep(Duration::from_millis(20));
            assert_eq!(received(&mut small), "+PONG\r\n".len(), "{command}");
        }
        finish(&mut event_loop, &mut large, reply);
    }
}

#[test]
fn work_is_done_and_not_answered_for_who_wants_no_replies() {
    const KEYS: usize = 2_000;
    let mut event_loop = event_loop();
    fill(&event_loop, KEYS);
    let mut client = connect(&mut event_loop);
    let silent = "CLIENT REPLY OFF\r\n".to_owned() + &naming_all_keys("DEL", KEYS);
    send_until_at_work(&mut event_loop, &mut client, silent.as_bytes());
    client
        .write_all(b"KEYS *\r\nCLIENT REPLY ON\r\nDBSIZE\r\n")
        .unwrap();
    // Only what was asked for since.
    finish(&mut event_loop, &mut client, "+OK\r\n:0\r\n".len());
}
