//! A server process that belongs to one test and ends with it.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// A child process that is killed and waited for when it goes out of scope.
pub struct Process {
    child: Child,
    output: Option<BufReader<ChildStdout>>,
}

impl Process {
    /// Starts `command` with standard output piped to us.
    ///
    /// # Panics
    ///
    /// When the program cannot be started.
    #[must_use]
    pub fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let output = child.stdout.take().map(BufReader::new);
        Self { child, output }
    }

    /// Reads one line of the program's standard output; `None` when it ended without one.
    ///
    /// # Panics
    ///
    /// When the output is not text.
    pub fn read_line(&mut self) -> Option<String> {
        let mut line = String::new();
        let output = self.output.as_mut()?;
        output.read_line(&mut line).expect("the output is text");
        (!line.is_empty()).then_some(line)
    }

    /// What the program wrote to standard error, if it was started with that piped. Waits for its end.
    ///
    /// # Panics
    ///
    /// When the output is not text.
    pub fn errors(&mut self) -> String {
        let mut text = String::new();
        if let Some(mut errors) = self.child.stderr.take() {
            errors
                .read_to_string(&mut text)
                .expect("the output is text");
        }
        text
    }

    /// Ends the reading of standard output, so that a talkative program is never blocked by a full pipe.
    pub fn drain_output(&mut self) {
        if let Some(mut output) = self.output.take() {
            std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        }
    }

    #[must_use]
    #[expect(missing_docs, reason = "the name says it")]
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Sends a signal to the process.
    ///
    /// # Panics
    ///
    /// When the process is gone.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("the process is alive");
    }

    /// Stops the process, and returns when none of its threads runs any more, which is some time after
    /// the signal was sent.
    ///
    /// # Panics
    ///
    /// When the process is gone.
    pub fn stop(&self) {
        self.signal(Signal::STOP);
        let tasks = format!("/proc/{}/task", self.pid().as_raw_nonzero());
        let is_stopped = |task: fs::DirEntry| {
            let stat = fs::read_to_string(task.path().join("stat"))
                .expect("a stopping process ends no thread");
            // The state follows the program's name, which is in parentheses and may hold any.
            stat.rsplit_once(") ")
                .is_some_and(|(_, rest)| rest.starts_with('T'))
        };
        while !fs::read_dir(&tasks)
            .expect("the process is alive")
            .all(|task| is_stopped(task.expect("a task can be listed")))
        {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The exit status, if the process ends within `timeout`.
    ///
    /// # Panics
    ///
    /// When the process cannot be waited for.
    pub fn wait(&mut self, timeout: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + timeout;
        loop {
            if let Some(status) = self.child.try_wait().expect("our child can be waited for") {
                return Some(status);
            }
            if Instant::now() > deadline {
                return None;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Resident memory in bytes (`VmRSS`).
    ///
    /// # Panics
    ///
    /// When the process is gone.
    #[must_use]
    pub fn resident_bytes(&self) -> u64 {
        let pid = self.pid().as_raw_nonzero();
        let status = fs::read_to_string(format!("/proc/{pid}/status"))
            .expect("a process has its status in /proc");
        let kibibytes = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .and_then(|value| value.split_whitespace().next())
            .and_then(|value| value.parse::<u64>().ok())
            .expect("a running process has resident memory");
        kibibytes * 1024
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only when the process has ended already, which is what we want.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
