//! Where the repository and its build products are.

use std::path::{Path, PathBuf};

use cargo_metadata::MetadataCommand;

use crate::Result;

/// The repository that this program was built from.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    /// Cargo's target directory, wherever the developer put it.
    pub(crate) target: PathBuf,
}

impl Workspace {
    pub(crate) fn locate() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .ok_or("xtask has no parent directory")?;
        let metadata = MetadataCommand::new().current_dir(root).no_deps().exec()?;
        Ok(Self {
            root: root.to_owned(),
            target: metadata.target_directory.into(),
        })
    }

    /// Tools and servers that the checks install for themselves; the end-to-end tests look here too.
    pub(crate) fn prerequisites(&self) -> PathBuf {
        self.target.join("prerequisites")
    }

    pub(crate) fn release_binary(&self) -> PathBuf {
        self.target.join("release/hotcopy")
    }
}

/// Whether a skipped test fails the run: nobody reads the log of an automatic run that passes.
pub(crate) fn in_ci() -> bool {
    ["CI", "HOTCOPY_CI"].iter().any(|name| {
        std::env::var(name).is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
    })
}
