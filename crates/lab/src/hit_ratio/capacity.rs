//! Capacities in percent.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use super::{HitRatioError, Room, Trace};

/// A capacity: a part of what a cache would have to hold to never evict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percent(f64);

/// Not a capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write a percentage above 0% and up to 100%, as in 5%")]
pub struct PercentError;

impl FromStr for Percent {
    type Err = PercentError;

    fn from_str(text: &str) -> Result<Self, PercentError> {
        let number = text.trim().strip_suffix('%').ok_or(PercentError)?;
        match number.trim_end().parse::<f64>() {
            Ok(percent) if percent > 0.0 && percent <= 100.0 => Ok(Percent(percent)),
            _ => Err(PercentError),
        }
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

impl Percent {
    /// The room that this is for the trace in `file`, rounded down.
    pub(super) fn of(self, trace: &Trace, file: &Path) -> Result<Room, HitRatioError> {
        let whole = match trace.is_sized {
            true => trace.distinct_bytes,
            false => trace.distinct_keys as u64,
        };
        // Before dividing, so that 10% of 30 is 3 and not a little less.
        let capacity = (whole as f64 * self.0 / 100.0) as u64;
        if capacity == 0 {
            return Err(HitRatioError::NoCapacity {
                file: file.to_owned(),
                percent: self.to_string(),
                unit: if trace.is_sized { "byte" } else { "key" },
            });
        }
        Ok(Room::of(trace, capacity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_has_its_sign_and_is_above_nothing_and_not_above_all() {
        for (text, percent) in [("1%", 1.0), ("0.5%", 0.5), ("100%", 100.0), (" 5 %", 5.0)] {
            assert_eq!(text.parse(), Ok(Percent(percent)), "{text}");
        }
        for text in [
            "", "%", "5", "0%", "-1%", "101%", "nan%", "inf%", "x%", "5%%",
        ] {
            assert_eq!(text.parse::<Percent>(), Err(PercentError), "{text}");
        }
        assert_eq!("0.50%".parse::<Percent>().unwrap().to_string(), "0.5%");
    }

    #[test]
    fn it_is_of_the_keys_or_of_their_bytes_and_never_nothing() {
        let one_size = Trace::from_references((0..30).map(|key| (key, 1)), false);
        let sized = Trace::from_references((0..30).map(|key| (key, 100)), true);
        let file = Path::new("a");
        assert_eq!(Percent(10.0).of(&one_size, file).unwrap().capacity, 3);
        assert_eq!(Percent(10.0).of(&sized, file).unwrap().capacity, 300);
        let error = Percent(1.0).of(&one_size, file).unwrap_err();
        assert_eq!(
            error.to_string(),
            "1% of a is less than one key; give more percent"
        );
    }
}
