//! `cargo xtask bench`: the benchmarks of crate `bench`, in release.

use crate::Result;
use crate::command::CommandLine;
use crate::workspace::Workspace;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// What to hand to the benchmark program: names of benchmarks and its own options.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let workspace = Workspace::locate()?;
    CommandLine::cargo(&workspace)
        .args(["build", "--release", "--bin", "hotcopy"])
        .run()?;
    CommandLine::cargo(&workspace)
        .args(["run", "--release", "--package", "hotcopy-bench", "--"])
        .env("HOTCOPY_BIN", workspace.target.join("release/hotcopy"))
        .args(&options.arguments)
        .run()
}
