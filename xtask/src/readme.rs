//! `cargo xtask readme`: measures the table in the README again.
//!
//! The numbers come from `docs/results/cost.json` and from nowhere else; an end-to-end test holds the
//! README to that file.

use std::fs;

use crate::Result;
use crate::command::CommandLine;
use crate::workspace::Workspace;

const RESULTS: &str = "docs/results/cost.json";
const BEGIN: &str = "<!-- results:begin -->\n";
const END: &str = "<!-- results:end -->";

/// The lines of the report's head that the README shows.
const STAMP: [&str; 3] = ["- **value:**", "- **server:**", "- **machine:**"];

/// The section of the report that the README shows.
const SECTION: &str = "The same read at both traffic levels";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Print the results that are there into the README, without measuring again.
    #[arg(long)]
    print: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let workspace = Workspace::locate()?;
    let hotcopy = |arguments: &[&str]| {
        CommandLine::cargo(&workspace)
            .args(["run", "--quiet", "--release", "--bin", "hotcopy", "--"])
            .args(arguments)
    };
    if !options.print {
        hotcopy(&["cost", "--out", RESULTS]).run()?;
    }
    let report = hotcopy(&["report", RESULTS, "--format", "markdown"]).output()?;
    let excerpt =
        excerpt(&report).ok_or_else(|| format!("the report has no section {SECTION:?}"))?;
    let path = workspace.root.join("README.md");
    let readme = fs::read_to_string(&path)?;
    let (before, after) = around_marks(&readme)
        .ok_or_else(|| format!("README.md has no place between {BEGIN:?} and {END:?}"))?;
    fs::write(&path, format!("{before}{BEGIN}{excerpt}\n{END}{after}"))?;
    Ok(())
}

/// What the README shows of a report: on what it was measured, and the table.
fn excerpt(report: &str) -> Option<String> {
    let stamp = report
        .lines()
        .filter(|line| STAMP.iter().any(|name| line.starts_with(name)));
    let stamp: Vec<&str> = stamp.collect();
    Some(format!(
        "{}\n\n{}",
        stamp.join("\n"),
        section(report, SECTION)?
    ))
}

/// From the heading with this title up to the next heading, without blank lines around.
fn section<'a>(report: &'a str, title: &str) -> Option<&'a str> {
    let (_, body) = report.split_once(&format!("# {title}\n"))?;
    let end = body.find("\n#").unwrap_or(body.len());
    Some(body[..end].trim())
}

fn around_marks(readme: &str) -> Option<(&str, &str)> {
    let (before, rest) = readme.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some((before, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_ends_where_the_next_begins() {
        let report = "# R\n\n### One\n\n| a |\n\nnote\n\n### Two\n\nrest\n";
        assert_eq!(section(report, "One"), Some("| a |\n\nnote"));
        assert_eq!(section(report, "Two"), Some("rest"));
        assert_eq!(section(report, "Three"), None);
    }

    #[test]
    fn the_text_around_the_marks_stays() {
        let readme = format!("before\n{BEGIN}old\n{END}\nafter");
        assert_eq!(around_marks(&readme), Some(("before\n", "\nafter")));
        assert_eq!(around_marks("none"), None);
    }
}
