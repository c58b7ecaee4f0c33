//! pymemcache 4 through `tests/clients/pymemcache_client.py`, over TCP, a Unix socket and a pool.

use std::process::Command;

use hotcopy_tests::locate;
use hotcopy_tests::servers::Server;
use hotcopy_tests::skip::require;

use super::run;

#[test]
fn pymemcache_works() {
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
        .arg(locate::repository().join("tests/clients/pymemcache_client.py"))
        .arg(server.port())
        .arg(server.unix_path());
    assert_eq!(run(command), "passed\n");
}
