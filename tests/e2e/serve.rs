//! `hotcopy serve` as a program: how it starts, refuses to start, and ends.

use std::fs;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hotcopy_tests::locate;
use hotcopy_tests::process::Process;
use hotcopy_tests::resp::{Client, Protocol, Reply};
use hotcopy_tests::servers::Server;
use rustix::process::Signal;

const LONG_ENOUGH: Duration = Duration::from_secs(10);

/// A program that ended by itself.
struct Refusal {
    code: Option<i32>,
    output: String,
    errors: String,
}

/// Runs `hotcopy serve` with arguments that it must refuse.
fn serve(arguments: &[&str]) -> Refusal {
    let mut command = Command::new(locate::hotcopy());
    command.arg("serve").args(arguments).stderr(Stdio::piped());
    let mut process = Process::start(command);
    let Some(status) = process.wait(LONG_ENOUGH) else {
        panic!("serves with {arguments:?}: {:?}", process.read_line());
    };
    Refusal {
        code: status.code(),
        output: process.read_line().unwrap_or_default(),
        errors: process.errors(),
    }
}

impl Refusal {
    #[track_caller]
    fn assert(&self, code: i32, says: &str) {
        let Self { output, errors, .. } = self;
        assert_eq!(self.code, Some(code), "{errors}");
        assert!(errors.contains(says), "{errors:?} does not say {says:?}");
        assert!(!errors.contains("panicked"), "{errors}");
        assert!(output.is_empty(), "a refusal prints no {output:?}");
    }

    /// Not the user's command line is wrong, but what it names: one line says what.
    #[track_caller]
    fn assert_one_line(&self, says: &str) {
        self.assert_line(1, says);
    }

    #[track_caller]
    fn assert_line(&self, code: i32, says: &str) {
        self.assert(code, says);
        assert_eq!(self.errors.lines().count(), 1, "{}", self.errors);
    }
}

#[test]
fn the_ready_line_states_version_addresses_and_loops() {
    let mut command = Command::new(locate::hotcopy());
    command.args(["serve", "--port", "0", "--threads", "3"]);
    let mut process = Process::start(command);
    let line = process.read_line().expect("a ready line");
    let version = env!("CARGO_PKG_VERSION");
    assert!(
        line.starts_with(&format!("hotcopy {version} ready: tcp 127.0.0.1:")),
        "{line}"
    );
    assert!(line.ends_with(", 3 loops\n"), "{line}");
}

#[test]
fn a_port_that_is_taken_is_one_clear_line() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = taken.local_addr().expect("the listener is bound");
    let refusal = serve(&["--port", &address.port().to_string()]);
    refusal.assert_one_line(&address.to_string());
}

#[test]
fn an_address_that_is_not_ours_is_one_clear_line() {
    let arguments = ["--bind", "192.0.2.1", "--port", "0", "--allow-no-password"];
    let refusal = serve(&arguments);
    refusal.assert_one_line("192.0.2.1");
}

#[test]
fn bad_arguments_are_usage_errors() {
    serve(&["--port", "70000"]).assert(2, "--port");
    serve(&["--threads", "0"]).assert(2, "--threads");
    serve(&["--max-memory", "lots"]).assert(2, "--max-memory");
    serve(&["--bind", "somewhere"]).assert(2, "--bind");
    serve(&["--colour"]).assert(2, "--colour");
}

#[test]
fn a_unix_socket_path_that_is_too_long_or_has_no_folder_is_refused() {
    let long = format!("/tmp/{}", "x".repeat(200));
    serve(&["--port", "0", "--unix", &long]).assert_one_line(&long);
    let nowhere = "/tmp/hotcopy-no-such-folder/socket";
    serve(&["--port", "0", "--unix", nowhere]).assert_one_line(nowhere);
}

#[test]
fn a_file_in_place_of_the_unix_socket_is_not_overwritten() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("precious");
    fs::write(&path, "data").expect("the directory can be written");
    let name = path.to_str().expect("the path is text");
    serve(&["--port", "0", "--unix", name]).assert_one_line(name);
    assert_eq!(fs::read_to_string(&path).expect("still a file"), "data");
}

#[test]
fn a_unix_socket_left_by_a_killed_server_is_taken_over() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("socket");
    for _ in 0..2 {
        let mut command = Command::new(locate::hotcopy());
        command.args(["serve", "--port", "0", "--unix"]).arg(&path);
        let mut process = Process::start(command);
        let line = process.read_line().expect("a ready line");
        assert!(line.contains(&format!("unix {}", path.display())), "{line}");
        // Dropped here, which kills it without a chance to remove its socket.
    }
    assert!(path.exists());
}

#[test]
fn sigterm_and_sigint_end_the_server_and_remove_its_socket() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut server = Server::hotcopy(&["--threads", "2"]);
        let _client = server.connect();
        server.process.signal(signal);
        let status = server.process.wait(LONG_ENOUGH).expect("the server ends");
        assert!(status.success(), "{status}");
        assert!(!server.unix_path().exists());
    }
}

