//! The text of a result, and the schema that it follows.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value};

use super::cost::CostResult;
use super::modes::ModesResult;

/// `serde_json` parses a decimal exactly only if its digits fit 2^53 and its power of ten is at
/// most 22, unless the feature `float_roundtrip` is on; but that would slow the very decoder that
/// `hotcopy cost` measures. Twelve digits keep within, and are more than any clock here resolves.
const SIGNIFICANT_DIGITS: usize = 12;

/// Below this a figure of twelve digits would need a higher power of ten.
const SMALLEST: f64 = 1e-10;

/// The text of a results file: pretty JSON with a line feed at its end, whose decimals come back
/// exactly.
///
/// # Panics
/// If `result` has maps whose keys are not strings, which no result has.
#[must_use]
pub fn to_json<T: Serialize>(result: &T) -> String {
    let mut value = serde_json::to_value(result).expect("a result is plain data");
    round(&mut value);
    format!("{value:#}\n")
}

/// The result with its figures as exact as the file holds them: what [`read`](super::read) would
/// return.
#[must_use]
pub fn as_written<T: Serialize + DeserializeOwned + Clone>(result: &T) -> T {
    // Only a figure that is not finite cannot be read back, and no constructor makes one.
    serde_json::from_str(&to_json(result)).unwrap_or_else(|_| result.clone())
}

/// The JSON schema of [`CostResult`], generated from the types, as `docs/schema/` publishes it.
#[must_use]
pub fn cost_schema() -> String {
    to_json(&schemars::schema_for!(CostResult))
}

/// The JSON schema of [`ModesResult`], as that of `hotcopy cost`.
#[must_use]
pub fn modes_schema() -> String {
    to_json(&schemars::schema_for!(ModesResult))
}

fn round(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let rounded = number.as_f64().map(rounded).and_then(Number::from_f64);
            if let Some(rounded) = rounded {
                *number = rounded;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(round),
        Value::Object(values) => values.values_mut().for_each(round),
        _ => {}
    }
}

fn rounded(value: f64) -> f64 {
    if value.abs() < SMALLEST {
        return 0.0;
    }
    let decimals = SIGNIFICANT_DIGITS - 1;
    format!("{value:.decimals$e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_decimal_comes_back_as_it_was_written() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..100_000 {
            let value = (random.f64() - 0.5) * 10_f64.powi(random.i32(-14..16));
            let json = to_json(&value);
            let read: f64 = serde_json::from_str(&json).unwrap();
            assert_eq!(to_json(&read), json);
            assert_eq!(read, rounded(value));
            assert!((read - value).abs() <= value.abs() * 1e-11 + SMALLEST);
        }
    }

    #[test]
    fn whole_numbers_are_not_rounded() {
        assert_eq!(to_json(&u64::MAX), format!("{}\n", u64::MAX));
        assert_eq!(to_json(&i64::MIN), format!("{}\n", i64::MIN));
    }
}
