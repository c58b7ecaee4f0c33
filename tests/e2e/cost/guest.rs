//! On somebody's server a run is a guest: it reads what it was pointed at, and what it writes goes away by itself.

use std::collections::BTreeSet;
use std::time::Duration;

use hotcopy_tests::resp::{Client, Reply};
use hotcopy_tests::servers::Server;
use hotcopy_tests::skip::require;
use rustix::process::Signal;

use super::sandbox::{Finished, Sandbox};
use super::{BRIEF, LONG_ENOUGH, brief, command, info, keys, until, until_store_row_reads, url};

/// A real Redis that says what its key space holds, with some of the user's own keys in it.
fn redis_with_keys() -> Option<Server> {
    let server = require(Server::redis(&["--enable-debug-command", "local"]))?;
    let client = &mut server.connect();
    for words in [
        ["SET", "config", "{\"currency\": \"EUR\"}"].as_slice(),
        &["SET", "session", "x", "EX", "1000"],
        &["HSET", "h", "name", "Ada", "language", "Rust"],
        &["RPUSH", "l", "1", "2"],
        &["PFADD", "p", "1", "2"],
    ] {
        command(client, words);
    }
    Some(server)
}

/// Everything the key space holds, times to live included.
fn key_space(client: &mut Client) -> [Reply; 2] {
    let size = command(client, &["DBSIZE"]);
    [size, command(client, &["DEBUG", "DIGEST"])]
}

/// How often each command that a run might write with was called.
fn writes(client: &mut Client) -> Vec<Option<String>> {
    let of = |write: &str| {
        let statistics = info(client, "commandstats", &format!("cmdstat_{write}"))?;
        statistics.split(',').next().map(str::to_owned)
    };
    ["set", "del", "unlink", "expire", "publish"]
        .map(of)
        .to_vec()
}

fn assert_leaves_the_key_space_alone(arguments: &[&str], code: i32, says: &str) {
    let Some(server) = redis_with_keys() else {
        return;
    };
    let client = &mut server.connect();
    let before = (key_space(client), writes(client));
    let sandbox = Sandbox::new();
    let finished = sandbox.cost(&[&[url(&server).as_str()], arguments, &BRIEF].concat());
    assert_eq!(finished.code, Some(code), "{}", finished.stderr);
    let Finished { stdout, stderr, .. } = finished;
    let printed = if code == 0 { stdout } else { stderr };
    assert!(printed.contains(says), "{printed}");
    assert_eq!((key_space(client), writes(client)), before);
}

#[test]
fn reading_a_key_of_the_user_writes_nothing() {
    assert_leaves_the_key_space_alone(&["--key", "config"], 0, "GET config");
}

#[test]
fn reading_with_a_command_of_the_user_writes_nothing() {
    assert_leaves_the_key_space_alone(&["--command", "HGETALL h"], 0, "HGETALL h");
}

#[test]
fn a_command_that_writes_is_refused_and_not_sent() {
    assert_leaves_the_key_space_alone(
        &["--command", "SET a b"],
        2,
        "SET is not a read-only command",
    );
}

/// PFCOUNT is flagged as a reader, and stores what it counted.
#[test]
fn a_reader_that_may_write_is_refused_and_not_sent() {
    assert_leaves_the_key_space_alone(&["--command", "PFCOUNT p"], 2, "PFCOUNT");
}

#[test]
fn a_command_that_may_wait_is_refused_and_not_sent() {
    assert_leaves_the_key_space_alone(&["--command", "BLPOP l 0"], 2, "BLPOP");
    assert_leaves_the_key_space_alone(&["--command", "XREAD BLOCK 0 STREAMS s $"], 2, "XREAD");
}

/// Of the keys that were not there before, those that break the rules of a guest.
fn ill_behaved(
    client: &mut Client,
    own: &BTreeSet<String>,
    seen: &mut BTreeSet<String>,
) -> Vec<String> {
    let mut found = Vec::new();
    for key in keys(client) {
        if own.contains(&key) {
            continue;
        }
        // -2: it went away between the two commands.
        let Reply::Integer(seconds) = command(client, &["TTL", &key]) else {
            panic!("TTL replies with a number")
        };
        if !key.starts_with("hotcopy:lab:") || !(seconds == -2 || (0..=60).contains(&seconds)) {
            found.push(format!("{key} for {seconds} s"));
        }
        seen.insert(key);
    }
    found
}

