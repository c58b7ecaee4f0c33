//! redis-cli: single commands, its modes that examine a server, RESP3, a Unix socket, commands from a pipe.

use std::io::Write;
use std::process::{Command, Stdio};

use hotcopy_tests::locate;
use hotcopy_tests::process::Process;
use hotcopy_tests::servers::Server;
use hotcopy_tests::skip::require;

use super::run;

/// redis-cli connected over TCP, with `arguments`.
fn redis_cli(server: &Server, arguments: &[&str]) -> Option<Command> {
    let mut command = Command::new(require(locate::in_path("redis-cli"))?);
    command.args(["-p", &server.port()]).args(arguments);
    Some(command)
}

#[test]
fn redis_cli_sets_and_gets() {
    let server = Server::hotcopy(&[]);
    let cli = |arguments: &[&str]| redis_cli(&server, arguments).map(run);
    let Some(stored) = cli(&["SET", "greeting", "hello there", "EX", "100"]) else {
        return;
    };
    assert_eq!(stored, "OK\n");
    assert_eq!(cli(&["GET", "greeting"]), Some("hello there\n".into()));
    assert_eq!(cli(&["-n", "3", "DBSIZE"]), Some("0\n".into()));
    assert_eq!(
        cli(&["GET"]),
        Some("ERR wrong number of arguments for 'get' command\n\n".into())
    );
}

#[test]
fn redis_cli_speaks_resp3() {
    let server = Server::hotcopy(&[]);
    let Some(hello) = redis_cli(&server, &["-3", "--no-raw", "HELLO"]).map(run) else {
        return;
    };
    assert!(hello.contains("\"proto\" => (integer) 3"), "{hello}");
}

#[test]
fn redis_cli_connects_to_the_unix_socket() {
    let server = Server::hotcopy(&[]);
    let Some(cli) = require(locate::in_path("redis-cli")) else {
        return;
    };
    let mut command = Command::new(cli);
    command.arg("-s").arg(server.unix_path()).arg("PING");
    assert_eq!(run(command), "PONG\n");
}

#[test]
fn redis_cli_scans_by_pattern() {
    let server = Server::hotcopy(&[]);
    let mut client = server.connect();
    for index in 0..300 {
        let key = format!("user:{index}");
        client.command(&["SET", &key, "v"]).expect("a reply");
    }
    client.command(&["SET", "other", "v"]).expect("a reply");
    let Some(listing) = redis_cli(&server, &["--scan", "--pattern", "user:*"]).map(run) else {
        return;
    };
    let mut keys: Vec<&str> = listing.lines().collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 300);
}

/// A server with one key that is larger than a hundred others, and read more often.
fn server_with_a_big_key() -> Server {
    let server = Server::hotcopy(&["--threads", "2"]);
    let mut client = server.connect();
    for index in 0..100 {
        let key = format!("small:{index}");
        client.command(&["SET", &key, "v"]).expect("a reply");
    }
    let value = vec![b'x'; 70_000];
    let stored = client.command(&[b"SET".as_slice(), b"big", &value]);
    assert_eq!(stored.expect("a reply").to_string(), "+OK");
    for _ in 0..3 {
        client.command(&["GET", "big"]).expect("a reply");
    }
    server
}

#[test]
fn redis_cli_finds_big_keys() {
    let server = server_with_a_big_key();
    let Some(found) = redis_cli(&server, &["--bigkeys"]).map(run) else {
        return;
    };
    assert!(found.contains("Sampled 101 keys"), "{found}");
    assert!(
        found.contains("Biggest string found '\"big\"' has 70000 bytes"),
        "{found}"
    );
}

#[test]
fn redis_cli_finds_keys_that_take_much_memory() {
    let server = server_with_a_big_key();
    let Some(found) = redis_cli(&server, &["--memkeys"]).map(run) else {
        return;
    };
    assert!(found.contains("Sampled 101 keys"), "{found}");
    assert!(found.contains("Biggest string found '\"big\"'"), "{found}");
}

#[test]
fn redis_cli_finds_hot_keys() {
    let server = server_with_a_big_key();
    let Some(found) = redis_cli(&server, &["--hotkeys"]).map(run) else {
        return;
    };
    assert!(
        found.contains("hot key found with counter: 3\tkeyname: \"big\""),
        "{found}"
    );
}

#[test]
fn redis_cli_measures_latency() {
    let server = Server::hotcopy(&[]);
    // Not on a terminal it measures for a second and prints one line: least, most, mean, samples.
    let Some(measured) = redis_cli(&server, &["--latency"]).map(run) else {
        return;
    };
    let figures: Vec<f64> = measured
        .split_whitespace()
        .filter_map(|figure| figure.parse().ok())
        .collect();
    assert!(
        matches!(figures[..], [_, _, _, samples] if samples > 10.0),
        "{measured}"
    );
}

#[test]
fn redis_cli_shows_statistics() {
    let server = server_with_a_big_key();
    let Some(command) = redis_cli(&server, &["--stat", "-i", "0.05"]) else {
        return;
    };
    let mut running = Process::start(command);
    let lines: Vec<String> = (0..5).filter_map(|_| running.read_line()).collect();
    assert!(lines[0].contains("data"), "{lines:?}");
    let figures = lines.last().expect("it goes on");
    assert!(figures.starts_with("101 "), "{lines:?}");
}

#[test]
fn redis_cli_loads_commands_from_a_pipe() {
    const SETS: usize = 2_000;
    let server = Server::hotcopy(&[]);
    let Some(mut command) = redis_cli(&server, &["--pipe"]) else {
        return;
    };
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("redis-cli starts");
    let mut input = child.stdin.take().expect("standard input is piped");
    for index in 0..SETS {
        write!(input, "SET key:{index} value\r\n").expect("redis-cli reads");
    }
    drop(input);
    let output = child.wait_with_output().expect("redis-cli ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains(&format!("errors: 0, replies: {SETS}")),
        "{text}"
    );
}
