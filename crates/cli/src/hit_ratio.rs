//! `hotcopy hit-ratio`: replays traces, prints how often caches hit.

use std::process::ExitCode;

use hotcopy_lab::hit_ratio::{Options, run as replay};

use crate::args::HitRatioArgs;
use crate::exit::Failure;
use crate::output;

pub(crate) fn run(args: HitRatioArgs) -> Result<ExitCode, Failure> {
    let options = Options {
        files: args.files,
        capacities: args.capacity,
    };
    let result = replay(&options).map_err(Failure::run)?;
    output::print(&result, args.format.into())?;
    Ok(ExitCode::SUCCESS)
}
