//! The models of the engine's lock-free parts, in every interleaving up to a number of preemptions, under `loom`.

use crate::Result;
use crate::command::CommandLine;
use crate::counts::Counts;
use crate::workspace::Workspace;

/// Preemptions that a model is tried with. Every mistake put in that the models find at all shows with
/// three; each further one takes several times as long.
const PREEMPTIONS: &str = "3";
const PREEMPTIONS_SLOW: &str = "4";

pub(crate) fn run(workspace: &Workspace, slow: bool) -> Result<Counts> {
    let mut counts = Counts::default();
    let preemptions = if slow { PREEMPTIONS_SLOW } else { PREEMPTIONS };
    CommandLine::cargo(workspace)
        .args(["test", "--package", "hotcopy-engine", "--lib"])
        .args(["--release", "--", "models::"])
        .env("RUSTFLAGS", "--cfg loom")
        .env("LOOM_MAX_PREEMPTIONS", preemptions)
        // The models take seconds: to build them with care costs more than it saves.
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
        .env("CARGO_TARGET_DIR", workspace.target.join("loom"))
        .run_watched(|line| counts.read_libtest_line(line))?;
    if counts.passed == 0 {
        return Err("no model ran".into());
    }
    Ok(counts)
}