fn assert_writes_as_a_guest(arguments: &[&str]) {
    let Some(server) = redis_with_keys() else {
        return;
    };
    let client = &mut server.connect();
    let before = key_space(client);
    let own = keys(client).into_iter().collect();
    let sandbox = Sandbox::new();
    let url = url(&server);
    let mut running = sandbox.start_cost(&[&[url.as_str()], arguments, &BRIEF].concat());
    let mut seen = BTreeSet::new();
    while running.process.wait(Duration::from_millis(10)).is_none() {
        assert_eq!(ill_behaved(client, &own, &mut seen), Vec::<String>::new());
    }
    running.finish().assert_done();
    assert!(!seen.is_empty(), "a run without --key writes its value");
    assert_eq!(key_space(client), before);
    sandbox.assert_only_the_results_are_left();
}

#[test]
fn what_a_run_writes_has_a_prefix_and_a_time_to_live_and_is_gone_afterwards() {
    assert_writes_as_a_guest(&[]);
}

#[test]
fn each_change_of_the_value_has_a_time_to_live_too() {
    assert_writes_as_a_guest(&["--change-every", "0.01"]);
}

/// Kills a run that has written, and returns the server with the keys that the run could not remove.
fn killed_in_the_middle() -> Option<(Server, Vec<String>)> {
    let server = require(Server::redis(&[]))?;
    let client = &mut server.connect();
    let sandbox = Sandbox::new();
    let url = url(&server);
    let mut running = sandbox.start_cost(&[&url, "--seconds", "2", "--rate", "200", "--pool", "7"]);
    until_store_row_reads(client, 7, 10);
    running.process.signal(Signal::KILL);
    running
        .process
        .wait(LONG_ENOUGH)
        .expect("nothing survives SIGKILL");
    until("its children are gone too", || {
        sandbox.processes().is_empty()
    });
    let left = keys(client);
    Some((server, left))
}

#[test]
fn a_killed_run_leaves_no_process_and_only_keys_that_expire() {
    let Some((server, left)) = killed_in_the_middle() else {
        return;
    };
    let client = &mut server.connect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(
        ill_behaved(client, &BTreeSet::new(), &mut BTreeSet::new()),
        Vec::<String>::new()
    );
    let ttl = command(client, &["TTL", &left[0]]);
    assert!(matches!(ttl, Reply::Integer(0..=60)), "{ttl}");
}

#[cfg(feature = "slow")]
#[test]
fn the_keys_of_a_killed_run_are_gone_within_a_minute() {
    let Some((server, left)) = killed_in_the_middle() else {
        return;
    };
    assert!(!left.is_empty());
    std::thread::sleep(Duration::from_secs(60));
    assert_eq!(keys(&mut server.connect()), Vec::<String>::new());
}

#[test]
fn the_embedded_server_ends_with_a_killed_run() {
    let sandbox = Sandbox::new();
    let mut running = sandbox.start_cost(&["--seconds", "2", "--rate", "200"]);
    // The run itself, its server, and a row.
    until("a row runs", || sandbox.processes().len() >= 3);
    running.process.signal(Signal::KILL);
    running
        .process
        .wait(LONG_ENOUGH)
        .expect("nothing survives SIGKILL");
    until("its children are gone too", || {
        sandbox.processes().is_empty()
    });
    assert_eq!(sandbox.entries(), Vec::<String>::new());
}

#[test]
fn a_value_of_the_users_own_is_read_byte_for_byte() {
    let Some(server) = redis_with_keys() else {
        return;
    };
    let sandbox = Sandbox::new();
    let file = sandbox.file("picture.bin", &[0xff, 0x00, 0x0d, 0x0a, 0xc1]);
    let url = url(&server);
    sandbox
        .cost(&brief(&[&url, "--value", &file, "--decode", "none"]))
        .assert_done();
    let result = sandbox.result();
    assert_eq!(
        (
            result.config.value.bytes,
            result.config.value.source.as_str()
        ),
        (5, "picture.bin")
    );
}
