//! A command line that is shown before it runs and named when it fails.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use crate::Result;
use crate::workspace::Workspace;

/// A child process with its settings, printable as the line that a developer can paste.
pub(crate) struct CommandLine {
    command: Command,
}

impl CommandLine {
    pub(crate) fn new(program: impl AsRef<std::ffi::OsStr>, workspace: &Workspace) -> Self {
        let mut command = Command::new(program);
        command.current_dir(&workspace.root).stdin(Stdio::null());
        Self { command }
    }

    /// Cargo of the toolchain that runs us.
    pub(crate) fn cargo(workspace: &Workspace) -> Self {
        Self::new("cargo", workspace)
    }

    /// Cargo of the nightly toolchain. Goes through `rustup run`, because `cargo +nightly` needs rustup's proxy
    /// to be the first cargo in `PATH`, which it is not inside a cargo alias.
    pub(crate) fn nightly_cargo(workspace: &Workspace) -> Self {
        Self::new("rustup", workspace).args(["run", "nightly", "cargo"])
    }

    pub(crate) fn args<S: AsRef<std::ffi::OsStr>>(
        mut self,
        args: impl IntoIterator<Item = S>,
    ) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn current_dir(mut self, directory: &Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Runs to the end with the terminal's own output.
    pub(crate) fn run(mut self) -> Result<()> {
        eprintln!("$ {self}");
        let status = self.command.status();
        self.judge(status)
    }

    /// Runs to the end; every line of output is passed through and given to `watch`.
    pub(crate) fn run_watched(mut self, mut watch: impl FnMut(&str) + Send) -> Result<()> {
        eprintln!("$ {self}");
        let child = self
            .command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = match child {
            Ok(child) => child,
            Err(error) => return self.judge(Err(error)),
        };
        let (send, lines) = std::sync::mpsc::channel();
        let streams: [Option<Box<dyn Read + Send>>; 2] = [
            child.stdout.take().map(|stream| Box::new(stream) as _),
            child.stderr.take().map(|stream| Box::new(stream) as _),
        ];
        thread::scope(|scope| {
            for stream in streams.into_iter().flatten() {
                let send = send.clone();
                scope.spawn(move || forward_lines(stream, &send));
            }
            drop(send);
            for line in lines {
                watch(&line);
            }
        });
        let status = child.wait();
        self.judge(status)
    }

    /// Runs quietly, output into a file; for work that goes on beside other work.
    pub(crate) fn run_logged(mut self, log: &Path) -> Result<()> {
        let file = std::fs::File::create(log)?;
        self.command.stdout(file.try_clone()?).stderr(file);
        let status = self.command.status();
        self.judge(status)
    }

    /// Runs quietly and returns what it printed on standard output.
    pub(crate) fn output(mut self) -> Result<String> {
        let output = self.command.stderr(Stdio::inherit()).output();
        let (status, stdout) = match output {
            Ok(output) => (Ok(output.status), output.stdout),
            Err(error) => (Err(error), Vec::new()),
        };
        self.judge(status)?;
        Ok(String::from_utf8(stdout)?)
    }

    /// Whether the command can be started and ends well; its output is nobody's.
    pub(crate) fn succeeds(mut self) -> bool {
        self.command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }

    fn judge(&self, status: std::io::Result<std::process::ExitStatus>) -> Result<()> {
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("{status} from `{self}`").into()),
            Err(error) => Err(format!("cannot run `{self}`: {error}").into()),
        }
    }
}

fn forward_lines(stream: impl Read, lines: &std::sync::mpsc::Sender<String>) {
    for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).into_owned();
        // A closed standard error must not stop the child from being drained.
        let _ = writeln!(std::io::stderr().lock(), "{line}");
        if lines.send(line).is_err() {
            return;
        }
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in self.command.get_envs() {
            if let Some(value) = value {
                write!(
                    formatter,
                    "{}={} ",
                    name.display(),
                    quoted(&value.to_string_lossy())
                )?;
            }
        }
        write!(formatter, "{}", self.command.get_program().display())?;
        for argument in self.command.get_args() {
            write!(formatter, " {}", quoted(&argument.to_string_lossy()))?;
        }
        Ok(())
    }
}

/// Shell quoting where an argument needs it.
fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_shown_as_a_shell_would_take_it() {
        let workspace = Workspace::locate().expect("xtask lies in a workspace");
        let line = CommandLine::new("cargo", &workspace)
            .args(["test", "-E", "not package(x)"])
            .env("RUSTFLAGS", "-D warnings");
        assert_eq!(
            line.to_string(),
            "RUSTFLAGS='-D warnings' cargo test -E 'not package(x)'"
        );
    }

    #[test]
    fn a_failing_command_is_named_in_the_error() {
        let workspace = Workspace::locate().expect("xtask lies in a workspace");
        let error = CommandLine::new("sh", &workspace)
            .args(["-c", "exit 3"])
            .run()
            .expect_err("the status is 3");
        assert_eq!(error.to_string(), "exit status: 3 from `sh -c 'exit 3'`");
    }
}
