//! redis-benchmark finishes without an error, with and without pipelining.

use std::process::Command;

use hotcopy_tests::locate;
use hotcopy_tests::servers::Server;
use hotcopy_tests::skip::require;

use super::run;

fn finishes(pipeline: &str) {
    let Some(benchmark) = require(locate::in_path("redis-benchmark")) else {
        return;
    };
    let server = Server::hotcopy(&["--threads", "2"]);
    let mut command = Command::new(benchmark);
    command
        .args(["-p", &server.port(), "-t", "ping,get,set,incr,mset"])
        .args(["-n", "20000", "-r", "1000", "-P", pipeline, "--csv"]);
    // An error reply ends redis-benchmark with an exit status of 1.
    let output = run(command);
    for test in ["PING_MBULK", "SET", "GET", "INCR", "MSET (10 keys)"] {
        let test = format!("\"{test}\",");
        assert!(output.contains(&test), "no line for {test} in\n{output}");
    }
}

#[test]
fn redis_benchmark_finishes_one_request_at_a_time() {
    finishes("1");
}

#[test]
fn redis_benchmark_finishes_with_a_pipeline_of_sixteen() {
    finishes("16");
}
