//! The numbers of `INCRBYFLOAT`.
//!
//! Redis adds in the C type `long double`, which on x86-64 has 64 binary digits, and shows 17 decimal places without
//! the zeros at the end. A sum in fewer digits would show: 10.5 and 0.1 would make 10.59999999999999964. So
//! this is that type, of which only adding and reading and writing as text are needed. It is computed
//! with integers of any length, which is exact, and rounded once.

use std::cmp::Ordering;
use std::fmt;

use num_bigint::{BigInt, BigUint, Sign};

/// Binary digits of a number.
const DIGITS: u64 = 64;

/// Powers of two that the first digit can stand for.
const MAX_EXPONENT: i64 = 16_383;
const MIN_EXPONENT: i64 = -16_445;

/// Longest text that Redis reads.
const MAX_TEXT_BYTES: usize = 5 * 1024;

/// Powers of ten beyond which a number of so many digits is out of range in any case.
const MAX_TEN_EXPONENT: i64 = 20_000;

/// Decimal places that are shown.
const PLACES: usize = 17;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LongDouble {
    /// Mantissa times two to the power of exponent.
    Finite {
        is_negative: bool,
        mantissa: u64,
        exponent: i64,
    },
    Infinite,
}

impl LongDouble {
    pub(super) const ZERO: LongDouble = LongDouble::Finite {
        is_negative: false,
        mantissa: 0,
        exponent: 0,
    };

    /// Reads a decimal number. None if it is none, or out of range.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        if text.len() > MAX_TEXT_BYTES {
            return None;
        }
        let (is_negative, unsigned) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, text),
        };
        let is_word = |word: &str| unsigned.eq_ignore_ascii_case(word.as_bytes());
        if is_word("inf") || is_word("infinity") {
            return Some(LongDouble::Infinite);
        }
        let exponent_at = unsigned.iter().position(|byte| matches!(byte, b'e' | b'E'));
        let (digits, ten_exponent) = match exponent_at {
            Some(at) => (&unsigned[..at], parse_exponent(&unsigned[at + 1..])?),
            None => (unsigned, 0),
        };
        let point = digits.iter().position(|byte| *byte == b'.');
        let (whole, places) = match point {
            Some(at) => (&digits[..at], &digits[at + 1..]),
            None => (digits, &digits[..0]),
        };
        let all = [whole, places].concat();
        if all.is_empty() || !all.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let number = BigUint::parse_bytes(&all, 10)?;
        if number == BigUint::ZERO {
            return Some(LongDouble::ZERO);
        }
        let ten_exponent = ten_exponent - i64::try_from(places.len()).ok()?;
        if ten_exponent.abs() > MAX_TEN_EXPONENT {
            return None;
        }
        let power = BigUint::from(10_u32).pow(u32::try_from(ten_exponent.abs()).ok()?);
        if ten_exponent < 0 {
            round(is_negative, &number, &power)
        } else {
            round(is_negative, &(number * power), &BigUint::from(1_u32))
        }
    }

    /// The sum; none if it is infinite, or is of numbers that are.
    pub(super) fn checked_add(self, other: LongDouble) -> Option<Self> {
        let (
            LongDouble::Finite { exponent: one, .. },
            LongDouble::Finite {
                exponent: another, ..
            },
        ) = (self, other)
        else {
            return None;
        };
        let least = one.min(another);
        let sum = self.in_units_of(least)? + other.in_units_of(least)?;
        let (sign, sum) = sum.into_parts();
        let (unit, one) = (
            BigUint::from(1_u32) << least.unsigned_abs(),
            BigUint::from(1_u32),
        );
        if sum == BigUint::ZERO {
            Some(LongDouble::ZERO)
        } else if least < 0 {
            round(sign == Sign::Minus, &sum, &unit)
        } else {
            round(sign == Sign::Minus, &(sum * unit), &one)
        }
    }

    /// How many times two to the power of `exponent`, which is no larger than its own.
    fn in_units_of(self, exponent: i64) -> Option<BigInt> {
        let LongDouble::Finite {
            is_negative,
            mantissa,
            exponent: own,
        } = self
        else {
            return None;
        };
        let sign = if is_negative { Sign::Minus } else { Sign::Plus };
        let units = BigUint::from(mantissa) << own.checked_sub(exponent)?.unsigned_abs();
        Some(BigInt::from_biguint(sign, units))
    }
}

