//! `hotcopy report`: prints a results file again.

use std::process::ExitCode;

use hotcopy_lab::results::{AnyResult, read};

use crate::args::ReportArgs;
use crate::exit::Failure;
use crate::output;

pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode, Failure> {
    let format = args.format.into();
    match read(&args.file).map_err(Failure::run)? {
        AnyResult::Cost(result) => output::print(&*result, format)?,
        AnyResult::Modes(result) => output::print(&*result, format)?,
    }
    Ok(ExitCode::SUCCESS)
}
