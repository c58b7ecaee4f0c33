//! The ways to name a store.

use hotcopy_lab::results::cost::ServerCpuSource;
use hotcopy_tests::locate;
use hotcopy_tests::servers::Server;
use hotcopy_tests::skip::require;

use super::sandbox::Sandbox;
use super::{PASSWORD, brief, url};

#[test]
fn a_unix_socket_is_a_target() {
    let Some(server) = require(Server::redis(&[])) else {
        return;
    };
    let sandbox = Sandbox::new();
    let target = format!("redis+unix://{}", server.unix_path().display());
    sandbox.cost(&brief(&[&target])).assert_done();
    let stamp = sandbox.result().server;
    assert_eq!((stamp.name.as_str(), stamp.local), ("redis", true));
    assert_eq!(stamp.target, target);
}

#[test]
fn a_password_in_the_url_works_and_appears_nowhere() {
    let Some(server) = require(Server::redis(&["--requirepass", PASSWORD])) else {
        return;
    };
    let tcp = format!("redis://:{PASSWORD}@127.0.0.1:{}", server.port());
    let unix = format!(
        "redis+unix://{}?pass={PASSWORD}",
        server.unix_path().display()
    );
    for target in [tcp, unix] {
        let sandbox = Sandbox::new();
        let finished = sandbox.cost(&brief(&[&target]));
        finished.assert_done();
        let file = std::fs::read_to_string(sandbox.results()).expect("a results file");
        for text in [&finished.stdout, &finished.stderr, &file] {
            assert!(!text.contains(PASSWORD), "{text}");
        }
        assert!(
            file.contains("***"),
            "the masked command line is in the file"
        );
    }
}

#[test]
fn the_cpu_of_a_local_server_is_that_of_its_process() {
    let Some(server) = require(Server::redis(&[])) else {
        return;
    };
    let sandbox = Sandbox::new();
    sandbox.cost(&brief(&[&url(&server)])).assert_done();
    let result = sandbox.result();
    let pid = server.process.pid().as_raw_nonzero().get();
    assert_eq!(result.server.pid, u32::try_from(pid).ok());
    for row in result.rows {
        let cpu = row.server_cpu.expect("CPU of the server");
        assert_eq!(cpu.source, ServerCpuSource::ProcessClock);
    }
}

#[test]
fn a_spawned_redis_serves_one_run_and_leaves_no_process_and_no_file() {
    if require(locate::in_path("redis-server")).is_none() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox
        .cost(&brief(&["spawn:redis-server --io-threads 2"]))
        .assert_done();
    let result = sandbox.result();
    assert_eq!(result.server.name, "redis");
    assert_eq!(result.server.settings["io-threads"], "2");
    // Nobody else's keys are there, so the name is the plain one.
    assert_eq!(result.config.value.command, "GET config");
    sandbox.assert_only_the_results_are_left();
}

#[test]
fn a_spawned_hotcopy_serves_one_run() {
    let sandbox = Sandbox::new();
    let target = format!("spawn:{} serve --threads 1", locate::hotcopy().display());
    sandbox.cost(&brief(&[&target])).assert_done();
    assert_eq!(sandbox.result().server.name, "hotcopy");
    sandbox.assert_only_the_results_are_left();
}

#[test]
fn a_device_takes_the_results() {
    let sandbox = Sandbox::new();
    let finished = sandbox.cost(&brief(&["--out", "/dev/null"]));
    finished.assert_done();
    assert!(finished.stdout.contains("One call, split in two"));
    assert_eq!(sandbox.entries(), Vec::<String>::new());
}
