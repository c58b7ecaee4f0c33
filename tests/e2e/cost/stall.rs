//! The schedule does not wait for the server: a stall counts for every read that was due in it.

use std::time::{Duration, Instant};

use hotcopy_lab::results::Histogram;
use hotcopy_lab::results::cost::Path;
use hotcopy_tests::servers::Server;
use hotcopy_tests::skip::require;
use rustix::process::Signal;

use super::sandbox::Sandbox;
use super::{connected_clients, gets, until, until_store_row_reads, url};

const RATE_PER_S: f64 = 200.0;
const ROW: Duration = Duration::from_secs(3);
/// Unlike any other number of connections, to tell the row by.
const POOL: usize = 7;
const STALL: Duration = Duration::from_secs(1);

/// Samples that are at least so long. A bucket is within a tenth of a percent.
fn longer_than(times: &Histogram, limit: Duration) -> u64 {
    let buckets = times.to_hdr().expect("our own buckets");
    let picoseconds = u64::try_from(limit.as_nanos()).expect("a short time") * 1_000;
    buckets.count_between(picoseconds, u64::MAX)
}

#[test]
fn a_server_stopped_for_a_second_appears_in_full_in_the_response_times() {
    let Some(server) = require(Server::redis(&[])) else {
        return;
    };
    let client = &mut server.connect();
    let sandbox = Sandbox::new();
    let running = sandbox.start_cost(&[
        &url(&server),
        "--seconds",
        &ROW.as_secs().to_string(),
        "--rate",
        &RATE_PER_S.to_string(),
        "--pool",
        &POOL.to_string(),
    ]);
    until_store_row_reads(client, POOL, 60);

    let stopped = Instant::now();
    server.process.stop();
    std::thread::sleep(STALL);
    server.process.signal(Signal::CONT);
    let stall = stopped.elapsed();

    // Nothing after this row is needed: once memory has loaded its copy, the row is kept.
    until("the store row has ended", || {
        connected_clients(client) <= POOL
    });
    let before = gets(client);
    until("the next row has begun", || gets(client) > before);
    running.process.signal(Signal::INT);
    let finished = running.finish();
    assert_eq!(finished.code, Some(130), "{}", finished.stderr);

    let result = sandbox.result();
    let row = result.row_at_rate(Path::Store).expect("the store row");
    let schedule = row.schedule.as_ref().expect("a schedule");
    let due = (RATE_PER_S * ROW.as_secs_f64()) as u64;
    assert_eq!((schedule.due, schedule.abandoned), (due, 0));

    let response = row.response.as_ref().expect("response times");
    assert_eq!(response.count, due, "every read that was due counts");
    assert!(response.max_us >= 0.9 * 1e6, "{} µs", response.max_us);

    // Reads due in the first half of the stall waited for the other half and more. A busy machine takes longer to catch
    // up, so there may be more of them, but not those from before the stall.
    let half = Duration::from_millis(500);
    let waited = longer_than(response, half) as f64;
    let expected = RATE_PER_S * (stall - half).as_secs_f64();
    assert!(
        waited >= 0.9 * expected,
        "{waited} reads waited {half:?} and more in a stall of {stall:?}, {expected} were due"
    );
    assert!(response.min_us < 0.5 * 1e6, "{} µs", response.min_us);
    let p95_us = response.p95_us.expect("enough reads");
    assert!(
        p95_us >= 0.3 * 1e6,
        "a third of the reads met the stall, p95 is {p95_us} µs"
    );
}
