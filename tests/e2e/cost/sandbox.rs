//! A folder that one run of the binary works in, and where everything that it leaves behind would lie.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use hotcopy_lab::results::cost::CostResult;
use hotcopy_lab::results::read_cost;
use hotcopy_tests::locate;
use hotcopy_tests::process::Process;
use tempfile::TempDir;

use super::LONG_ENOUGH;

/// The folder, with one beside it for what the test itself needs.
pub(crate) struct Sandbox {
    work: TempDir,
    aside: TempDir,
}

/// The binary, running.
pub(crate) struct Running {
    pub(crate) process: Process,
    stderr: PathBuf,
}

/// What a user sees of a run that has ended.
pub(crate) struct Finished {
    /// `None` when a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let folder = || tempfile::tempdir().expect("the folder for temporary files can be written");
        Self {
            work: folder(),
            aside: folder(),
        }
    }

    /// Starts `hotcopy` with its output in pipes and files, so without a terminal.
    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        self.start_with(arguments, &[])
    }

    /// The same with these environment variables.
    pub(crate) fn start_with(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Running {
        let stderr = self.aside.path().join("stderr");
        let mut command = Command::new(locate::hotcopy());
        command
            .args(arguments)
            .current_dir(self.work.path())
            .env("TMPDIR", self.work.path())
            .env_remove("CLICOLOR_FORCE")
            .envs(environment.iter().copied())
            // A service's own setting, which must not reach the servers that a run starts.
            .env("HOTCOPY_PASSWORD", "of-another-server")
            .stderr(File::create(&stderr).expect("the folder can be written"));
        Running {
            process: Process::start(command),
            stderr,
        }
    }

    /// Runs `hotcopy` to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Finished {
        self.start(arguments).finish()
    }

    /// Runs `hotcopy cost` to its end.
    pub(crate) fn cost(&self, arguments: &[&str]) -> Finished {
        self.run(&[&["cost"], arguments].concat())
    }

    /// Starts `hotcopy cost`.
    pub(crate) fn start_cost(&self, arguments: &[&str]) -> Running {
        self.start(&[&["cost"], arguments].concat())
    }

    /// A file for the run to read, with its path.
    pub(crate) fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.aside.path().join(name);
        fs::write(&path, content).expect("the folder can be written");
        path.to_string_lossy().into_owned()
    }

    /// The folder itself.
    pub(crate) fn work(&self) -> &Path {
        self.work.path()
    }

    /// The results file, where it lies unless `--out` says otherwise.
    pub(crate) fn results(&self) -> PathBuf {
        self.work.path().join("results/cost.json")
    }

    /// What is in the results file.
    pub(crate) fn result(&self) -> CostResult {
        read_cost(&self.results()).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Everything in the folder, by path, sorted.
    pub(crate) fn entries(&self) -> Vec<String> {
        let mut found = Vec::new();
        list(self.work.path(), self.work.path(), &mut found);
        found.sort();
        found
    }

    /// Nothing but the results of a run that went well.
    pub(crate) fn assert_only_the_results_are_left(&self) {
        assert_eq!(self.entries(), ["results", "results/cost.json"]);
        self.assert_no_process_is_left();
    }

    pub(crate) fn assert_no_process_is_left(&self) {
        assert_eq!(self.processes(), Vec::<String>::new());
    }

    /// The processes of the run, which are known by the environment that they inherited.
    pub(crate) fn processes(&self) -> Vec<String> {
        let mark = format!("TMPDIR={}", self.work.path().display());
        let is_ours = |pid: &Path| {
            // A process may end while it is looked at, and others are not ours to look at.
            let environment = fs::read(pid.join("environ")).unwrap_or_default();
            environment
                .split(|byte| *byte == 0)
                .any(|it| it == mark.as_bytes())
        };
        fs::read_dir("/proc")
            .expect("Linux has /proc")
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.join("environ").exists() && is_ours(path))
            .map(|path| {
                let words = fs::read(path.join("cmdline")).unwrap_or_default();
                String::from_utf8_lossy(&words).replace('\0', " ")
            })
            .collect()
    }
}

fn list(root: &Path, folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        let name = path.strip_prefix(root).expect("it lies below");
        found.push(name.to_string_lossy().into_owned());
        if path.is_dir() {
            list(root, &path, found);
        }
    }
}

impl Running {
    /// What it printed until its end.
    pub(crate) fn finish(mut self) -> Finished {
        let mut stdout = String::new();
        while let Some(line) = self.process.read_line() {
            stdout += &line;
        }
        let status = self
            .process
            .wait(LONG_ENOUGH)
            .expect("it has closed its output, so it ends");
        Finished {
            code: status.code(),
            stdout,
            stderr: fs::read_to_string(&self.stderr).expect("the messages are text"),
        }
    }
}

impl Finished {
    /// It did what it was asked to.
    pub(crate) fn assert_done(&self) {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
    }
}
