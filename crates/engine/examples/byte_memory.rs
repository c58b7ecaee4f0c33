//! What a byte store really takes: resident memory against what was asked for.
//!
//! Each measurement runs in a fresh process: `byte_memory fill`, `byte_memory shifts`,
//! `byte_memory item BYTES`, `byte_memory small-limit`.

use hotcopy_engine::bytes::{ByteStore, Database, SetOptions, StoreConfig, UnixMillis};

const NOW: UnixMillis = UnixMillis(1);
const MIB: u64 = 1 << 20;

/// Resident memory of this process, as Linux tells it.
fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux has /proc");
    let pages: u64 = statm
        .split_whitespace()
        .nth(1)
        .and_then(|field| field.parse().ok())
        .expect("the second field is a number");
    pages * 4096
}

fn store(max_bytes: Option<u64>) -> ByteStore {
    ByteStore::new(&StoreConfig {
        max_bytes,
        ..StoreConfig::default()
    })
}

fn set(store: &ByteStore, key: &str, value: &[u8]) {
    let written = store.set(
        Database::default(),
        key.as_bytes(),
        value,
        SetOptions::default(),
        NOW,
    );
    written.expect("it fits");
}

/// Values of 16 B to 64 KiB, as many of each order of magnitude, until the store has evicted.
fn fill() {
    const LIMIT: u64 = 256 * MIB;
    let mut random = fastrand::Rng::with_seed(1);
    let bytes = vec![b'x'; 64 * 1024];
    let before = resident_bytes();
    let store = store(Some(LIMIT));
    let mut number = 0;
    while store.stats().evictions < 1_000 {
        let len = 16.0 * 4096_f64.powf(random.f64());
        set(&store, &format!("key:{number:08}"), &bytes[..len as usize]);
        number += 1;
    }
    let grown = resident_bytes() - before;
    println!(
        "fill: resident growth {:.3} x the limit, used {:.3} x, {number} written, {} there",
        grown as f64 / LIMIT as f64,
        store.used_bytes() as f64 / LIMIT as f64,
        store.len(Database::default()),
    );
}

/// Twenty times the limit: twice in values of 100 B, then eight times in 4 KB, then ten times in 60 KB.
fn shifts() {
    const LIMIT: u64 = 1024 * MIB;
    let bytes = vec![b'x'; 60_000];
    let store = store(Some(LIMIT));
    let mut number = 0_u64;
    for (len, times) in [(100, 2), (4_000, 8), (60_000, 10)] {
        let began = std::time::Instant::now();
        let mut written = 0;
        let mut peak = 0;
        while written < times * LIMIT {
            set(&store, &format!("key:{number:08}"), &bytes[..len]);
            number += 1;
            written += len as u64 + 12;
            if number.is_multiple_of(4096) {
                peak = peak.max(resident_bytes());
            }
        }
        println!(
            "shifts: {len} B: peak resident {:.3} x the limit, at the end {:.3} x, used {:.3} x, {} there, {:.0} ns a write",
            peak as f64 / LIMIT as f64,
            resident_bytes() as f64 / LIMIT as f64,
            store.used_bytes() as f64 / LIMIT as f64,
            store.len(Database::default()),
            began.elapsed().as_nanos() as f64 / (written / (len as u64 + 12)) as f64,
        );
    }
}

/// Bytes for each further item, from N to 2 N of them.
fn item(len: usize) {
    let bytes = vec![b'x'; len];
    let items = if len > 10_000 { 5_000 } else { 300_000 };
    let store = store(None);
    let mut number = 0;
    let mut write = |count: usize| {
        for _ in 0..count {
            set(&store, &format!("key:{number:08}"), &bytes);
            number += 1;
        }
        resident_bytes()
    };
    let before = write(items);
    let after = write(items);
    println!(
        "item: {len} B: {:.1} resident bytes an item",
        (after - before) as f64 / items as f64
    );
}

/// A size shift in a small store: how many of the last 400 are there.
fn small_limit() {
    let store = store(Some(10 * MIB));
    for number in 0..20_000 {
        set(&store, &format!("small:{number:06}"), &[b'x'; 500]);
    }
    let large = |number| format!("large:{number:06}");
    for number in 0..400 {
        set(&store, &large(number), &[b'x'; 40_000]);
    }
    let there = (0..400)
        .filter(|number| {
            let found = store.get(Database::default(), large(*number).as_bytes(), NOW);
            found.is_some()
        })
        .count();
    println!(
        "small-limit: {there} of the last 400 are there, used {:.3} x the limit",
        store.used_bytes() as f64 / (10 * MIB) as f64
    );
}

fn main() {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("fill") => fill(),
        Some("shifts") => shifts(),
        Some("item") => {
            let len = args.next().and_then(|len| len.parse().ok());
            item(len.expect("the length of a value"));
        }
        Some("small-limit") => small_limit(),
        _ => eprintln!("one of: fill, shifts, item BYTES, small-limit"),
    }
}
