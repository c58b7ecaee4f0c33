//! Ctrl-C: what was measured until then is printed and written, and nothing else is left.

use hotcopy_lab::results::cost::Path;
use hotcopy_tests::servers::Server;
use hotcopy_tests::skip::require;
use rustix::process::Signal;

use super::sandbox::Sandbox;
use super::{connected_clients, keys, until, until_store_row_reads, url};

#[test]
fn ctrl_c_prints_and_writes_what_was_measured_until_then() {
    let Some(server) = require(Server::redis(&[])) else {
        return;
    };
    let client = &mut server.connect();
    let sandbox = Sandbox::new();
    let url = url(&server);
    let running = sandbox.start_cost(&[&url, "--seconds", "1", "--rate", "200", "--pool", "7"]);
    until_store_row_reads(client, 7, 10);
    running.process.signal(Signal::INT);
    let finished = running.finish();

    assert_eq!(finished.code, Some(130), "{}", finished.stderr);
    assert!(
        finished.stdout.contains("One call, split in two"),
        "{}",
        finished.stdout
    );
    assert!(
        finished.stdout.contains("interrupted"),
        "{}",
        finished.stdout
    );
    let result = sandbox.result();
    assert!(result.interrupted);
    assert!(!result.calls.is_empty());
    assert!(result.row_at_rate(Path::Nothing).is_some());
    assert!(result.row_at_rate(Path::Store).is_none());
    assert_eq!(keys(client), Vec::<String>::new());
    sandbox.assert_only_the_results_are_left();
}

#[test]
fn ctrl_c_before_anything_was_measured_still_ends_cleanly() {
    let Some(server) = require(Server::redis(&[])) else {
        return;
    };
    let client = &mut server.connect();
    let sandbox = Sandbox::new();
    let running = sandbox.start_cost(&[&url(&server), "--seconds", "20"]);
    // Ours, the run's own, and that of the calls.
    until("the calls have begun", || connected_clients(client) >= 3);
    running.process.signal(Signal::INT);
    let finished = running.finish();
    assert_eq!(finished.code, Some(130), "{}", finished.stderr);
    // Results of an earlier run would be worth more than empty ones.
    assert!(
        finished.stderr.contains("nothing was measured"),
        "{}",
        finished.stderr
    );
    assert!(!sandbox.results().exists());
    assert_eq!(keys(client), Vec::<String>::new());
    assert_eq!(sandbox.entries(), Vec::<String>::new());
    sandbox.assert_no_process_is_left();
}

#[test]
fn ctrl_c_while_the_value_changes_stops_the_changes() {
    let Some(server) = require(Server::redis(&[])) else {
        return;
    };
    let client = &mut server.connect();
    let sandbox = Sandbox::new();
    let url = url(&server);
    let arguments = [
        "--seconds",
        "1",
        "--rate",
        "200",
        "--pool",
        "7",
        "--change-every",
        "0.02",
    ];
    let running = sandbox.start_cost(&[&[url.as_str()], arguments.as_slice()].concat());
    until_store_row_reads(client, 7, 10);
    running.process.signal(Signal::TERM);
    assert_eq!(running.finish().code, Some(130));
    assert_eq!(keys(client), Vec::<String>::new());
    sandbox.assert_only_the_results_are_left();
}
