//! `cargo xtask test`: the steps of the default lane, and those that `--slow` adds.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;

use crate::Result;
use crate::command::CommandLine;
use crate::counts::Counts;
use crate::lane::Lane;
use crate::workspace::{Workspace, in_ci};
use crate::{fuzz, hit_path, licences, prerequisites, sanitizer};

/// Long enough to replay the stored corpus and mutate each of its entries, short enough for every commit.
const FUZZ: Duration = Duration::from_secs(30);
const FUZZ_SLOW: Duration = Duration::from_mins(5);

/// The end-to-end tests; they need servers and the built binary, so they are a step of their own.
const END_TO_END: &str = "hotcopy-tests";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Add what takes too long for every commit: `AddressSanitizer`, valgrind, floods, five minutes of fuzzing per target.
    #[arg(long)]
    slow: bool,
    /// Run these steps and no others (may be repeated).
    #[arg(long, value_name = "STEP")]
    only: Vec<Step>,
    /// Leave this step out (may be repeated).
    #[arg(long, value_name = "STEP", conflicts_with = "only")]
    skip: Vec<Step>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Step {
    Prerequisites,
    Format,
    Licences,
    Clippy,
    Unit,
    DocTests,
    Rustdoc,
    HitPath,
    Build,
    EndToEnd,
    Fuzz,
    Sanitizer,
}

impl Options {
    fn includes(&self, step: Step) -> bool {
        let in_lane = self.slow || step != Step::Sanitizer;
        if self.only.is_empty() {
            in_lane && !self.skip.contains(&step)
        } else {
            self.only.contains(&step)
        }
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let workspace = Workspace::locate()?;
    let mut lane = Lane::default();
    for &step in Step::value_variants() {
        if options.includes(step) {
            let title = step.to_possible_value().expect("no variant is hidden");
            lane.step(title.get_name(), || {
                run_step(step, &workspace, options.slow)
            })?;
        }
    }
    lane.finish()
}

fn run_step(step: Step, workspace: &Workspace, slow: bool) -> Result<Option<Counts>> {
    match step {
        Step::Prerequisites => prerequisites::ensure(workspace).map(|()| None),
        Step::Format => format(workspace).map(|()| None),
        Step::Licences => licences::check(workspace).map(|()| None),
        Step::Clippy => clippy(workspace).map(|()| None),
        Step::Unit => unit_tests(workspace).map(Some),
        Step::DocTests => doc_tests(workspace).map(Some),
        Step::Rustdoc => rustdoc(workspace).map(|()| None),
        Step::HitPath => hit_path::check(workspace).map(Some),
        Step::Build => build(workspace).map(|()| None),
        Step::EndToEnd => end_to_end_tests(workspace, slow).map(Some),
        Step::Fuzz => fuzz::run(workspace, if slow { FUZZ_SLOW } else { FUZZ }).map(Some),
        Step::Sanitizer => sanitizer::run(workspace).map(Some),
    }
}

fn format(workspace: &Workspace) -> Result<()> {
    let check = || CommandLine::cargo(workspace).args(["fmt", "--all", "--check"]);
    check().run()?;
    // The fuzz targets are a workspace of their own.
    check().current_dir(&workspace.root.join("fuzz")).run()
}

fn clippy(workspace: &Workspace) -> Result<()> {
    CommandLine::cargo(workspace)
        .args(["clippy", "--workspace", "--all-targets"])
        .args(["--features", "hotcopy-tests/slow", "--", "-D", "warnings"])
        .run()
}

fn unit_tests(workspace: &Workspace) -> Result<Counts> {
    run_tests(workspace, Selection::AllBut(END_TO_END), &[], &[])
}

fn end_to_end_tests(workspace: &Workspace, slow: bool) -> Result<Counts> {
    let skips = workspace.target.join("skipped-tests.txt");
    if skips.exists() {
        fs::remove_file(&skips)?;
    }
    let mut environment = vec![("HOTCOPY_SKIPS", skips.clone())];
    if workspace.release_binary().exists() {
        environment.push(("HOTCOPY_BIN", workspace.release_binary()));
    }
    if in_ci() {
        environment.push(("HOTCOPY_CI", PathBuf::from("1")));
    }
    let features: &[&str] = if slow {
        &["--features", "hotcopy-tests/slow"]
    } else {
        &[]
    };
    let mut counts = run_tests(
        workspace,
        Selection::Only(END_TO_END),
        features,
        &environment,
    )?;
    // A test that lacks a server returns early, which its runner takes for a pass; it leaves a line here instead.
    let skipped = fs::read_to_string(&skips).unwrap_or_default();
    counts.skipped.extend(skipped.lines().map(str::to_owned));
    counts.passed = counts.passed.saturating_sub(skipped.lines().count());
    Ok(counts)
}

#[derive(Clone, Copy)]
enum Selection {
    Only(&'static str),
    AllBut(&'static str),
}

/// Runs tests with cargo-nextest where it is installed, else with `cargo test`.
fn run_tests(
    workspace: &Workspace,
    selection: Selection,
    features: &[&str],
    environment: &[(&str, PathBuf)],
) -> Result<Counts> {
    let mut counts = Counts::default();
    let has_nextest = CommandLine::cargo(workspace)
        .args(["nextest", "--version"])
        .succeeds();
    let cargo = || {
        let line = CommandLine::cargo(workspace);
        environment
            .iter()
            .fold(line, |line, (name, value)| line.env(name, value))
    };
    if has_nextest {
        // Selecting by filter, not by `--package`, keeps one set of features and so one build of the dependencies.
        let filter = match selection {
            Selection::Only(package) => format!("package({package})"),
            Selection::AllBut(package) => format!("not package({package})"),
        };
        let selected = ["--workspace", "--filterset", &filter];
        cargo()
            .args(["nextest", "run"])
            .args(selected)
            .args(features)
            .run_watched(|line| counts.read_nextest_line(line))?;
        // The summary's count of skipped tests includes what the filter left out, so the ignored ones are listed.
        let ignored = cargo()
            .args(["nextest", "list", "--message-format", "oneline"])
            .args(["--run-ignored", "only"])
            .args(selected)
            .args(features)
            .output()?;
        counts.skipped.extend(ignored.lines().map(str::to_owned));
    } else {
        let packages = match selection {
            Selection::Only(package) => vec!["--package", package],
            Selection::AllBut(package) => vec!["--workspace", "--exclude", package],
        };
        cargo()
            .args(["test", "--all-targets"])
            .args(packages)
            .args(features)
            .run_watched(|line| counts.read_libtest_line(line))?;
    }
    Ok(counts)
}

fn doc_tests(workspace: &Workspace) -> Result<Counts> {
    let mut counts = Counts::default();
    CommandLine::cargo(workspace)
        .args(["test", "--workspace", "--doc"])
        .run_watched(|line| counts.read_libtest_line(line))?;
    Ok(counts)
}

fn rustdoc(workspace: &Workspace) -> Result<()> {
    // Modules explain themselves to whoever works on them, with links to what is private; those are no mistakes.
    CommandLine::cargo(workspace)
        .args(["doc", "--workspace", "--no-deps", "--lib"])
        .env(
            "RUSTDOCFLAGS",
            "-D warnings -A rustdoc::private_intra_doc_links",
        )
        .run()
}

/// The one release binary that all end-to-end tests share.
fn build(workspace: &Workspace) -> Result<()> {
    CommandLine::cargo(workspace)
        .args(["build", "--release", "--bin", "hotcopy"])
        .run()
}
