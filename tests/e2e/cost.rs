//! `hotcopy cost` and `hotcopy report` as a user runs them, against our own server and a real Redis.

mod bad_input;
mod changes;
mod guest;
mod interrupt;
pub(crate) mod sandbox;
mod stall;
mod tables;
mod targets;
mod tls;

use std::time::{Duration, Instant};

use hotcopy_tests::resp::{Client, Reply};
use hotcopy_tests::servers::Server;
use sandbox::{Finished, Sandbox};

/// Rows that are as short as a percentile allows, at a rate that a busy machine keeps.
const BRIEF: [&str; 4] = ["--seconds", "0.1", "--rate", "200"];

/// Far above anything but a hang.
pub(crate) const LONG_ENOUGH: Duration = Duration::from_secs(30);

/// The password that tests give to a server, to look for it where it must not be.
const PASSWORD: &str = "s3cret-word";

/// The bytes of the generated value, as the article has them.
const VALUE_BYTES: u64 = 41_083;

fn url(server: &Server) -> String {
    format!("redis://127.0.0.1:{}", server.port())
}

/// The arguments, followed by those of a brief run.
fn brief<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &BRIEF].concat()
}

fn command(client: &mut Client, words: &[&str]) -> Reply {
    match client.command(words).expect("a reply") {
        Reply::Error(error) => panic!("{words:?}: {}", error.escape_ascii()),
        reply => reply,
    }
}

fn keys(client: &mut Client) -> Vec<String> {
    let Reply::Array(keys) = command(client, &["KEYS", "*"]) else {
        panic!("KEYS replies with an array")
    };
    let text = |key: &Reply| String::from_utf8_lossy(key.bytes().expect("a key")).into_owned();
    keys.iter().map(text).collect()
}

/// A field of one section of `INFO`; nothing where the section lacks it.
fn info(client: &mut Client, section: &str, field: &str) -> Option<String> {
    let reply = command(client, &["INFO", section]);
    let text = String::from_utf8_lossy(reply.bytes().expect("text")).into_owned();
    let line = |line: &str| {
        line.strip_prefix(field)?
            .strip_prefix(':')
            .map(str::to_owned)
    };
    text.lines().find_map(line)
}

fn connected_clients(client: &mut Client) -> usize {
    let clients = info(client, "clients", "connected_clients").expect("Redis counts its clients");
    clients.parse().expect("a number")
}

/// How many `GET` commands the server has had.
fn gets(client: &mut Client) -> u64 {
    let Some(statistics) = info(client, "commandstats", "cmdstat_get") else {
        return 0;
    };
    let calls = statistics
        .split(',')
        .find_map(|it| it.strip_prefix("calls="));
    calls
        .and_then(|it| it.parse().ok())
        .expect("a number of calls")
}

pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG_ENOUGH;
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until the row that reads from the store at a rate has read `reads` times. It is the first to hold a pool of
/// connections: the calls before it go over one, and the schedule by itself over none.
fn until_store_row_reads(client: &mut Client, pool: usize, reads: u64) {
    until("the store row is connected", || {
        connected_clients(client) > pool
    });
    let before = gets(client);
    until("the store row reads", || gets(client) >= before + reads);
}

/// A refusal is one line that says what is wrong, and nothing else, anywhere.
pub(crate) fn assert_refused(sandbox: &Sandbox, finished: &Finished, code: i32, says: &[&str]) {
    let Finished { stdout, stderr, .. } = finished;
    assert_eq!(finished.code, Some(code), "{stderr}");
    assert!(stderr.starts_with("hotcopy: "), "{stderr}");
    assert!(stderr.ends_with('\n'), "{stderr:?}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    for part in says {
        assert!(stderr.contains(part), "{stderr:?} does not say {part:?}");
    }
    for blunder in ["panicked", PASSWORD] {
        assert!(!stderr.contains(blunder), "{stderr}");
    }
    assert_eq!(stdout, "");
    sandbox.assert_no_process_is_left();
    assert_eq!(sandbox.entries(), Vec::<String>::new());
}
