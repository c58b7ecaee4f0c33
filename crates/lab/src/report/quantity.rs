//! Every number that a report prints goes through here: one way to group digits, one number of
//! decimals for each quantity, the unit that reads best.

use crate::results::Micros;
use crate::results::cost::Load;

const KIB: f64 = 1024.0;

/// Unicode's minus, which is as wide as a digit's plus and cannot be taken for a dash.
const MINUS: char = '−';

/// A count: `12,800,546`.
pub(super) fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// A number with so many decimals: `6,417.65`.
pub(super) fn decimal(value: f64, decimals: usize) -> String {
    let digits = format!("{:.decimals$}", value.abs());
    let nonzero = digits.bytes().any(|digit| (b'1'..=b'9').contains(&digit));
    let sign = if value < 0.0 && nonzero { MINUS } else { ' ' };
    format!("{sign}{}", grouped(&digits))
        .trim_start()
        .to_owned()
}

/// Events a second: `2,729.9`; from a million on without decimals.
pub(super) fn rate(per_s: f64) -> String {
    decimal(per_s, usize::from(per_s.abs() < 1e6))
}

/// A number that was asked for, without decimals unless it has some: `2,730`, `0.5`.
pub(super) fn plain(value: f64) -> String {
    let text = decimal(value, 3);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A traffic level: `2,730/s`, `full load`.
pub(super) fn level(load: Load) -> String {
    match load {
        Load::Rate { per_s } => format!("{}/s", plain(per_s)),
        full @ Load::Full { .. } => full.to_string(),
    }
}

/// MiB a minute, or any large amount with two decimals: `6,417.65`.
pub(super) fn mib(value: f64) -> String {
    decimal(value, 2)
}

/// A share as per cent: `27.5 %`; below one per cent with two decimals.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", percent_number(share))
}

/// The same without its sign, where the label says it.
pub(super) fn percent_number(share: f64) -> String {
    let percent = share * 100.0;
    match percent.abs() {
        0.0 => "0".to_owned(),
        tiny if tiny < 0.995 => decimal(percent, 2),
        _ => decimal(percent, 1),
    }
}

/// Cores in use: `0.42 cores`; four decimals where two would show nothing.
pub(super) fn cores(cores: f64) -> String {
    let decimals = if cores.abs() < 0.01 { 4 } else { 2 };
    let number = decimal(cores, decimals);
    format!("{number} cores")
}

/// Milliseconds with three decimals, more where three would leave fewer than three digits:
/// `0.099 ms`, `0.0662 ms`. For a column in which every line has the same unit.
pub(super) fn millis(micros: Micros, least_decimals: usize) -> String {
    format!("{} ms", decimal(micros / 1e3, least_decimals))
}

/// Decimals that a duration in milliseconds needs for three digits; at least three, at most six.
pub(super) fn millis_decimals(micros: Micros) -> usize {
    if micros <= 0.0 {
        return 3;
    }
    let magnitude = (micros / 1e3).log10().floor();
    (2.0 - magnitude).clamp(3.0, 6.0) as usize
}

/// A duration in the unit that reads best, three digits: `1.37 ns`, `62.5 µs`, `946 ms`, `12.0 s`.
pub(super) fn duration(micros: Micros) -> String {
    scaled(micros * 1e3, 1e3, &["ns", "µs", "ms", "s"])
}

/// Nanoseconds without their unit, where the table says it: `8.26`, `34.8`, `1,408`.
pub(super) fn nanos(ns: f64) -> String {
    three_digits(ns)
}

/// The same for a difference: `+1.20`, `−0.35`, `0`.
pub(super) fn signed_nanos(ns: f64) -> String {
    let number = nanos(ns);
    if ns > 0.0 {
        format!("+{number}")
    } else {
        number
    }
}

/// Bytes in the unit that reads best, three digits: `80.9 MiB`, `1.50 GiB`.
pub(super) fn size(bytes: f64) -> String {
    scaled(bytes, KIB, &["bytes", "KiB", "MiB", "GiB", "TiB"])
}

/// Large numbers without a unit: `1.23 million`; below a million as a count.
pub(super) fn many(value: f64) -> String {
    if value.abs() < 999_999.5 {
        return decimal(value, 0);
    }
    scaled(value / 1e6, 1e3, &["million", "billion", "trillion"])
}

/// How many times: `1,066 times`, `12.3 times`.
pub(super) fn times(ratio: f64) -> String {
    format!("{} times", three_digits(ratio))
}

