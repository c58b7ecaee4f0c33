//! Where a report goes: standard output, with colours if it is a terminal that wants them.

use std::io::{self, IsTerminal as _, Write as _};

use hotcopy_lab::report::{Format, Report, Style, render};

use crate::exit::Failure;

/// Prints `result` as standard output can show it.
pub(crate) fn print(result: &impl Report, format: Format) -> Result<(), Failure> {
    let stdout = io::stdout();
    // anstream knows NO_COLOR, CLICOLOR_FORCE, TERM and what a pipe is.
    let color = anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never;
    let width = stdout.is_terminal().then(terminal_width).flatten();
    let text = render(result, format, Style { color, width });
    let mut stdout = stdout.lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        // `hotcopy … | head` has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|error| Failure::run(format_args!("writing the report: {error}"))),
    }
}

fn terminal_width() -> Option<u16> {
    terminal_size::terminal_size().map(|(width, _)| width.0)
}
