//! Ctrl-C: the first ends the measurement and prints what there is, the second ends at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit::{Failure, INTERRUPTED};

/// A flag that the first SIGINT, SIGTERM or SIGHUP sets.
pub(crate) fn flag_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order matters: the shutdown is armed by the signal before.
        flag::register_conditional_shutdown(
            signal,
            i32::from(INTERRUPTED),
            Arc::clone(&interrupted),
        )
        .and_then(|_| flag::register(signal, Arc::clone(&interrupted)))
        .map_err(|error| Failure::run(format_args!("catching signals: {error}")))?;
    }
    Ok(interrupted)
}
