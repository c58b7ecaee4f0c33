//! The engine beside its peers: every bar that it is held to, met or missed.
//!
//! String keys, 100-byte `Arc<[u8]>` values. Ours has deadlines, eviction and statistics on; peers
//! have what they cannot go without.

mod bar;
mod byte_store;
mod entry_bytes;
mod hits;
mod keys;
mod read_through;
mod two_threads;
mod writes;

use hotcopy_lab::Error;
use hotcopy_lab::rounds::Pace;

use crate::table::Table;
pub(crate) use bar::{Bar, Bars};
pub(crate) use byte_store::{CHILD as BYTE_STORE_CHILD, run_child};

/// What contenders keep: of 100 bytes.
type Value = std::sync::Arc<[u8]>;

/// Bytes of a value.
const VALUE_BYTES: usize = 100;

/// One group of figures, and how they stand to their bars.
pub(crate) struct Section {
    pub(crate) table: Table,
    pub(crate) bars: Vec<Bar>,
}

/// Measures the groups whose title contains `filter`, and hands over each when it is done.
pub(crate) fn run(
    pace: Pace,
    filter: Option<&str>,
    mut done: impl FnMut(Section),
) -> Result<(), Error> {
    type Measure = fn(Pace) -> Result<Section, Error>;
    let sections: &[(&str, Measure)] = &[
        (hits::THOUSAND, |pace| Ok(hits::thousand_keys(pace))),
        (two_threads::TITLE, |pace| Ok(two_threads::run(pace))),
        (hits::ONE, |pace| Ok(hits::one_key(pace))),
        (hits::MANY, |pace| Ok(hits::many_keys(pace))),
        (hits::MISS, |pace| Ok(hits::misses(pace))),
        (writes::NEW, |pace| Ok(writes::insert_new(pace))),
        (writes::NEW_EVICTING, |pace| {
            Ok(writes::insert_evicting(pace))
        }),
        (writes::OVER, |pace| Ok(writes::insert_over(pace))),
        (writes::REMOVE, |pace| Ok(writes::remove(pace))),
        (read_through::TITLE, |pace| Ok(read_through::run(pace))),
        (entry_bytes::TITLE, |_| Ok(entry_bytes::run())),
        (byte_store::FILLED, |_| byte_store::filled()),
        (byte_store::SHIFTED, |_| byte_store::shifted()),
    ];
    for (title, measure) in sections {
        if filter.is_none_or(|filter| title.contains(filter)) {
            done(measure(pace)?);
        }
    }
    Ok(())
}
