//! Bars: what figures of ours must be, and whether they are.

use std::fmt;

use comfy_table::{Table as Grid, TableStyle};
use serde::Serialize;

/// On which side of the bar a figure shall be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Limit {
    AtMost(f64),
    AtLeast(f64),
    Between(f64, f64),
}

impl Limit {
    fn allows(self, figure: f64) -> bool {
        match self {
            Limit::AtMost(most) => figure <= most,
            Limit::AtLeast(least) => figure >= least,
            Limit::Between(least, most) => (least..=most).contains(&figure),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::AtMost(most) => write!(f, "≤ {most}"),
            Limit::AtLeast(least) => write!(f, "≥ {least}"),
            Limit::Between(least, most) => write!(f, "{least} to {most}"),
        }
    }
}

/// A figure of ours beside what it must be, and what would be better still.
#[derive(Debug, Serialize)]
pub(crate) struct Bar {
    what: &'static str,
    /// The figure, or its ratio to that of `of`.
    measured: f64,
    /// What `measured` is a multiple of, or its unit.
    of: &'static str,
    limit: Option<Limit>,
    aim: Option<Limit>,
}

impl Bar {
    pub(crate) fn new(what: &'static str, measured: f64, of: &'static str) -> Self {
        Bar {
            what,
            measured,
            of,
            limit: None,
            aim: None,
        }
    }

    /// What it must be.
    pub(crate) fn limit(self, limit: Limit) -> Self {
        Bar {
            limit: Some(limit),
            ..self
        }
    }

    /// What would be better still.
    pub(crate) fn aim(self, aim: Limit) -> Self {
        Bar {
            aim: Some(aim),
            ..self
        }
    }

    /// Whether it is what it must be; what has only an aim always is.
    fn is_met(&self) -> bool {
        self.limit.is_none_or(|limit| limit.allows(self.measured))
    }
}

/// All bars of a run, printable.
pub(crate) struct Bars<'a>(pub(crate) &'a [Bar]);

impl fmt::Display for Bars<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut grid = Grid::new();
        grid.load_style(TableStyle::new());
        grid.set_header(["", "measured", "bar", "", "aim", ""]);
        for bar in self.0 {
            let verdict = |limit: Option<Limit>, met, missed| match limit {
                Some(limit) if limit.allows(bar.measured) => met,
                Some(_) => missed,
                None => "",
            };
            let limit = |limit: Option<Limit>| limit.map_or(String::new(), |it| it.to_string());
            grid.add_row([
                bar.what,
                &format!("{:.3} {}", bar.measured, bar.of),
                &limit(bar.limit),
                verdict(bar.limit, "met", "MISSED"),
                &limit(bar.aim),
                verdict(bar.aim, "reached", "not reached"),
            ]);
        }
        let missed = self.0.iter().filter(|bar| !bar.is_met()).count();
        writeln!(f, "Bars, {missed} of {} missed\n{grid}", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(measured: f64, limit: Limit) -> Bar {
        Bar::new("a", measured, "× peer").limit(limit)
    }

    #[test]
    fn a_figure_on_the_bar_meets_it() {
        assert!(bar(0.5, Limit::AtMost(0.5)).is_met());
        assert!(!bar(0.501, Limit::AtMost(0.5)).is_met());
        assert!(bar(1.5, Limit::AtLeast(1.5)).is_met());
        assert!(!bar(1.49, Limit::AtLeast(1.5)).is_met());
        assert!(bar(0.95, Limit::Between(0.95, 1.05)).is_met());
        assert!(!bar(1.06, Limit::Between(0.95, 1.05)).is_met());
        assert!(!bar(f64::NAN, Limit::AtMost(0.5)).is_met());
    }

    #[test]
    fn a_missed_bar_stands_out_and_an_aim_is_no_bar() {
        let bars = [
            Bar::new("hit", 1.4, "× map").aim(Limit::AtMost(1.25)),
            bar(0.7, Limit::AtMost(0.6)),
        ];
        let text = Bars(&bars).to_string();
        assert!(text.starts_with("Bars, 1 of 2 missed\n"), "{text}");
        assert!(text.contains("≤ 0.6") && text.contains("MISSED"), "{text}");
        assert!(
            text.contains("≤ 1.25") && text.contains("not reached"),
            "{text}"
        );
    }
}
