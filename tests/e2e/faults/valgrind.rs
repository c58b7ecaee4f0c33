//! The conformance traffic under valgrind: reads of uninitialised memory, which `AddressSanitizer` does not see.

use std::process::Command;
use std::time::Duration;

use hotcopy_tests::conformance::{Transport, run_on};
use hotcopy_tests::locate;
use hotcopy_tests::resp::Protocol;
use hotcopy_tests::servers::Server;
use hotcopy_tests::skip::require;
use rustix::process::Signal;

#[test]
fn the_server_runs_all_cases_without_a_memory_error() {
    let Some(valgrind) = require(locate::in_path("valgrind")) else {
        return;
    };
    let mut command = Command::new(valgrind);
    command
        .args(["--quiet", "--error-exitcode=99", "--leak-check=no"])
        .arg(locate::hotcopy());
    let mut server = Server::hotcopy_by(command, &["--threads", "2"]);
    run_on(&server, Protocol::Resp3, Transport::Tcp);
    server.process.signal(Signal::TERM);
    let status = server.process.wait(Duration::from_secs(60));
    assert_eq!(status.and_then(|status| status.code()), Some(0));
}
