//! The progress bar: on a terminal only, on standard error.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How much of the run's planned time has passed.
pub(crate) struct Progress {
    bar: ProgressBar,
    finished: Duration,
    step: Option<(Instant, Duration)>,
}

impl Progress {
    /// `total` is the sum of all windows; starting processes comes on top.
    pub(crate) fn new(total: Duration) -> Self {
        // indicatif draws nothing where standard error is no terminal.
        let bar = ProgressBar::with_draw_target(
            Some(total.as_millis() as u64),
            ProgressDrawTarget::stderr(),
        );
        let style = ProgressStyle::with_template("{bar:30} {percent:>3} % {msg}, {eta} to go")
            .expect("a valid template");
        bar.set_style(style.progress_chars("━╸─"));
        Progress {
            bar,
            finished: Duration::ZERO,
            step: None,
        }
    }

    pub(crate) fn begin(&mut self, what: String, time: Duration) {
        self.bar.set_message(what);
        self.step = Some((Instant::now(), time));
    }

    pub(crate) fn tick(&self) {
        let running = self
            .step
            .map_or(Duration::ZERO, |(start, time)| start.elapsed().min(time));
        self.bar
            .set_position((self.finished + running).as_millis() as u64);
    }

    pub(crate) fn end_step(&mut self) {
        self.finished += self.step.take().map_or(Duration::ZERO, |(_, time)| time);
        self.tick();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
