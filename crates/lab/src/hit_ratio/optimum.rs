//! The best that any cache could do, one that knows the future included.

use std::collections::BTreeSet;

use super::Trace;

const NEVER: usize = usize::MAX;

/// The hits of Bélády's rule (1966), for entries of one size: what is not needed for the longest time
/// goes. The newcomer may be the one to go, so that this bounds caches that refuse newcomers too.
pub(super) fn belady(trace: &Trace, capacity: u64) -> u64 {
    let next_uses = next_uses(trace);
    let mut hits = 0;
    // What is held, by the reference that needs it next. An entry without one is not worth holding.
    let mut held = BTreeSet::new();
    for (now, &next) in next_uses.iter().enumerate() {
        hits += u64::from(held.remove(&now));
        if next != NEVER {
            held.insert(next);
        }
        if held.len() as u64 > capacity {
            held.pop_last();
        }
    }
    hits
}

/// A number of hits that no cache can pass, for entries of different sizes, where the best is too
/// hard to compute: PFOO-U of Berger, Beckmann and Harchol-Balter (*Practical Bounds on Optimal
/// Caching with Variable Object Sizes*, 2018).
///
/// To hit, a cache has to hold the entry since its last use: so many bytes for so many references. All
/// hits together cannot take more than the capacity times the length of the trace; taking the cheapest first
/// gives the most.
pub(super) fn upper_bound(trace: &Trace, capacity: u64) -> u64 {
    let mut costs: Vec<u128> = next_uses(trace)
        .iter()
        .zip(&trace.references)
        .enumerate()
        .filter(|&(_, (&next, reference))| next != NEVER && u64::from(reference.size) <= capacity)
        .map(|(now, (&next, reference))| (next - now) as u128 * u128::from(reference.size))
        .collect();
    costs.sort_unstable();
    let mut left = u128::from(capacity) * trace.references.len() as u128;
    let affordable = costs
        .into_iter()
        .take_while(|&cost| match left.checked_sub(cost) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        });
    affordable.count() as u64
}

/// For each reference, the next one to the same key.
fn next_uses(trace: &Trace) -> Vec<usize> {
    let mut next_of_key = vec![NEVER; trace.distinct_keys];
    let mut next_uses = vec![NEVER; trace.references.len()];
    for (now, reference) in trace.references.iter().enumerate().rev() {
        let next = &mut next_of_key[reference.key as usize];
        next_uses[now] = std::mem::replace(next, now);
    }
    next_uses
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(keys: &[u32]) -> Trace {
        Trace::from_references(keys.iter().map(|&key| (key, 1)), false)
    }

    /// Tries every choice of who goes.
    fn best(keys: &[u32], capacity: usize, held: &[u32]) -> u64 {
        let Some((key, rest)) = keys.split_first() else {
            return 0;
        };
        if held.contains(key) {
            return 1 + best(rest, capacity, held);
        }
        let with = [held, &[*key]].concat();
        if with.len() <= capacity {
            return best(rest, capacity, &with);
        }
        let without = |gone: usize| {
            let mut left = with.clone();
            left.remove(gone);
            best(rest, capacity, &left)
        };
        (0..with.len()).map(without).max().unwrap_or(0)
    }

    #[test]
    fn beladys_rule_is_as_good_as_trying_everything() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..200 {
            let keys: Vec<u32> = (0..9).map(|_| random.u32(0..5)).collect();
            for capacity in 1..4 {
                let found = belady(&trace(&keys), capacity as u64);
                assert_eq!(found, best(&keys, capacity, &[]), "{keys:?} in {capacity}");
                assert!(upper_bound(&trace(&keys), capacity as u64) >= found);
            }
        }
    }

    #[test]
    fn in_a_loop_the_optimum_hits_on_as_much_as_fits() {
        let keys: Vec<u32> = (0..10_000).map(|index| index % 100).collect();
        assert_eq!(belady(&trace(&keys), 30), 99 * 30);
        assert_eq!(belady(&trace(&keys), 100), 99 * 100);
    }

    #[test]
    fn an_entry_larger_than_the_cache_never_hits() {
        let trace = Trace::from_references([(1, 50), (1, 50), (2, 5), (2, 5)], true);
        assert_eq!(upper_bound(&trace, 49), 1);
        assert_eq!(upper_bound(&trace, 50), 2);
    }
}
