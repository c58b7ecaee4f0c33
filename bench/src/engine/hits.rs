//! Reads on one thread: hits in sets of keys of three sizes, and misses.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hotcopy_lab::contenders::{
    Foyer, Get, HashMap, KeySet, Lru, Moka, Ours, Papaya, QuickCache, QuickCacheUnsync, Setup,
    TinyUfo, key,
};
use hotcopy_lab::rounds::{Contender, Pace, measure};

use super::bar::Limit;
use super::keys::value;
use super::{Section, Value};
use crate::table::{Table, rows_of};

pub(super) const THOUSAND: &str = "hit, 1,000 keys, 1 thread";
pub(super) const ONE: &str = "hit, 1 key, 1 thread";
pub(super) const MANY: &str = "hit, 100,000 keys in a random order of 2^18, 1 thread";
pub(super) const MISS: &str = "miss, 1,000 keys, 1 thread";

fn contender<S: Setup<Value> + 'static>(
    set: &KeySet<Value>,
    lookups: &Arc<[String]>,
) -> Contender<'static> {
    let store = set.filled::<S>();
    Contender::new(S::NAME, Get::starting_at(store, lookups, 0))
}

fn table(title: &'static str, set: &KeySet<Value>, lookups: &Arc<[String]>, pace: Pace) -> Table {
    let mut contenders = [
        contender::<Ours<Value>>(set, lookups),
        contender::<HashMap<Value>>(set, lookups),
        contender::<QuickCache<Value>>(set, lookups),
        contender::<QuickCacheUnsync<Value>>(set, lookups),
        contender::<Moka<Value>>(set, lookups),
        contender::<Papaya<Value>>(set, lookups),
        contender::<Lru<Value>>(set, lookups),
        contender::<Foyer<Value>>(set, lookups),
        contender::<TinyUfo<Value>>(set, lookups),
    ];
    let times = measure(&mut contenders, pace, &AtomicBool::new(false));
    rows_of(title, contenders.iter().map(|it| it.name).zip(times))
}

pub(super) const OURS: &str = <Ours<Value> as Setup<Value>>::NAME;
pub(super) const QUICK_CACHE: &str = <QuickCache<Value> as Setup<Value>>::NAME;
const HASHBROWN: &str = <HashMap<Value> as Setup<Value>>::NAME;

pub(super) fn thousand_keys(pace: Pace) -> Section {
    hits(THOUSAND, &KeySet::shuffled(1_000, value), pace, 0.5)
}

pub(super) fn one_key(pace: Pace) -> Section {
    hits(ONE, &KeySet::shuffled(1, value), pace, 0.6)
}

pub(super) fn many_keys(pace: Pace) -> Section {
    hits(MANY, &KeySet::random(100_000, 1 << 18, value), pace, 0.65)
}

/// `most` is the bar: ours as a share of `quick_cache`.
fn hits(title: &'static str, set: &KeySet<Value>, pace: Pace, most: f64) -> Section {
    let table = table(title, set, &set.lookups, pace);
    let bars = vec![
        table
            .compare(title, OURS, QUICK_CACHE, "× quick_cache sync")
            .limit(Limit::AtMost(most)),
        table
            .compare(title, OURS, HASHBROWN, "× hashbrown")
            .aim(Limit::AtMost(1.25)),
    ];
    Section { table, bars }
}

pub(super) fn misses(pace: Pace) -> Section {
    let set = KeySet::shuffled(1_000, value);
    let absent: Arc<[String]> = (1_000..2_000).map(key).collect();
    let table = table(MISS, &set, &absent, pace);
    let bar = table
        .compare(MISS, OURS, QUICK_CACHE, "× quick_cache sync")
        .limit(Limit::AtMost(0.6));
    Section {
        table,
        bars: vec![bar],
    }
}
