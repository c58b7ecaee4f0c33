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
