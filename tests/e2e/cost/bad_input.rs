//! Bad input: one clear line, the right exit code, and nothing left behind.

use std::io::Write as _;
use std::net::TcpListener;

use hotcopy_tests::servers::Server;
use hotcopy_tests::skip::require;
use rustix::process::Signal;

use super::sandbox::Sandbox;
use super::{PASSWORD, assert_refused, brief, command, keys, until_store_row_reads, url};

/// Exit codes, as `hotcopy cost --help` has them.
const FAILED: i32 = 1;
const USAGE: i32 = 2;

/// Runs, and expects a refusal before anything was measured.
fn refused(arguments: &[&str], code: i32, says: &[&str]) {
    let sandbox = Sandbox::new();
    let finished = sandbox.cost(&brief(arguments));
    assert_refused(&sandbox, &finished, code, says);
}

/// The same on a server, where no key may be left.
fn refused_by(server: &Server, arguments: &[&str], code: i32, says: &[&str]) {
    let before = keys(&mut server.connect());
    let url = url(server);
    refused(&[&[url.as_str()], arguments].concat(), code, says);
    assert_eq!(keys(&mut server.connect()), before);
}

#[test]
fn a_server_that_is_not_there_is_named() {
    // Bound, so that nobody else takes the port, and not listening for long.
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("loopback has a free port")
        .port();
    let target = format!("redis://127.0.0.1:{port}");
    refused(&[&target], FAILED, &["cannot reach", &target]);
    let socket = "redis+unix:///tmp/hotcopy-no-such-folder/socket";
    refused(&[socket], FAILED, &["cannot reach", socket]);
    refused(
        &["redis://host.invalid:1"],
        FAILED,
        &["cannot reach", "host.invalid"],
    );
}

#[test]
fn a_login_that_the_server_refuses_says_where_the_password_goes() {
    let Some(server) = require(Server::redis(&["--requirepass", "another-word"])) else {
        return;
    };
    let address = format!("127.0.0.1:{}", server.port());
    let unix = format!(
        "redis+unix://{}?pass={PASSWORD}",
        server.unix_path().display()
    );
    for target in [
        format!("redis://{address}"),
        format!("redis://:{PASSWORD}@{address}"),
        format!("redis://ada:{PASSWORD}@{address}"),
        unix,
    ] {
        let says = ["refuses the login", "redis://:PASSWORD@HOST:PORT"];
        refused(&[&target], FAILED, &says);
    }
    let mut client = server.connect();
    command(&mut client, &["AUTH", "another-word"]);
    assert_eq!(keys(&mut client), Vec::<String>::new());
}

#[test]
fn a_password_that_the_server_does_not_want_is_a_refused_login() {
    let Some(server) = require(Server::redis(&[])) else {
        return;
    };
    let target = format!("redis://:{PASSWORD}@127.0.0.1:{}", server.port());
    refused(&[&target], FAILED, &["refuses the login"]);
}

#[test]
fn a_text_that_is_no_target_is_answered_with_the_choices() {
    for target in ["localhost:6379", "http://127.0.0.1:6379"] {
        refused(
            &[target],
            USAGE,
            &[target, "redis://HOST:PORT", "spawn:COMMAND LINE"],
        );
    }
    refused(
        &["redis://127.0.0.1:port"],
        USAGE,
        &["redis://127.0.0.1:port"],
    );
}

#[test]
fn stores_that_are_not_supported_are_refused_by_name() {
    refused(&["memcached://127.0.0.1:11211"], USAGE, &["memcached"]);
    refused(&["spawn:memcached -t 4"], USAGE, &["memcached"]);
    refused(
        &["redis-cluster://127.0.0.1:7000"],
        USAGE,
        &["redis-cluster://", "redis://HOST:PORT"],
    );
    refused(
        &["redis-sentinel://127.0.0.1:26379"],
        USAGE,
        &["redis-sentinel://"],
    );
}

