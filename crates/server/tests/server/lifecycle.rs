//! Starting, stopping, and the Unix socket's file.

use std::os::unix::net::{UnixListener, UnixStream};

use crate::harness::{Client, TestServer, config, request};
use hotcopy_server::{Config, Server, ServerError};

fn on_unix(path: &std::path::Path) -> Config {
    Config {
        unix: Some(path.to_owned()),
        ..config()
    }
}

#[test]
fn a_unix_socket_serves_and_its_file_goes_with_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.sock");
    let mut server = TestServer::start(on_unix(&path));
    let stream = UnixStream::connect(&path).unwrap();
    Client { stream }.expect(&["SET", "k", "v"], "+OK\r\n");
    server.client().expect(&["GET", "k"], "$1\r\nv\r\n");
    server.stop();
    assert!(!path.exists());
}

#[test]
fn a_socket_that_a_killed_server_left_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.sock");
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let _server = TestServer::start(on_unix(&path));
    let stream = UnixStream::connect(&path).unwrap();
    Client { stream }.expect(&["PING"], "+PONG\r\n");
}

#[test]
fn what_is_in_the_way_of_a_socket_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.sock");
    let _other = UnixListener::bind(&path).unwrap();
    let refused = Server::bind(on_unix(&path));
    assert!(matches!(refused, Err(ServerError::UnixSocketInUse { .. })));
    let file = folder.path().join("file");
    std::fs::write(&file, "precious").unwrap();
    let refused = Server::bind(on_unix(&file));
    assert!(matches!(refused, Err(ServerError::NotASocket { .. })));
    assert_eq!(std::fs::read(&file).unwrap(), b"precious");
    let refused = Server::bind(on_unix(&folder.path().join("no/such/folder")));
    assert!(matches!(refused, Err(ServerError::BindUnix { .. })));
}

#[test]
fn an_address_in_use_and_nothing_to_listen_on_are_errors_that_say_so() {
    let server = TestServer::start(config());
    let refused = Server::bind(Config {
        port: Some(server.address.port()),
        ..config()
    });
    let error = refused.err().unwrap().to_string();
    assert!(error.contains(&server.address.to_string()), "{error}");
    let refused = Server::bind(Config {
        port: None,
        ..config()
    });
    assert!(matches!(refused, Err(ServerError::NothingToListenOn)));
}

#[test]
fn a_stopping_server_delivers_what_it_has_computed() {
    let mut server = TestServer::start(config());
    let mut client = server.client();
    let value = "x".repeat(2_000_000);
    client.expect(&["SET", "k", &value], "+OK\r\n");
    client.send(&["GET", "k"]);
    // Some of the reply has arrived, so it is computed; more of it than the kernel holds is not read.
    assert_eq!(client.line(), "$2000000");
    let reading = std::thread::spawn(move || client.rest().len());
    server.stop();
    assert_eq!(reading.join().unwrap(), 2_000_002);
}

#[test]
fn a_server_that_was_told_to_stop_before_it_runs_ends_at_once() {
    let server = Server::bind(config()).unwrap();
    let stop = server.stop_handle();
    stop.stop();
    server.run().unwrap();
    stop.stop();
}

#[test]
fn clients_that_do_not_read_do_not_keep_a_server_from_stopping() {
    let mut server = TestServer::start(Config {
        stop_grace: std::time::Duration::from_millis(100),
        ..config()
    });
    let mut client = server.client();
    let value = "x".repeat(20_000_000);
    client.expect(&["SET", "k", &value], "+OK\r\n");
    std::io::Write::write_all(&mut client.stream, &request(&["GET", "k"])).unwrap();
    client.line();
    server.stop();
}

#[test]
fn a_stopping_server_answers_all_that_has_arrived() {
    // As many as a socket takes, so that all of them have arrived.
    const REQUESTS: usize = 4_000;
    let mut server = TestServer::start(config());
    let mut clients: Vec<_> = (0..4).map(|_| server.client()).collect();
    let pipeline = request(&["PING"]).repeat(REQUESTS);
    for client in &mut clients {
        // The server knows the connection.
        client.expect(&["PING"], "+PONG\r\n");
        std::io::Write::write_all(&mut client.stream, &pipeline).unwrap();
    }
    let reading = clients
        .into_iter()
        .map(|mut client| std::thread::spawn(move || client.rest().matches("+PONG\r\n").count()));
    let reading: Vec<_> = reading.collect();
    server.stop();
    for reading in reading {
        assert_eq!(reading.join().unwrap(), REQUESTS);
    }
}

#[test]
fn a_client_that_goes_on_asking_does_not_keep_a_server_from_stopping() {
    let mut server = TestServer::start(Config {
        stop_grace: std::time::Duration::from_millis(200),
        ..config()
    });
    let mut client = server.client();
    let (mut stream, mut replies) = (client.stream.try_clone().unwrap(), 0);
    let pipeline = request(&["PING"]).repeat(1_000);
    let asking =
        std::thread::spawn(
            move || {
                while std::io::Write::write_all(&mut stream, &pipeline).is_ok() {}
            },
        );
    let reading = std::thread::spawn(move || {
        replies += client.rest().len();
        replies
    });
    std::thread::sleep(std::time::Duration::from_millis(100));
    server.stop();
    asking.join().unwrap();
    assert!(reading.join().unwrap() > 0);
}

#[test]
fn idle_clients_are_disconnected_and_those_that_wait_for_messages_are_not() {
    let timeout = std::time::Duration::from_millis(400);
    let server = TestServer::start(Config {
        idle_timeout: Some(timeout),
        ..config()
    });
    let started = std::time::Instant::now();
    let mut idle: Vec<_> = (0..600).map(|_| server.client()).collect();
    let mut subscriber = server.client();
    subscriber.expect(
        &["SUBSCRIBE", "news"],
        "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n",
    );
    let mut busy = server.client();
    while started.elapsed() < 4 * timeout {
        busy.expect(&["PING"], "+PONG\r\n");
        std::thread::sleep(timeout / 8);
    }
    for client in &mut idle {
        assert_eq!(client.rest(), "");
    }
    assert!(subscriber.is_silent());
    let mut publisher = server.client();
    publisher.expect(&["PUBLISH", "news", "hello"], ":1\r\n");
}
