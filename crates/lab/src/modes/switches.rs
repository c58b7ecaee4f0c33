//! What each feature of our cache costs when it is switched on, and nothing else.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::lineup::EVERYTHING;
use crate::contenders::{Feature, Get, KeySet, Ours, Overwrite, Setup as _};
use crate::results::modes::{Switch, SwitchRow};
use crate::rounds::{Contender, Pace, PerOperation, measure};

/// In the order of the table; what nothing costs comes first, the others are compared with it.
fn lineup() -> Vec<(Switch, Vec<Feature>)> {
    vec![
        (Switch::Nothing, vec![]),
        (Switch::MaxEntries, vec![Feature::MaxEntries]),
        (Switch::MaxBytes, vec![Feature::MaxBytes]),
        (Switch::TimeToLive, vec![Feature::TimeToLive]),
        (Switch::Jitter, vec![Feature::TimeToLive, Feature::Jitter]),
        (Switch::TimeToIdle, vec![Feature::TimeToIdle]),
        (Switch::OwnTimeToLive, vec![Feature::OwnTimeToLive]),
        (Switch::All, EVERYTHING.to_vec()),
    ]
}

pub(super) fn section(
    set: &KeySet<Arc<[u8]>>,
    pace: Pace,
    interrupt: &AtomicBool,
) -> Vec<SwitchRow> {
    let lineup = lineup();
    let mut contenders = Vec::new();
    for (_, features) in &lineup {
        let store = || set.fill(Ours::with(features, set.room()), Ours::<Arc<[u8]>>::NAME);
        let get = Get::starting_at(store(), &set.lookups, 0);
        contenders.push(Contender::new("get", get));
        contenders.push(Contender::new("set", Overwrite::new(store(), set)));
    }
    let times = measure(&mut contenders, pace, interrupt);
    let times: Vec<(PerOperation, PerOperation)> = times
        .chunks_exact(2)
        .map_while(|times| times[0].zip(times[1]))
        .collect();
    rows(lineup.into_iter().map(|it| it.0), &times, set.keys.len())
}

fn rows(
    switches: impl Iterator<Item = Switch>,
    times: &[(PerOperation, PerOperation)],
    keys: usize,
) -> Vec<SwitchRow> {
    switches
        .zip(times)
        .map(|(switch, (get, set))| {
            let cost = |time: &PerOperation, base: &PerOperation| {
                (switch != Switch::Nothing).then_some(time.median_ns - base.median_ns)
            };
            SwitchRow {
                switch,
                keys: keys as u64,
                get: *get,
                set: *set,
                get_cost_ns: cost(get, &times[0].0),
                set_cost_ns: cost(set, &times[0].1),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(ns: f64) -> PerOperation {
        PerOperation {
            median_ns: ns,
            min_ns: ns,
            max_ns: ns,
        }
    }

    #[test]
    fn a_cost_is_what_comes_on_top_of_nothing() {
        let times = [(time(10.0), time(50.0)), (time(12.5), time(49.0))];
        let rows = rows([Switch::Nothing, Switch::MaxEntries].into_iter(), &times, 7);
        assert_eq!((rows[0].get_cost_ns, rows[0].set_cost_ns), (None, None));
        assert_eq!(rows[1].get_cost_ns, Some(2.5));
        assert_eq!(rows[1].set_cost_ns, Some(-1.0));
        assert_eq!(rows[1].keys, 7);
    }
}
