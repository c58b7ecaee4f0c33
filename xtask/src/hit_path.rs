//! Instructions of a hit, counted under valgrind and held to a bound. Unlike a time, a count is the same
//! on a busy machine, so a hit path that has grown by a few instructions is found at the commit that did it.

use std::process::Command;

use crate::Result;
use crate::command::CommandLine;
use crate::counts::Counts;
use crate::workspace::Workspace;

/// What a hit may take: of a cache with a bound, deadlines and statistics, by a string key of 16 bytes,
/// with the loop around it. It took 167 with rustc 1.95 and glibc 2.36 when this was set; 5 % more are
/// for other compilers and C libraries. Lower it when the path gets shorter.
const MOST_INSTRUCTIONS: f64 = 171.0;

/// Enough that a tick of the clock's thread now and then (about 0.1 instructions a hit) does not show.
const HITS: u64 = 400_000;

const EXAMPLE: &str = "hit_path";

pub(crate) fn check(workspace: &Workspace) -> Result<Counts> {
    let mut counts = Counts::default();
    if cfg!(not(all(target_arch = "x86_64", target_os = "linux"))) {
        counts
            .skipped
            .push("hit-path: its bound is for Linux on x86-64".into());
        return Ok(counts);
    }
    CommandLine::cargo(workspace)
        .args(["build", "--release", "--package", "hotcopy-engine"])
        .args(["--example", EXAMPLE])
        .run()?;
    let [once, twice] = [HITS, 2 * HITS].map(|hits| instructions(workspace, hits));
    let per_hit = (twice? - once?) as f64 / HITS as f64;
    eprintln!("a hit takes {per_hit:.1} instructions; the bound is {MOST_INSTRUCTIONS}");
    if per_hit > MOST_INSTRUCTIONS {
        return Err(format!(
            "the hit path has grown: {per_hit:.1} instructions, and {MOST_INSTRUCTIONS} are allowed; \
             xtask/src/hit_path.rs says what is counted"
        )
        .into());
    }
    counts.passed = 1;
    Ok(counts)
}

/// Instructions of a whole run with so many hits.
fn instructions(workspace: &Workspace, hits: u64) -> Result<i64> {
    let program = workspace.target.join("release/examples").join(EXAMPLE);
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no"])
        .arg("--cachegrind-out-file=/dev/null")
        .arg(program)
        .arg(hits.to_string())
        .output()
        .map_err(|error| format!("cannot run valgrind: {error}"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{} under valgrind:\n{report}", output.status).into());
    }
    instruction_count(&report)
        .ok_or_else(|| format!("valgrind printed no count of instructions:\n{report}").into())
}

/// The number behind `I refs:` in a report of cachegrind.
fn instruction_count(report: &str) -> Option<i64> {
    report.lines().find_map(|line| {
        let (name, count) = line.split_once(':')?;
        let words: Vec<&str> = name.split_whitespace().skip(1).collect();
        (words == ["I", "refs"]).then(|| count.trim().replace(',', "").parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_from_cachegrinds_report() {
        let report = "==1== Cachegrind, a profiler\n==1== \n==1== I   refs:      21,355,219\n";
        assert_eq!(instruction_count(report), Some(21_355_219));
        assert_eq!(instruction_count("==1== Killed\n"), None);
    }
}