/// What follows the `e`. Any number that is too large does: it is out of range.
fn parse_exponent(text: &[u8]) -> Option<i64> {
    let digits = match text {
        [b'-' | b'+', rest @ ..] => rest,
        _ => text,
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let significant = digits.iter().position(|digit| *digit != b'0');
    let significant = &digits[significant.unwrap_or(digits.len())..];
    let size = match std::str::from_utf8(significant).ok()? {
        "" => 0,
        digits if digits.len() > 6 => 2 * MAX_TEN_EXPONENT,
        digits => digits.parse().ok()?,
    };
    Some(if text[0] == b'-' { -size } else { size })
}

/// The nearest number to a fraction that is not zero, and of two that are equally near the even one. None if it is
/// out of range.
fn round(is_negative: bool, numerator: &BigUint, denominator: &BigUint) -> Option<LongDouble> {
    // Scaled by this power of two, the quotient has 64 digits, or 65.
    let bits = |number: &BigUint| i64::try_from(number.bits()).ok();
    let mut scale = i64::try_from(DIGITS).ok()? - bits(numerator)? + bits(denominator)?;
    let divide = |scale: i64| {
        let shift = scale.unsigned_abs();
        let (numerator, denominator) = if scale < 0 {
            (numerator.clone(), denominator << shift)
        } else {
            (numerator << shift, denominator.clone())
        };
        let quotient = &numerator / &denominator;
        let twice_rest = (numerator - &quotient * &denominator) << 1_u32;
        let is_above_half = twice_rest.cmp(&denominator);
        (quotient, is_above_half)
    };
    let (mut quotient, mut half) = divide(scale);
    if quotient.bits() > DIGITS {
        scale -= 1;
        (quotient, half) = divide(scale);
    }
    let is_up = match half {
        Ordering::Less => false,
        Ordering::Equal => quotient.bit(0),
        Ordering::Greater => true,
    };
    if is_up {
        quotient += 1_u32;
    }
    if quotient.bits() > DIGITS {
        quotient >>= 1_u32;
        scale -= 1;
    }
    let mantissa = u64::try_from(&quotient).ok()?;
    let first_digit = i64::from(mantissa.ilog2()) - scale;
    (MIN_EXPONENT..=MAX_EXPONENT)
        .contains(&first_digit)
        .then_some(LongDouble::Finite {
            is_negative,
            mantissa,
            exponent: -scale,
        })
}

impl fmt::Display for LongDouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LongDouble::Finite {
            is_negative,
            mantissa,
            exponent,
        } = *self
        else {
            return f.write_str("inf");
        };
        // How many of the last place that is shown.
        let scaled = BigUint::from(mantissa) * BigUint::from(10_u32).pow(PLACES as u32);
        let shift = exponent.unsigned_abs();
        let units = if exponent < 0 {
            let below = BigUint::from(1_u32) << shift;
            let whole = &scaled >> shift;
            let twice_rest = (scaled - (&whole << shift)) << 1_u32;
            let is_up = match twice_rest.cmp(&below) {
                Ordering::Less => false,
                Ordering::Equal => whole.bit(0),
                Ordering::Greater => true,
            };
            whole + u32::from(is_up)
        } else {
            scaled << shift
        };
        let digits = format!(
            "{units:0>width$}",
            units = units.to_string(),
            width = PLACES + 1
        );
        let (whole, places) = digits.split_at(digits.len() - PLACES);
        let places = places.trim_end_matches('0');
        let is_zero = whole == "0" && places.is_empty();
        if is_negative && !is_zero {
            f.write_str("-")?;
        }
        f.write_str(whole)?;
        if !places.is_empty() {
            write!(f, ".{places}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(one: &str, another: &str) -> String {
        let parse = |text: &str| LongDouble::parse(text.as_bytes()).unwrap();
        parse(one).checked_add(parse(another)).unwrap().to_string()
    }

    #[test]
    fn sums_are_shown_as_redis_shows_them() {
        // The right-hand sides are what redis-server 7.0 answers.
        for (one, another, shown) in [
            ("10.5", "0.1", "10.6"),
            ("10.6", "-5", "5.6"),
            ("5.0e3", "2.0e2", "5200"),
            ("0", "-0.0", "0"),
            ("-1", "1", "0"),
            ("3", "0.000000000000000004", "3"),
            ("0", ".5", "0.5"),
            ("0", "5.", "5"),
            ("1", "1e-17", "1.00000000000000001"),
        ] {
            assert_eq!(sum(one, another), shown, "{one} + {another}");
        }
    }

    #[test]
    fn what_is_no_number_or_out_of_range_is_refused() {
        for text in [
            "",
            ".",
            "-",
            "+",
            "e5",
            "1e",
            "1e+",
            "abc",
            "1 ",
            " 1",
            "nan",
            "1..2",
            "1e5000",
            "--1",
            "1e-5000",
            "1e99999999999999999999",
            "infinit",
        ] {
            assert_eq!(LongDouble::parse(text.as_bytes()), None, "{text:?}");
        }
        let infinite = LongDouble::parse(b"-Infinity").unwrap();
        assert_eq!(infinite.checked_add(LongDouble::ZERO), None);
        let most = LongDouble::parse(b"1.1e4932").unwrap();
        assert_eq!(most.checked_add(most), None);
    }

    #[test]
    fn a_shown_number_is_read_back_as_what_is_shown() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..2_000 {
            let (whole, places) = (
                random.i64(-1_000_000_000..1_000_000_000),
                random.u32(..1_000_000),
            );
            let shown = sum(&format!("{whole}.{places:06}"), "0");
            assert_eq!(sum(&shown, "0"), shown);
            // Below ten the 17 places are fewer than 64 binary digits can tell apart.
            let short = format!("{}.{places:06}1", whole % 10);
            assert_eq!(sum(&short, "0"), short);
        }
    }
}