#[test]
fn a_program_that_cannot_be_spawned_is_named() {
    refused(
        &["spawn:no-such-server --fast"],
        FAILED,
        &["no-such-server"],
    );
    refused(&["spawn:/no/such/hotcopy"], FAILED, &["/no/such/hotcopy"]);
    refused(&["spawn:true"], FAILED, &["true"]);
    refused(&["spawn:"], USAGE, &["spawn:redis-server"]);
    refused(
        &["spawn:redis-server --requirepass secret"],
        USAGE,
        &["leave out --requirepass"],
    );
    refused(&["spawn:redis-server '"], USAGE, &["quote"]);
}

#[test]
fn a_spawned_server_that_refuses_its_arguments_is_quoted() {
    if require(hotcopy_tests::locate::in_path("redis-server")).is_some() {
        refused(
            &["spawn:redis-server --no-such-option 1"],
            FAILED,
            &["no-such-option"],
        );
    }
}

#[test]
fn a_missing_key_is_named() {
    let Some(server) = require(Server::redis(&[])) else {
        return;
    };
    refused_by(
        &server,
        &["--key", "absent"],
        FAILED,
        &["no key \"absent\""],
    );
}

#[test]
fn a_key_of_another_type_is_told_with_the_command_that_reads_it() {
    let Some(server) = require(Server::redis(&[])) else {
        return;
    };
    for (create, kind, reads) in [
        (["HSET", "k", "f", "v"].as_slice(), "hash", "HGETALL k"),
        (&["RPUSH", "k", "v"], "list", "LRANGE k 0 -1"),
        (&["SADD", "k", "v"], "set", "SMEMBERS k"),
        (&["ZADD", "k", "1", "v"], "zset", "ZRANGE k 0 -1"),
        (&["XADD", "k", "*", "f", "v"], "stream", "XRANGE k - +"),
    ] {
        let client = &mut server.connect();
        command(client, &["DEL", "k"]);
        command(client, create);
        refused_by(
            &server,
            &["--key", "k"],
            FAILED,
            &[kind, "--command", reads],
        );
    }
}

#[test]
fn a_value_that_does_not_decode_is_told_with_line_and_column() {
    let Some(server) = require(Server::redis(&[])) else {
        return;
    };
    let text = "{\n  \"currency\": EUR}";
    command(&mut server.connect(), &["SET", "broken", text]);
    let says = ["JSON", "line 2", "column 1", "--decode"];
    refused_by(&server, &["--key", "broken"], FAILED, &says);
    let file = Sandbox::new();
    let path = file.file("broken.json", text.as_bytes());
    refused_by(&server, &["--value", &path], FAILED, &says);
    refused_by(
        &server,
        &["--value", &path, "--decode", "msgpack"],
        FAILED,
        &["MessagePack"],
    );
}

#[test]
fn an_empty_value_is_not_measured() {
    let Some(server) = require(Server::redis(&[])) else {
        return;
    };
    command(&mut server.connect(), &["SET", "empty", ""]);
    refused_by(
        &server,
        &["--key", "empty"],
        FAILED,
        &["GET empty", "empty"],
    );
    refused_by(
        &server,
        &["--command", "HGETALL absent"],
        FAILED,
        &["HGETALL absent", "empty"],
    );
}

#[test]
fn a_command_that_the_server_refuses_is_told_in_its_words() {
    let Some(server) = require(Server::redis(&[])) else {
        return;
    };
    refused_by(&server, &["--command", "NO.SUCH k"], USAGE, &["NO.SUCH"]);
    refused_by(
        &server,
        &["--command", "GET"],
        FAILED,
        &["wrong number of arguments"],
    );
    refused_by(&server, &["--command", ""], USAGE, &["--command"]);
    refused_by(
        &server,
        &["--command", "GET '"],
        USAGE,
        &["--command", "quote"],
    );
}

#[test]
fn a_value_file_that_cannot_be_read_is_named() {
    let sandbox = Sandbox::new();
    let empty = sandbox.file("empty.json", b"");
    refused(&["--value", &empty], FAILED, &["empty.json is empty"]);
    refused(
        &["--value", "/no/such/file.json"],
        FAILED,
        &["/no/such/file.json"],
    );
    refused(&["--value", "/tmp"], FAILED, &["/tmp is a directory"]);
    let list = sandbox.file("list.json", b"[1, 2]");
    refused(
        &["--value", &list, "--change-every", "1"],
        USAGE,
        &["object"],
    );
}

