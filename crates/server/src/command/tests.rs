//! What holds for the table as a whole, and a command that panics for the test of what then happens.

use std::collections::HashSet;

use std::io::{Read, Write};
use std::net::TcpStream;

use super::table::{Command, Flags, TABLE};
use crate::{Config, Server};

pub(super) const COMMANDS: &[Command] = &[Command::new("panic-for-test", 1, |context, _| {
    context.reply().simple("half a reply");
    panic!("asked for by a test");
})];

#[test]
fn every_command_is_described_and_found_by_its_name_in_any_case() {
    let mut seen = HashSet::new();
    for entry in &TABLE.entries {
        let name = entry.full_name();
        if name == "panic-for-test" {
            continue;
        }
        assert!(seen.insert(name), "{name} is listed twice");
        let found = TABLE.find(name.to_uppercase().as_bytes()).unwrap();
        assert_eq!(found.full_name(), name);
        assert!(!entry.command.summary.is_empty(), "{name} has no summary");
        let keys = entry.command.keys;
        assert_eq!(keys.first == 0, keys.access.is_empty(), "{name}");
        let flags = entry.command.flags;
        let both = flags.contains(Flags::READONLY) && flags.contains(Flags::WRITE);
        assert!(!both, "{name} reads and writes");
    }
}

#[test]
fn names_longer_than_any_command_are_unknown() {
    assert!(TABLE.find(&[b'g'; 10_000]).is_none());
    assert!(TABLE.find(b"client|nothing").is_none());
    assert!(TABLE.find(b"").is_none());
}

#[test]
fn a_panic_in_a_handler_ends_that_connection_with_an_error_and_no_other() {
    let config = Config {
        port: Some(0),
        threads: 1,
        ..Config::default()
    };
    let server = Server::bind(config).unwrap();
    let address = server.tcp_addr().unwrap();
    let stop = server.stop_handle();
    let running = std::thread::spawn(|| server.run());
    let mut bystander = TcpStream::connect(address).unwrap();
    let mut client = TcpStream::connect(address).unwrap();
    client
        .write_all(b"PING\r\nPANIC-FOR-TEST\r\nPING\r\n")
        .unwrap();
    let mut replies = String::new();
    client.read_to_string(&mut replies).unwrap();
    let error = "-ERR internal error, closing the connection\r\n";
    assert_eq!(replies, format!("+PONG\r\n{error}"));
    bystander.write_all(b"PING\r\n").unwrap();
    let mut pong = [0; 7];
    bystander.read_exact(&mut pong).unwrap();
    assert_eq!(&pong, b"+PONG\r\n");
    stop.stop();
    running.join().unwrap().unwrap();
}
