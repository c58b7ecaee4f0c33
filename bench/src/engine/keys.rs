//! What the contenders are filled with and asked for: built before anything is timed.

use std::sync::Arc;

use super::{VALUE_BYTES, Value};

/// Random choices that are the same in every run.
pub(super) const SEED: u64 = 0x68_6f_74;

/// The key with this number.
pub(super) fn key(number: usize) -> String {
    format!("session:{number:08}")
}

/// A value of its own memory for the key with this number.
pub(super) fn value(number: usize) -> Value {
    Arc::from([number as u8; VALUE_BYTES])
}

/// Keys with values, and the order in which they are asked for.
pub(super) struct KeySet {
    pub(super) keys: Vec<String>,
    pub(super) values: Vec<Value>,
    /// Keys again, in memory of their own and in the order of asking: reading the question costs the
    /// same for every contender, and does not bring the answer's key into the cache.
    pub(super) lookups: Arc<[String]>,
}

impl KeySet {
    /// So many keys, asked for round and round in one shuffled order.
    pub(super) fn shuffled(count: usize) -> Self {
        let mut order: Vec<usize> = (0..count).collect();
        fastrand::Rng::with_seed(SEED).shuffle(&mut order);
        Self::asked_in(count, order)
    }

    /// So many keys, asked for in a random order of this length, with repetitions.
    pub(super) fn random(count: usize, length: usize) -> Self {
        let mut random = fastrand::Rng::with_seed(SEED);
        Self::asked_in(count, (0..length).map(|_| random.usize(..count)))
    }

    fn asked_in(count: usize, order: impl IntoIterator<Item = usize>) -> Self {
        KeySet {
            keys: (0..count).map(key).collect(),
            values: (0..count).map(value).collect(),
            lookups: order.into_iter().map(key).collect(),
        }
    }
}

/// Numbers below `count`, the n-th as likely as n to the power of `-exponent`, in random places.
pub(super) struct Zipf {
    /// For each number, the chance of it or a lower one.
    cumulated: Vec<f64>,
}

impl Zipf {
    pub(super) fn new(count: usize, exponent: f64) -> Self {
        let mut sum = 0.0;
        let mut cumulated: Vec<f64> = (1..=count)
            .map(|rank| {
                sum += (rank as f64).powf(-exponent);
                sum
            })
            .collect();
        for chance in &mut cumulated {
            *chance /= sum;
        }
        Zipf { cumulated }
    }

    pub(super) fn sequence(&self, length: usize, seed: u64) -> Vec<u32> {
        let mut random = fastrand::Rng::with_seed(seed);
        let last = self.cumulated.len() - 1;
        (0..length)
            .map(|_| {
                let chance = random.f64();
                let number = self.cumulated.partition_point(|it| *it < chance);
                // Rounding may leave the last sum a little below one.
                number.min(last) as u32
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffled_order_asks_for_every_key_once() {
        let set = KeySet::shuffled(100);
        let mut asked = set.lookups.to_vec();
        assert_ne!(asked, set.keys);
        asked.sort();
        assert_eq!(asked, set.keys);
    }

    #[test]
    fn the_first_of_a_zipf_distribution_is_as_frequent_as_the_law_says() {
        let sequence = Zipf::new(1_000, 0.99).sequence(100_000, 1);
        let share = |number| {
            let times = sequence.iter().filter(|it| **it == number).count();
            times as f64 / sequence.len() as f64
        };
        // The sum of n^-0.99 up to 1,000 is 7.727.
        assert!((share(0) - 0.1294).abs() < 0.01, "{}", share(0));
        assert!((share(9) - 0.0132).abs() < 0.003, "{}", share(9));
        assert!(sequence.iter().all(|number| *number < 1_000));
    }
}
