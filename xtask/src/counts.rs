//! How many tests a runner passed and skipped, read from what it prints.

use std::ops::AddAssign;

/// Tests that ran well and tests that did not run.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: usize,
    /// One line for each test that was skipped, with its reason where it is known.
    pub(crate) skipped: Vec<String>,
    /// What was not run since a tool is missing that the checks do without; never a failure.
    pub(crate) unavailable: Vec<String>,
}

impl Counts {
    /// Takes in one line of output of `cargo test`.
    pub(crate) fn read_libtest_line(&mut self, line: &str) {
        if let Some(result) = line.strip_prefix("test result: ok. ") {
            self.passed += number_before(result, " passed").unwrap_or(0);
        } else if let Some((name, reason)) = line
            .strip_prefix("test ")
            .and_then(|test| test.split_once(" ... ignored"))
        {
            self.skipped.push(format!("{name}{reason}"));
        }
    }

    /// Takes in one line of output of `cargo nextest run`, whose last line sums up.
    pub(crate) fn read_nextest_line(&mut self, line: &str) {
        if line.trim_start().starts_with("Summary [") {
            self.passed += number_before(line, " passed").unwrap_or(0);
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.skipped.extend(other.skipped);
        self.unavailable.extend(other.unavailable);
    }
}

/// The number that stands directly before `label`.
fn number_before(text: &str, label: &str) -> Option<usize> {
    let before = &text[..text.find(label)?];
    before.rsplit([' ', ',']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libtest_results_add_up_over_binaries_and_name_the_ignored_tests() {
        let mut counts = Counts::default();
        for line in [
            "test store::keeps_order ... ok",
            "test store::holds_a_terabyte ... ignored, needs a terabyte",
            "test result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        ] {
            counts.read_libtest_line(line);
        }
        assert_eq!(counts.passed, 13);
        assert_eq!(
            counts.skipped,
            ["store::holds_a_terabyte, needs a terabyte"]
        );
    }

    #[test]
    fn the_summary_of_nextest_is_read_with_and_without_slow_tests() {
        let mut counts = Counts::default();
        counts.read_nextest_line(
            "     Summary [  12.3s] 40 tests run: 40 passed (2 slow), 7 skipped",
        );
        counts.read_nextest_line("     Summary [   0.004s] 2 tests run: 2 passed, 0 skipped");
        assert_eq!(counts.passed, 42);
    }
}
