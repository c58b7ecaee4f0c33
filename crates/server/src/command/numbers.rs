//! Numbers in arguments.

use super::error::CommandError;

/// An integer in the only form that Redis accepts: no sign but a minus, no leading zeros or spaces.
pub(super) fn integer(argument: &[u8]) -> Result<i64, CommandError> {
    let digits = argument.strip_prefix(b"-").unwrap_or(argument);
    let is_canonical = match digits {
        [b'0'] => argument.len() == 1,
        [b'1'..=b'9', ..] => true,
        _ => false,
    };
    std::str::from_utf8(argument)
        .ok()
        .filter(|_| is_canonical)
        .and_then(|text| text.parse().ok())
        .ok_or(CommandError::NotAnInteger)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_canonical_form_of_an_integer_is_accepted() {
        for (text, number) in [
            ("0", 0),
            ("-1", -1),
            ("10", 10),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
        ] {
            assert_eq!(integer(text.as_bytes()).unwrap(), number);
        }
        for text in [
            "",
            "-",
            "-0",
            "+1",
            "01",
            " 1",
            "1 ",
            "1.0",
            "1e3",
            "0x1",
            "9223372036854775808",
            "--1",
            "١",
        ] {
            assert!(integer(text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
