//! redis-py 8 through `tests/clients/redis_py.py`, on both protocols and transports.

use std::process::Command;

use hotcopy_tests::locate;
use hotcopy_tests::servers::Server;
use hotcopy_tests::skip::require;

use super::run;

fn works(protocol: &str) {
    let programs = (
        require(locate::in_path("python3")),
        require(locate::python_packages()),
    );
    let (Some(python), Some(packages)) = programs else {
        return;
    };
    let server = Server::hotcopy(&["--threads", "2"]);
    let mut command = Command::new(python);
    command
        .env("PYTHONPATH", packages)
        .arg(locate::repository().join("tests/clients/redis_py.py"))
        .arg(server.port())
        .arg(server.unix_path())
        .arg(protocol);
    assert_eq!(run(command), "passed\n");
}

#[test]
fn redis_py_works_on_resp2() {
    works("2");
}

#[test]
fn redis_py_works_on_resp3() {
    works("3");
}
