//! `hotcopy report`: prints a results file again.

use std::process::ExitCode;

use hotcopy_lab::results::read_cost;

use crate::args::ReportArgs;
use crate::exit::Failure;
use crate::output;

pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode, Failure> {
    let result = read_cost(&args.file).map_err(Failure::run)?;
    output::print(&result, args.format.into())?;
    Ok(ExitCode::SUCCESS)
}
