//! The memcached cases: what memcached does is the measure of what hotcopy does.

use hotcopy_tests::conformance::{Transport, memcached};
use hotcopy_tests::servers::{Kind, Server};
use hotcopy_tests::skip::require;

#[test]
fn memcached_answers_every_case_as_expected() {
    if let Some(server) = require(Server::start(Kind::Memcached)) {
        memcached::run_on(&server, "memcached-1.6", Transport::Tcp);
    }
}

/// With memcached's default for the longest value.
fn hotcopy_answers(threads: &str, transport: Transport) {
    let server = Server::hotcopy(&["--threads", threads, "--max-item-size", "1mb"]);
    memcached::run_on(&server, "hotcopy", transport);
}

#[test]
fn hotcopy_answers_every_memcached_case_over_tcp_with_one_loop() {
    hotcopy_answers("1", Transport::Tcp);
}

#[test]
fn hotcopy_answers_every_memcached_case_over_tcp_with_four_loops() {
    hotcopy_answers("4", Transport::Tcp);
}

#[test]
fn hotcopy_answers_every_memcached_case_over_unix_with_one_loop() {
    hotcopy_answers("1", Transport::Unix);
}

#[test]
fn hotcopy_answers_every_memcached_case_over_unix_with_four_loops() {
    hotcopy_answers("4", Transport::Unix);
}