#[test]
fn an_output_file_that_cannot_be_written_is_known_before_anything_is_measured() {
    let sandbox = Sandbox::new();
    let file = sandbox.file("file", b"");
    for out in [
        "/proc/results.json",
        "/proc/folder/results.json",
        "/tmp",
        "/",
        &format!("{file}/results.json"),
    ] {
        refused(
            &["--out", out],
            FAILED,
            &["cannot", out.trim_end_matches("/results.json")],
        );
    }
}

#[test]
fn numbers_that_measure_nothing_are_usage_errors() {
    for (option, values) in [
        ("--rate", ["0", "-1", "nan", "inf", "fast"].as_slice()),
        ("--seconds", &["0", "-1", "nan", "1e9"]),
        ("--change-every", &["0", "-1"]),
        ("--pool", &["0", "-1", "1.5"]),
        ("--workers", &["0"]),
        ("--instances", &["0"]),
    ] {
        for value in values {
            let sandbox = Sandbox::new();
            let finished = sandbox.cost(&[option, value]);
            assert_refused(&sandbox, &finished, USAGE, &[option, value]);
        }
    }
    // More than a clock of nanoseconds can tell apart.
    let sandbox = Sandbox::new();
    let finished = sandbox.cost(&["--rate", "1e12"]);
    assert_refused(&sandbox, &finished, USAGE, &["--rate", "from", "to"]);
}

#[test]
fn options_that_exclude_each_other_are_usage_errors() {
    let target = "redis://127.0.0.1:1";
    let key = ["--key", "k"];
    for (others, says) in [
        (["--change-every", "1"], "--change-every"),
        (["--value", "x.json"], "--value"),
        (["--command", "GET k"], "--command"),
    ] {
        refused(
            &[&[target], key.as_slice(), &others].concat(),
            USAGE,
            &["--key", says],
        );
    }
    refused(
        &[target, "--command", "GET k", "--change-every", "1"],
        USAGE,
        &["--change-every"],
    );
    refused(
        &["--decode", "none", "--change-every", "1"],
        USAGE,
        &["--change-every"],
    );
    refused(&key, USAGE, &["--key", "URL"]);
    refused(&["--colour"], USAGE, &["--colour"]);
    refused(&["--format", "yaml"], USAGE, &["yaml", "markdown"]);
}

#[test]
fn a_value_larger_than_the_servers_memory_is_told_in_its_words() {
    let limits = ["--maxmemory", "1mb", "--maxmemory-policy", "noeviction"];
    let Some(server) = require(Server::redis(&limits)) else {
        return;
    };
    let files = Sandbox::new();
    let big = files.file(
        "big.json",
        format!("\"{}\"", "x".repeat(5_000_000)).as_bytes(),
    );
    refused_by(
        &server,
        &["--value", &big],
        FAILED,
        &["5000002 bytes", "maxmemory"],
    );
}

#[test]
fn a_server_that_dies_in_the_middle_ends_the_run_with_one_line() {
    let Some(server) = require(Server::redis(&[])) else {
        return;
    };
    let client = &mut server.connect();
    let sandbox = Sandbox::new();
    let url = url(&server);
    let running = sandbox.start_cost(&[&url, "--seconds", "2", "--rate", "200", "--pool", "7"]);
    until_store_row_reads(client, 7, 10);
    server.process.signal(Signal::KILL);
    let finished = running.finish();
    assert_refused(&sandbox, &finished, FAILED, &["from the store, 200/s"]);
}

#[test]
fn a_server_that_speaks_another_protocol_is_found_out() {
    // It accepts and says something that no Redis says.
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = listener.local_addr().expect("the listener is bound");
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // The client may hang up first.
            let _ = (&stream).write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let target = format!("redis://{address}");
    refused(&[&target], FAILED, &[&target]);
}
