//! `--change-every`: the copy in memory follows the store.

use hotcopy_tests::servers::Server;
use hotcopy_tests::skip::require;

use super::sandbox::Sandbox;
use super::url;

fn assert_every_change_is_seen(target: &str) {
    let sandbox = Sandbox::new();
    let arguments = ["--seconds", "0.7", "--rate", "200", "--change-every", "0.2"];
    let finished = sandbox.cost(&[&[target], arguments.as_slice()].concat());
    finished.assert_done();
    let rows = sandbox.result().changes.expect("changes were made").rows;
    // At the rate and at full load.
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert!(row.made >= 3, "{row:?}");
        assert_eq!(row.seen, row.made, "{row:?}");
        assert!(row.reloads > 0, "{row:?}");
        let lag = row.lag.expect("a lag for every change");
        assert_eq!(lag.count, row.made);
        let (p50, max) = (row.lag_p50_us, row.lag_max_us);
        assert!(p50 > Some(0.0) && max >= p50, "{p50:?} {max:?}");
        assert!(
            row.stale_reads < row.reads,
            "{} of {}",
            row.stale_reads,
            row.reads
        );
    }
    sandbox.assert_only_the_results_are_left();
}

#[test]
fn memory_sees_every_change_on_the_embedded_server() {
    assert_every_change_is_seen("embedded");
}

#[test]
fn memory_sees_every_change_on_redis() {
    if let Some(server) = require(Server::redis(&[])) {
        assert_every_change_is_seen(&url(&server));
    }
}