#[test]
fn a_password_is_asked_for_and_accepted() {
    let server = Server::hotcopy(&["--password", "open sesame"]);
    let mut client = server.connect();
    let mut says = |command: &[&str]| client.command(command).expect("a reply").to_string();
    assert_eq!(says(&["GET", "k"]), "-NOAUTH Authentication required.");
    assert!(says(&["AUTH", "wrong"]).starts_with("-WRONGPASS "));
    assert_eq!(says(&["GET", "k"]), "-NOAUTH Authentication required.");
    assert_eq!(says(&["AUTH", "default", "open sesame"]), "+OK");
    assert_eq!(says(&["GET", "k"]), "nil");
}

#[test]
fn a_server_that_others_can_reach_does_not_start_without_a_password() {
    for address in ["0.0.0.0", "::", "192.0.2.1", "::ffff:192.0.2.1"] {
        let refusal = serve(&["--bind", address, "--port", "0"]);
        refusal.assert_line(2, "--allow-no-password");
        refusal.assert_line(2, "HOTCOPY_PASSWORD");
    }
    for allowed in [
        &["--bind", "0.0.0.0", "--password", "open sesame"][..],
        &["--bind", "0.0.0.0", "--allow-no-password"],
        &["--bind", "127.0.0.2"],
    ] {
        let mut command = Command::new(locate::hotcopy());
        command.args(["serve", "--port", "0"]).args(allowed);
        let line = Process::start(command).read_line().expect("a ready line");
        assert!(line.contains(" ready: "), "{line}");
    }
}

#[test]
fn an_empty_password_is_refused_wherever_it_comes_from() {
    serve(&["--port", "0", "--password", ""]).assert_line(2, "the password is empty");
    let mut command = Command::new(locate::hotcopy());
    command
        .args(["serve", "--port", "0"])
        .env("HOTCOPY_PASSWORD", "")
        .stderr(Stdio::piped());
    let mut process = Process::start(command);
    let status = process.wait(LONG_ENOUGH).expect("it does not serve");
    assert_eq!(status.code(), Some(2));
    assert!(process.errors().contains("the password is empty"));
}

#[test]
fn a_client_beyond_the_maximum_is_told_so() {
    let server = Server::hotcopy(&["--max-clients", "3"]);
    let mut clients: Vec<Client> = (0..3).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.command(&["PING"]).expect("a reply");
    }
    let reply = server.connect().read_reply().expect("a reply");
    assert_eq!(reply.to_string(), "-ERR max number of clients reached");
    clients.pop();
    // The place is free as soon as the server has seen the connection close.
    let deadline = Instant::now() + LONG_ENOUGH;
    while server.connect().command(&["PING"]).is_err() {
        assert!(Instant::now() < deadline, "the place stays taken");
    }
}

#[test]
fn requests_sent_while_the_server_is_stopped_are_answered_when_it_goes_on() {
    let server = Server::hotcopy(&["--threads", "2"]);
    let mut clients: Vec<Client> = (0..8).map(|_| server.connect()).collect();
    server.process.stop();
    for client in &mut clients {
        client
            .send(&["PING"])
            .expect("the kernel takes the request");
    }
    assert!(
        clients[0]
            .is_silent(Duration::from_millis(100))
            .expect("the connection stays")
    );
    server.process.signal(Signal::CONT);
    for client in &mut clients {
        let reply = client.read_reply().expect("a reply");
        assert_eq!(reply, Reply::Simple(b"PONG".to_vec()));
    }
}

#[test]
fn a_value_beyond_the_memory_limit_is_refused_and_others_are_evicted() {
    const MIB: usize = 1 << 20;
    let server = Server::hotcopy(&["--max-memory", "16mb"]);
    let mut client = Client::connect(&server.tcp(), Protocol::Resp3).expect("a connection");
    let too_big = vec![b'x'; 20 * MIB];
    let reply = client.command(&[b"SET".as_slice(), b"big", &too_big]);
    match reply.expect("a reply") {
        Reply::Error(text) => assert!(text.starts_with(b"OOM "), "{}", text.escape_ascii()),
        other => panic!("stored what cannot fit: {other}"),
    }
    let value = vec![b'x'; MIB];
    for index in 0..64 {
        let key = format!("key:{index}");
        let reply = client.command(&[b"SET".as_slice(), key.as_bytes(), &value]);
        assert_eq!(reply.expect("a reply"), Reply::Simple(b"OK".to_vec()));
        let reply = client.command(&["STRLEN", &key]).expect("a reply");
        assert_eq!(
            reply,
            Reply::Integer(1 << 20),
            "what was just stored is there"
        );
    }
    match client.command(&["DBSIZE"]).expect("a reply") {
        Reply::Integer(count) => assert!((8..=16).contains(&count), "{count} of 16 fit"),
        other => panic!("not a count: {other}"),
    }
}
