//! How fast one client gets large values.

use std::time::{Duration, Instant};

use super::Failure;
use super::peers::{Peer, Setup};
use super::schedule::median;
use crate::engine::{Limit, Section};
use crate::table::{Row, Table, columns};

pub(super) const TITLE: &str = "values of 5,000,000 bytes to one reader, back to back";

const BYTES: usize = 5_000_000;
const ROUND: Duration = Duration::from_secs(1);
const KEY: &str = "large";

pub(super) fn run(rounds: u32) -> Result<Section, Failure> {
    let setup = Setup {
        threads: 2,
        max_memory_mib: None,
    };
    let mut contenders = Vec::new();
    for peer in [Peer::Hotcopy, Peer::Memcached, Peer::Redis, Peer::Valkey] {
        let server = peer.start(setup)?;
        let mut connection = server.connect()?;
        connection.set(KEY, &vec![b'l'; BYTES])?;
        contenders.push((peer, server, connection, Vec::new()));
    }
    for _ in 0..rounds {
        for (_, _, connection, readings) in &mut contenders {
            let (began, mut bytes) = (Instant::now(), 0);
            while began.elapsed() < ROUND {
                bytes += connection.get(KEY)?.unwrap_or(0);
            }
            readings.push(bytes as f64 / began.elapsed().as_secs_f64() / 1e6);
        }
    }
    let rows = contenders.into_iter().map(|(peer, _, _, readings)| Row {
        name: peer.name().into(),
        figures: vec![median(readings)],
    });
    let table = Table {
        title: TITLE,
        columns: columns(["MB/s"]),
        rows: rows.collect(),
    };
    let bar = table
        .compare(
            TITLE,
            Peer::Hotcopy.name(),
            Peer::Memcached.name(),
            "× memcached",
        )
        .limit(Limit::AtLeast(0.9));
    Ok(Section {
        table,
        bars: vec![bar],
    })
}
