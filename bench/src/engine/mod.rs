//! The engine beside its peers: every bar that it is held to, met or missed.
//!
//! String keys, 100-byte `Arc<[u8]>` values. Ours has deadlines, eviction and statistics on; peers
//! have what they cannot go without.

mod bar;
mod byte_store;
mod entry_bytes;
mod hit_ratio;
mod hits;
mod keys;
mod read_through;
mod two_threads;
mod writes;

use std::path::Path;

use hotcopy_lab::Error;
use hotcopy_lab::rounds::Pace;

use crate::table::Table;
pub(crate) use bar::{Bar, Bars, Limit};
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

/// Measures the groups whose title contains `filter`, and hands over each when it is done. `traces` is
/// the folder of recorded traces; without one hit ratios are left out.
pub(crate) fn run(
    pace: Pace,
    traces: Option<&Path>,
    filter: Option<&str>,
    mut done: impl FnMut(Section),
) -> Result<(), Error> {
    type Measure<'a> = Box<dyn Fn() -> Result<Section, Error> + 'a>;
    let timed =
        |measure: fn(Pace) -> Section| -> Measure<'_> { Box::new(move || Ok(measure(pace))) };
    let mut sections: Vec<(&str, Measure<'_>)> = vec![
        (hits::THOUSAND, timed(hits::thousand_keys)),
        (two_threads::TITLE, timed(two_threads::run)),
        (hits::ONE, timed(hits::one_key)),
        (hits::MANY, timed(hits::many_keys)),
        (hits::MISS, timed(hits::misses)),
        (writes::NEW, timed(writes::insert_new)),
        (writes::NEW_EVICTING, timed(writes::insert_evicting)),
        (writes::OVER, timed(writes::insert_over)),
        (writes::REMOVE, timed(writes::remove)),
        (read_through::TITLE, timed(read_through::run)),
        (entry_bytes::TITLE, Box::new(|| Ok(entry_bytes::run()))),
        (byte_store::FILLED, Box::new(byte_store::filled)),
        (byte_store::SHIFTED, Box::new(byte_store::shifted)),
    ];
    if let Some(folder) = traces {
        sections.push((hit_ratio::TITLE, Box::new(|| hit_ratio::traces(folder))));
        sections.push((hit_ratio::MIXED, Box::new(|| hit_ratio::mixed(folder))));
    }
    for (title, measure) in sections {
        if filter.is_none_or(|filter| title.contains(filter)) {
            done(measure()?);
        }
    }
    Ok(())
}
