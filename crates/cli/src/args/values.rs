//! Values that flags take, checked as they are read.

use std::str::FromStr;
use std::time::Duration;

/// So many a second, or for each of something: above zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate(pub(crate) f64);

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        positive(text).map(Rate)
    }
}

/// A time in seconds, above zero, at most a day.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seconds(pub(crate) Duration);

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seconds = positive(text)?;
        if seconds > 86_400.0 {
            return Err("more than a day".into());
        }
        match Duration::from_secs_f64(seconds) {
            Duration::ZERO => Err("must be above zero".into()),
            time => Ok(Seconds(time)),
        }
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        Ok(_) => Err("must be above zero".into()),
        Err(_) => Err("not a number".into()),
    }
}

/// A number of bytes, with Redis's units: `1k` is 1,000 and `1kb` is 1,024, and so on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Size(pub(crate) u64);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim().to_ascii_lowercase();
        let digits = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let factor = match unit.trim() {
            "" | "b" => 1,
            "k" => 1_000,
            "kb" | "kib" => 1 << 10,
            "m" => 1_000_000,
            "mb" | "mib" => 1 << 20,
            "g" => 1_000_000_000,
            "gb" | "gib" => 1 << 30,
            _ => return Err("write bytes, or a number with kb, mb or gb".into()),
        };
        let size = number
            .parse::<u64>()
            .ok()
            .and_then(|number| number.checked_mul(factor));
        match size {
            Some(0) => Err("must be above zero".into()),
            Some(size) => Ok(Size(size)),
            None => Err("write bytes, or a number with kb, mb or gb".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_use_the_units_of_redis() {
        assert_eq!("100".parse(), Ok(Size(100)));
        assert_eq!("1k".parse(), Ok(Size(1_000)));
        assert_eq!("2MB".parse(), Ok(Size(2 << 20)));
        assert_eq!("3gib".parse(), Ok(Size(3 << 30)));
        for wrong in ["", "mb", "0", "-1", "1tb", "99999999999gb", "1.5gb"] {
            assert!(wrong.parse::<Size>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn rates_and_times_are_above_zero_and_finite() {
        assert!("2730".parse::<Rate>().is_ok() && "0.1".parse::<Seconds>().is_ok());
        for wrong in ["0", "-1", "nan", "inf", "", "x", "1e-12"] {
            assert!(wrong.parse::<Seconds>().is_err(), "{wrong}");
        }
        assert!("0".parse::<Rate>().is_err() && "nan".parse::<Rate>().is_err());
    }
}