fn scaled(value: f64, step: f64, units: &[&str]) -> String {
    let last = units.len() - 1;
    let (mut value, mut unit) = (value, 0);
    // 999.6 would be printed as 1,000 of the smaller unit.
    while unit < last && value.abs() >= step - 0.5 {
        value /= step;
        unit += 1;
    }
    // There are no parts of a byte.
    let number = match units[unit] {
        "bytes" => decimal(value, 0),
        _ => three_digits(value),
    };
    format!("{number} {}", units[unit])
}

fn three_digits(value: f64) -> String {
    let decimals = match value.abs() {
        0.0 => 0,
        small if small < 9.995 => 2,
        medium if medium < 99.95 => 1,
        _ => 0,
    };
    decimal(value, decimals)
}

fn grouped(digits: &str) -> String {
    let whole = digits.find('.').unwrap_or(digits.len());
    let mut text = String::with_capacity(digits.len() + whole / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && index < whole && (whole - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_thousands() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(41_083), "41,083");
        assert_eq!(count(12_800_546), "12,800,546");
        assert_eq!(decimal(6_417.651, 2), "6,417.65");
        assert_eq!(decimal(999.999, 2), "1,000.00");
    }

    #[test]
    fn negative_numbers_have_a_minus_and_nothing_is_not_negative() {
        assert_eq!(decimal(-1_234.5, 1), "−1,234.5");
        assert_eq!(decimal(-0.04, 1), "0.0");
    }

    #[test]
    fn rates_have_one_decimal_until_they_are_large() {
        assert_eq!(rate(2_729.94), "2,729.9");
        assert_eq!(rate(12_800_546.4), "12,800,546");
        assert_eq!(plain(2_730.0), "2,730");
        assert_eq!(plain(0.5), "0.5");
        assert_eq!(plain(100.0), "100");
    }

    #[test]
    fn small_shares_keep_two_decimals() {
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.00031), "0.03 %");
        assert_eq!(percent(0.2754), "27.5 %");
        assert_eq!(percent(1.041), "104.1 %");
    }

    #[test]
    fn durations_choose_their_unit() {
        assert_eq!(duration(0.0), "0 ns");
        assert_eq!(duration(0.00137), "1.37 ns");
        assert_eq!(duration(0.0625), "62.5 ns");
        assert_eq!(duration(62.5), "62.5 µs");
        assert_eq!(duration(172.4), "172 µs");
        assert_eq!(duration(999.6), "1.00 ms");
        assert_eq!(duration(11_969.0), "12.0 ms");
        assert_eq!(duration(1_000_000.0), "1.00 s");
        assert_eq!(duration(3_600_000_000.0), "3,600 s");
    }

    #[test]
    fn milliseconds_keep_three_digits_where_asked() {
        assert_eq!(millis(99.2, 3), "0.099 ms");
        assert_eq!(millis_decimals(66.2), 4);
        assert_eq!(millis(66.2, millis_decimals(66.2)), "0.0662 ms");
        assert_eq!(millis_decimals(1_234.0), 3);
        assert_eq!(millis_decimals(0.0), 3);
        assert_eq!(millis_decimals(0.001), 6);
    }

    #[test]
    fn nanoseconds_keep_three_digits_and_differences_their_sign() {
        assert_eq!(nanos(8.264), "8.26");
        assert_eq!(nanos(34.81), "34.8");
        assert_eq!(nanos(21_408.4), "21,408");
        assert_eq!(signed_nanos(1.2), "+1.20");
        assert_eq!(signed_nanos(-0.35), "−0.35");
        assert_eq!(signed_nanos(0.0), "0");
    }

    #[test]
    fn sizes_choose_their_unit() {
        assert_eq!(size(0.0), "0 bytes");
        assert_eq!(size(1_000.0), "1,000 bytes");
        assert_eq!(size(41_083.0), "40.1 KiB");
        assert_eq!(size(84_829_798.0), "80.9 MiB");
        assert_eq!(size(-12.0 * 1024.0 * 1024.0), "−12.0 MiB");
        assert_eq!(size(16.0 * 1024.0_f64.powi(3)), "16.0 GiB");
    }

    #[test]
    fn large_numbers_become_words() {
        assert_eq!(many(999_999.0), "999,999");
        assert_eq!(many(1_234_567.0), "1.23 million");
        assert_eq!(many(-2_500_000_000.0), "−2.50 billion");
        assert_eq!(times(1_066.2), "1,066 times");
        assert_eq!(times(0.94), "0.94 times");
    }

    #[test]
    fn cores_show_what_two_decimals_would_hide() {
        assert_eq!(cores(0.423), "0.42 cores");
        assert_eq!(cores(0.0031), "0.0031 cores");
    }
}
