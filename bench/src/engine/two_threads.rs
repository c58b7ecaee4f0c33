//! Hits of two threads that ask for the same keys.

use std::sync::atomic::AtomicBool;

use hotcopy_lab::contenders::{
    Foyer, FrozenMap, Get, HashMap, KeySet, Moka, Ours, Papaya, QuickCache, Reads, Setup, TinyUfo,
};
use hotcopy_lab::rounds::{Crowd, Operation, Pace, measure_together};

use super::bar::Limit;
use super::hits::{OURS, QUICK_CACHE};
use super::keys::value;
use super::{Section, Value};
use crate::table::rows_of;

pub(super) const TITLE: &str = "hit, 1,000 keys, 2 threads";

/// Threads that read at once.
const THREADS: usize = 2;

fn crowd<S>(name: &'static str, store: &S, set: &KeySet<Value>) -> Crowd<'static>
where
    S: Reads<Value> + Clone + Send + 'static,
{
    let keys = &set.lookups;
    let operation = |thread: usize| -> Box<dyn Operation + Send> {
        // Threads in step would meet at the same key in every moment, which real ones do not.
        let start = thread * keys.len() / THREADS;
        Box::new(Get::starting_at(store.clone(), keys, start))
    };
    Crowd {
        name,
        operations: (0..THREADS).map(operation).collect(),
    }
}

fn shared<S>(set: &KeySet<Value>) -> Crowd<'static>
where
    S: Setup<Value> + Clone + Send + 'static,
{
    crowd(S::NAME, &set.filled::<S>(), set)
}

pub(super) fn run(pace: Pace) -> Section {
    let set = KeySet::shuffled(1_000, value);
    let map = FrozenMap::from(set.filled::<HashMap<Value>>());
    let mut crowds = [
        shared::<Ours<Value>>(&set),
        crowd(FrozenMap::<Value>::NAME, &map, &set),
        shared::<QuickCache<Value>>(&set),
        shared::<Moka<Value>>(&set),
        shared::<Papaya<Value>>(&set),
        shared::<Foyer<Value>>(&set),
        shared::<TinyUfo<Value>>(&set),
    ];
    let times = measure_together(&mut crowds, pace, &AtomicBool::new(false));
    let table = rows_of(TITLE, crowds.iter().map(|crowd| crowd.name).zip(times));
    let bars = vec![
        table
            .compare(
                TITLE,
                OURS,
                FrozenMap::<Value>::NAME,
                "× hashbrown, read-only",
            )
            .limit(Limit::AtMost(1.4))
            .aim(Limit::AtMost(1.1)),
        table
            .compare(TITLE, OURS, QUICK_CACHE, "× quick_cache sync")
            .limit(Limit::AtMost(0.2)),
    ];
    Section { table, bars }
}
