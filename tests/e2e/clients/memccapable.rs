//! memccapable, which tries what a memcached server can do, of libmemcached. It is asked for the text protocol.

use std::process::Command;

use hotcopy_tests::locate;
use hotcopy_tests::servers::{Kind, Server};
use hotcopy_tests::skip::require;

use super::run;

/// What it tries, and how that went.
fn tried(server: &Server) -> Option<Vec<String>> {
    let mut command = Command::new(require(locate::in_path("memccapable"))?);
    command.args(["-a", "-h", "127.0.0.1", "-p", &server.port()]);
    let output = run(command);
    let results = output.lines().filter(|line| line.ends_with(']'));
    Some(results.map(str::to_owned).collect())
}

#[test]
fn memccapable_finds_in_hotcopy_what_it_finds_in_memcached() {
    let server = Server::hotcopy(&["--threads", "2"]);
    let Some(found) = tried(&server) else {
        return;
    };
    let failed: Vec<_> = found.iter().filter(|it| !it.ends_with("[pass]")).collect();
    assert!(failed.is_empty(), "{failed:?}");
    if let Some(memcached) = require(Server::start(Kind::Memcached)) {
        assert_eq!(Some(found), tried(&memcached));
    }
}
