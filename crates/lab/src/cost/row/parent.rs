//! The parent's side of a row: starts the process, hands it its work, listens.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use super::{FromRow, RowSpec};
use crate::child::{BoundChild, spawn_bound};
use crate::error::Error;

/// A row's process. Dropped, it is ended.
pub(in super::super) struct RowProcess {
    name: String,
    stdin: ChildStdin,
    messages: Receiver<FromRow>,
    child: BoundChild,
}

impl RowProcess {
    /// Starts the process of the row that messages call `name`.
    pub(in super::super) fn start(name: &str, spec: &RowSpec) -> Result<Self, Error> {
        let program = std::env::current_exe().map_err(Error::system("finding our own program"))?;
        let mut command = Command::new(program);
        command
            .arg("row")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = spawn_bound(&mut command)
            .map(BoundChild)
            .map_err(Error::system("starting a row"))?;
        let stdout = child.0.stdout.take().expect("stdout is piped");
        let (sender, messages) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_else(|error| {
                    FromRow::Failed(format!("its process said {line:?}: {error}"))
                });
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let stdin = child.0.stdin.take().expect("stdin is piped");
        let mut row = RowProcess {
            name: name.into(),
            stdin,
            messages,
            child,
        };
        row.write_line(&serde_json::to_string(spec).expect("a specification is plain data"))?;
        Ok(row)
    }

    /// Lets the measurement begin. To be called after [`FromRow::Ready`].
    pub(in super::super) fn go(&mut self) -> Result<(), Error> {
        self.write_line("go")
    }

    fn write_line(&mut self, line: &str) -> Result<(), Error> {
        let result = self.stdin.write_all(format!("{line}\n").as_bytes());
        result.map_err(|_| self.ended_early())
    }

    /// The next message, or `None` if there is none yet.
    pub(in super::super) fn next(&mut self, wait: Duration) -> Result<Option<FromRow>, Error> {
        match self.messages.recv_timeout(wait) {
            Ok(FromRow::Failed(cause)) => Err(Error::Row {
                row: self.name.clone(),
                cause,
            }),
            Ok(message) => Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.ended_early()),
        }
    }

    /// It has not said what was waited for so long.
    pub(in super::super) fn hangs(&self, waited: Duration) -> Error {
        let cause = format!(
            "no answer for {} s; does the server still serve?",
            waited.as_secs()
        );
        Error::Row {
            row: self.name.clone(),
            cause,
        }
    }

    fn ended_early(&mut self) -> Error {
        let mut said = String::new();
        if let Some(mut stderr) = self.child.0.stderr.take() {
            let _ = stderr.read_to_string(&mut said);
        }
        let status = self
            .child
            .0
            .wait()
            .map_or_else(|e| e.to_string(), |s| s.to_string());
        let said = said.trim().lines().next_back().unwrap_or_default();
        let cause = format!("its process ended before it had measured ({status}) {said}");
        Error::Row {
            row: self.name.clone(),
            cause: cause.trim_end().into(),
        }
    }
}
