//! A lane: steps that run in order, are timed, and are summed up in one table at the end.

use std::time::{Duration, Instant};

use crate::Result;
use crate::counts::Counts;
use crate::workspace::in_ci;

/// Runs steps until one fails, and remembers what they took.
#[derive(Default)]
pub(crate) struct Lane {
    finished: Vec<Finished>,
}

struct Finished {
    title: String,
    elapsed: Duration,
    counts: Option<Counts>,
}

impl Lane {
    /// Runs one step. `Some` counts come from steps that run tests.
    pub(crate) fn step(
        &mut self,
        title: &str,
        step: impl FnOnce() -> Result<Option<Counts>>,
    ) -> Result<()> {
        eprintln!("\n── {title} ──");
        let started = Instant::now();
        let counts = step().map_err(|error| format!("step `{title}` failed: {error}"))?;
        let elapsed = started.elapsed();
        eprintln!("── {title}: {:.1} s ──", elapsed.as_secs_f64());
        self.finished.push(Finished {
            title: title.to_owned(),
            elapsed,
            counts,
        });
        Ok(())
    }

    /// Prints the table; an error if tests were skipped where nobody would notice.
    pub(crate) fn finish(self) -> Result<()> {
        eprint!("\n{}", self.table());
        let counted = || {
            let steps = self.finished.iter();
            steps.filter_map(|step| step.counts.as_ref().map(|counts| (&step.title, counts)))
        };
        for (title, counts) in counted() {
            for reason in &counts.unavailable {
                eprintln!("not run: {title}: {reason}");
            }
        }
        let skipped: Vec<&String> = counted().flat_map(|(_, counts)| &counts.skipped).collect();
        for test in &skipped {
            eprintln!("skipped: {test}");
        }
        if in_ci() && !skipped.is_empty() {
            return Err(
                format!("{} skipped tests; in CI every test must run", skipped.len()).into(),
            );
        }
        Ok(())
    }

    fn table(&self) -> String {
        let mut total = Counts::default();
        let mut elapsed = Duration::ZERO;
        let mut table = row("step", "seconds", "passed", "skipped");
        for step in &self.finished {
            elapsed += step.elapsed;
            table += &match &step.counts {
                Some(counts) => {
                    total += counts.clone();
                    counted_row(&step.title, step.elapsed, counts)
                }
                None => row(&step.title, &seconds(step.elapsed), "", ""),
            };
        }
        table + &counted_row("total", elapsed, &total)
    }
}

fn counted_row(title: &str, elapsed: Duration, counts: &Counts) -> String {
    row(
        title,
        &seconds(elapsed),
        &counts.passed.to_string(),
        &counts.skipped.len().to_string(),
    )
}

fn seconds(elapsed: Duration) -> String {
    format!("{:.1}", elapsed.as_secs_f64())
}

fn row(title: &str, seconds: &str, passed: &str, skipped: &str) -> String {
    format!("{title:<24} {seconds:>8} {passed:>7} {skipped:>8}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_lists_each_step_and_sums_the_tests() {
        let mut lane = Lane::default();
        lane.step("format", || Ok(None))
            .expect("the step does nothing");
        lane.step("unit tests", || {
            Ok(Some(Counts {
                passed: 5,
                skipped: vec!["one".into()],
                ..Counts::default()
            }))
        })
        .expect("the step does nothing");
        let table = lane.table();
        let words: Vec<Vec<&str>> = table
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(words[1], ["format", "0.0"]);
        assert_eq!(words[2], ["unit", "tests", "0.0", "5", "1"]);
        assert_eq!(words[3], ["total", "0.0", "5", "1"]);
    }

    #[test]
    fn a_step_whose_tool_is_missing_does_not_fail_the_lane() {
        let mut lane = Lane::default();
        lane.step("miri", || {
            Ok(Some(Counts {
                unavailable: vec!["not installed".into()],
                ..Counts::default()
            }))
        })
        .expect("the step does nothing");
        assert!(lane.table().contains("miri"));
        lane.finish().expect("nothing was skipped");
    }

    #[test]
    fn a_failing_step_is_named() {
        let error = Lane::default()
            .step("clippy", || Err("exit status: 101 from `cargo`".into()))
            .expect_err("the step fails");
        assert_eq!(
            error.to_string(),
            "step `clippy` failed: exit status: 101 from `cargo`"
        );
    }
}
