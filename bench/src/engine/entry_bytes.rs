//! What a store asks of the allocator for each entry, beside the entry's own key and value.
//! `TinyUFO` is left out: it keeps a hash instead of the key.

use hotcopy_lab::contenders::{
    Foyer, HashMap, Lru, Moka, Ours, Papaya, QuickCache, QuickCacheUnsync, Setup, key,
};
use hotcopy_lab::meters::alloc;

use super::bar::{Bar, Limit};
use super::hits::OURS;
use super::keys::value;
use super::{Section, Value};
use crate::table::{Row, Table, columns};

pub(super) const TITLE: &str = "allocator bytes per entry, beside K, V and their heap";

/// Numbers of entries within one doubling: stores whose tables double are between half full and
/// full, and a single number would catch each at another point.
const ENTRIES: [usize; 5] = [100_000, 119_000, 141_000, 168_000, 199_000];

/// What an entry holds inline; its heap was asked for before counting began.
const INLINE_BYTES: f64 = (size_of::<String>() + size_of::<Value>()) as f64;

fn bytes_per_entry<S: Setup<Value>>(entries: usize) -> f64 {
    let filling: Vec<(String, Value)> = (0..entries).map(|n| (key(n), value(n))).collect();
    alloc::start();
    let mut store = S::with_room_for(entries);
    let mut filling = filling.into_iter();
    for (key, value) in filling.by_ref() {
        store.write(key, value);
    }
    store.settle();
    let reading = alloc::stop();
    let held = (0..entries)
        .filter(|number| store.read(&key(*number), |_| ()).is_some())
        .count();
    // What was evicted has freed a key and a value that were not counted.
    let evicted = entries - held;
    let freed_uncounted = evicted as f64 * heap_bytes();
    let grown = reading.bytes as f64 - reading.freed_bytes as f64 + freed_uncounted;
    grown / held as f64 - INLINE_BYTES
}

/// Heap of one key and one value as the allocator is asked for it.
fn heap_bytes() -> f64 {
    let counts = 2 * size_of::<usize>();
    let value = (counts + super::VALUE_BYTES).next_multiple_of(align_of::<usize>());
    (key(0).capacity() + value) as f64
}

fn row<S: Setup<Value>>() -> Row {
    let mut bytes = ENTRIES.map(bytes_per_entry::<S>);
    bytes.sort_by(f64::total_cmp);
    let mean = bytes.iter().sum::<f64>() / bytes.len() as f64;
    Row {
        name: S::NAME.into(),
        figures: vec![mean, bytes[0], bytes[bytes.len() - 1]],
    }
}

pub(super) fn run() -> Section {
    let table = Table {
        title: TITLE,
        columns: columns(["bytes, mean of 5 sizes", "min", "max"]),
        rows: vec![
            row::<Ours<Value>>(),
            row::<QuickCache<Value>>(),
            row::<QuickCacheUnsync<Value>>(),
            row::<Moka<Value>>(),
            row::<Lru<Value>>(),
            row::<Foyer<Value>>(),
            row::<HashMap<Value>>(),
            row::<Papaya<Value>>(),
        ],
    };
    let ours = table.figure(OURS).unwrap_or(f64::NAN);
    let bar = Bar::new(TITLE, ours, "bytes")
        .limit(Limit::AtMost(48.0))
        .aim(Limit::AtMost(36.0));
    Section {
        table,
        bars: vec![bar],
    }
}
