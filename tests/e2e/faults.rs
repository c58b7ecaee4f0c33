//! Clients that mean harm or do not know better: the others keep being served, and the server's memory stays bounded.

mod connections;
mod floods;
mod hostile_bytes;
mod memory;
#[cfg(feature = "slow")]
mod valgrind;

use std::time::{Duration, Instant};

use hotcopy_tests::resp::{Client, Reply};
use hotcopy_tests::servers::Server;

const MIB: u64 = 1 << 20;

/// Within this time a well-behaved client must get its answer, whatever the others do. A fair server takes well under a
/// millisecond; the rest is room for a machine that runs other tests on the same cores.
const SERVED_WITHIN: Duration = Duration::from_secs(1);

/// A new client connects, writes and reads back, in time.
fn assert_serves(server: &Server) {
    let started = Instant::now();
    let mut client = server.connect();
    for _ in 0..10 {
        let reply = client.command(&["SET", "witness", "here"]);
        assert_eq!(reply.expect("a reply"), Reply::Simple(b"OK".to_vec()));
        let reply = client.command(&["GET", "witness"]);
        assert_eq!(reply.expect("a reply"), Reply::Bulk(b"here".to_vec()));
    }
    assert_in_time(started);
}

/// An existing client is answered in time.
fn assert_answers(client: &mut Client) {
    let started = Instant::now();
    let reply = client.command(&["PING"]).expect("a reply");
    assert_eq!(reply, Reply::Simple(b"PONG".to_vec()));
    assert_in_time(started);
}

fn assert_in_time(started: Instant) {
    let elapsed = started.elapsed();
    assert!(elapsed < SERVED_WITHIN, "served after {elapsed:?} only");
}

/// Runs `harm` and returns by how many bytes the server's resident memory was larger at any time since.
fn growth_during(server: &Server, harm: impl FnOnce()) -> u64 {
    let before = server.process.resident_bytes();
    let done = std::sync::atomic::AtomicBool::new(false);
    let peak = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut peak = before;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                peak = peak.max(server.process.resident_bytes());
                std::thread::sleep(Duration::from_millis(5));
            }
            peak
        });
        harm();
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        watcher.join().expect("the watcher only reads")
    });
    peak.max(server.process.resident_bytes()) - before
}

fn assert_grew_at_most(growth: u64, bound: u64) {
    assert!(
        growth <= bound,
        "resident memory grew by {} KiB, {} are allowed",
        growth / 1024,
        bound / 1024
    );
}
