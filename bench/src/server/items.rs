//! What a stored value really takes, and what is left of memory when the sizes of values shift.

use super::Failure;
use super::connection::Connection;
use super::peers::{Peer, Setup};
use crate::engine::{Bar, Limit, Section};
use crate::table::{Row, Table, columns};

pub(super) const RESIDENT: &str = "resident bytes per item, 12-byte keys, slope from N to 2N items";
pub(super) const SHIFT: &str =
    "10 MB of memory, 20,000 values of 500 bytes, then 400 of 40,000: how many of those are there";

/// Sizes of values, items of the first half, and what an item may take, with what we are after.
const SIZES: [(&str, usize, usize, f64, f64); 3] = [
    (
        "resident bytes per item of 96 bytes",
        96,
        300_000,
        158.0,
        132.0,
    ),
    (
        "resident bytes per item of 1,024 bytes",
        1_024,
        60_000,
        1_098.0,
        1_064.0,
    ),
    (
        "resident bytes per item of 60,000 bytes",
        60_000,
        2_000,
        60_200.0,
        60_080.0,
    ),
];

/// Writes that are sent before their answers are read.
const BATCH: usize = 64;

const PEERS: [Peer; 4] = [Peer::Hotcopy, Peer::Memcached, Peer::Redis, Peer::Valkey];

fn fill(
    connection: &mut Connection,
    prefix: &str,
    numbers: std::ops::Range<usize>,
    value: &[u8],
) -> Result<(), Failure> {
    let mut numbers = numbers.peekable();
    while numbers.peek().is_some() {
        let mut sent = 0;
        for number in numbers.by_ref().take(BATCH) {
            connection.add_set(&format!("{prefix}{number:08}"), value);
            sent += 1;
        }
        connection.send()?;
        for _ in 0..sent {
            connection.take_stored()?;
        }
    }
    Ok(())
}

/// How much a server grows for each item of the second half: what it takes for itself does not count.
fn bytes_per_item(peer: Peer, value_bytes: usize, items: usize) -> Result<f64, Failure> {
    let server = peer.start(Setup {
        threads: 2,
        max_memory_mib: None,
    })?;
    let mut connection = server.connect()?;
    let value = vec![b'v'; value_bytes];
    fill(&mut connection, "key:", 0..items, &value)?;
    let half = server.resident_bytes();
    fill(&mut connection, "key:", items..2 * items, &value)?;
    Ok((server.resident_bytes() as f64 - half as f64) / items as f64)
}

pub(super) fn resident(_rounds: u32) -> Result<Section, Failure> {
    let mut rows = Vec::new();
    for peer in PEERS {
        let mut figures = Vec::new();
        for (_, value_bytes, items, _, _) in SIZES {
            figures.push(bytes_per_item(peer, value_bytes, items)?);
        }
        rows.push(Row {
            name: peer.name().into(),
            figures,
        });
    }
    let bars = SIZES
        .iter()
        .zip(&rows[0].figures)
        .map(|((what, _, _, bar, aim), figure)| {
            Bar::new(what, *figure, "bytes")
                .limit(Limit::AtMost(*bar))
                .aim(Limit::AtMost(*aim))
        })
        .collect();
    let table = Table {
        title: RESIDENT,
        columns: columns(["values of 96 bytes", "of 1,024", "of 60,000"]),
        rows,
    };
    Ok(Section { table, bars })
}

pub(super) fn shift(_rounds: u32) -> Result<Section, Failure> {
    const MANY: usize = 400;
    let mut rows = Vec::new();
    for peer in PEERS {
        let server = peer.start(Setup {
            threads: 2,
            max_memory_mib: Some(10),
        })?;
        let mut connection = server.connect()?;
        fill(&mut connection, "small:", 0..20_000, &[b's'; 500])?;
        let value = vec![b'l'; 40_000];
        let mut refused = 0;
        for number in 0..MANY {
            let stored = connection.set(&format!("large:{number:08}"), &value);
            refused += usize::from(matches!(stored, Err(Failure::Answer { .. })));
        }
        let mut found = 0;
        for number in 0..MANY {
            found += usize::from(connection.get(&format!("large:{number:08}"))?.is_some());
        }
        rows.push(Row {
            name: peer.name().into(),
            figures: vec![found as f64, refused as f64],
        });
    }
    let table = Table {
        title: SHIFT,
        columns: columns(["found", "refused"]),
        rows,
    };
    let bar = Bar::new(SHIFT, table.rows[0].figures[0], "of 400")
        .limit(Limit::AtLeast(200.0))
        .aim(Limit::AtLeast(245.0));
    Ok(Section {
        table,
        bars: vec![bar],
    })
}
