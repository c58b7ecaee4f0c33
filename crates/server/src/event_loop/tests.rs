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
