//! Values of the engine's tables, and keys whose popularity is that of real ones.

use std::sync::Arc;

use super::{VALUE_BYTES, Value};

/// A value of its own memory for the key with this number.
pub(super) fn value(number: usize) -> Value {
    Arc::from([number as u8; VALUE_BYTES])
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
