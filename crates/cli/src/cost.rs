//! `hotcopy cost`: measures, writes the results file, prints the report.

use std::process::ExitCode;
use std::sync::atomic::Ordering;

use hotcopy_lab::cost::{Encoding, Options, ValueChoice, run as measure};
use hotcopy_lab::results;
use hotcopy_lab::target::mask_password;

use crate::args::{CostArgs, DecodeArg};
use crate::exit::{Failure, INTERRUPTED};
use crate::interrupt::flag_on_interrupt;
use crate::output;

pub(crate) fn run(args: CostArgs) -> Result<ExitCode, Failure> {
    let format = args.output.format.into();
    let out = args.output.out.clone();
    let options = options(args)?;
    // Known before a minute of measuring, not after it.
    results::check_writable(&out).map_err(Failure::run)?;
    let interrupt = flag_on_interrupt()?;
    let result = measure(&options, &interrupt)?;
    output::print(&result, format)?;
    if result.calls.is_empty() && result.rows.is_empty() {
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

fn options(args: CostArgs) -> Result<Options, Failure> {
    let value = match (args.value, args.key, args.command) {
        (Some(file), _, _) => ValueChoice::File(file),
        (_, Some(key), _) => ValueChoice::Key(key),
        (_, _, Some(command)) => ValueChoice::Command(
            shell_words::split(&command)
                .map_err(|error| Failure::usage(format_args!("--command {command:?}: {error}")))?,
        ),
        _ => ValueChoice::Generated,
    };
    Ok(Options {
        target: args.target.parse().map_err(Failure::usage)?,
        value,
        decode: match args.decode {
            DecodeArg::Json => Some(Encoding::Json),
            DecodeArg::Msgpack => Some(Encoding::Msgpack),
            DecodeArg::None => None,
        },
        pool: args.pool.get(),
        rate_per_s: args.rate.0,
        workers: args.workers.get(),
        row_time: args.seconds.0,
        full_load: args.full_load,
        instances: args.instances.get(),
        change_every: args.change_every.map(|every| every.0),
        command_line: std::env::args_os()
            .map(|word| mask_password(&word.to_string_lossy()))
            .collect(),
    })
}
