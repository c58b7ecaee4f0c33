//! `hotcopy modes`: measures, writes the results file, prints the report.

use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hotcopy_lab::modes::{Options, run as measure};
use hotcopy_lab::results;

use crate::args::ModesArgs;
use crate::exit::{Failure, INTERRUPTED};
use crate::interrupt::flag_on_interrupt;
use crate::output;

pub(crate) fn run(args: ModesArgs) -> Result<ExitCode, Failure> {
    let format = args.format.into();
    let out = args.out;
    let options = Options {
        rounds: args.rounds.get(),
        round_time: Duration::from_millis(args.round_ms.get()),
        operations_per_request: args.operations.0,
        requests_per_s: args.requests.0,
        java_script: args.js,
        command_line: std::env::args_os()
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
    };
    // Known before a minute of measuring, not after it.
    results::check_writable(&out).map_err(Failure::run)?;
    let interrupt = flag_on_interrupt()?;
    let result = measure(&options, &interrupt);
    output::print(&result, format)?;
    if result.rows.is_empty() {
        // The results of an earlier run are worth more.
        anstream::eprintln!("nothing was measured; {} is left as it is", out.display());
    } else {
        results::write(&out, &result).map_err(Failure::run)?;
        anstream::eprintln!(
            "results are in {}; hotcopy report prints them again",
            out.display()
        );
    }
    if interrupt.load(Ordering::Relaxed) {
        return Ok(ExitCode::from(INTERRUPTED));
    }
    Ok(ExitCode::SUCCESS)
}
