//! The newest acknowledged revision, shared by all processes of a run.
//!
//! A row's process has to know, at each read, whether the store already holds a newer version than
//! the one it just returned. One word in a shared mapping tells it without a system call.
#![allow(unsafe_code)] // A memory map, and an atomic inside it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};

/// The mapped word.
#[derive(Debug)]
pub(super) struct RevisionBoard {
    map: MmapRaw,
}

/// The file behind a board, as the processes of a run can open it.
#[derive(Debug)]
pub(super) struct BoardFile {
    file: File,
    /// Where the file has a name; on Linux it has none, so that nothing is left if we are killed.
    name: Option<PathBuf>,
}

impl BoardFile {
    /// A new file in the system's directory for temporary files.
    pub(super) fn create() -> io::Result<Self> {
        let name = format!(
            "hotcopy-lab-{}-{:08x}",
            std::process::id(),
            fastrand::u32(..)
        );
        let name = std::env::temp_dir().join(name);
        let mut options = OpenOptions::new();
        let file = options
            .read(true)
            .write(true)
            .create_new(true)
            .open(&name)?;
        let mut board = BoardFile {
            file,
            name: Some(name),
        };
        board.file.set_len(size_of::<AtomicU64>() as u64)?;
        if cfg!(target_os = "linux") {
            board.remove_name();
        }
        Ok(board)
    }

    /// Under this path a child of ours opens the file while we hold it.
    pub(super) fn path(&self) -> PathBuf {
        self.name.clone().unwrap_or_else(|| {
            let (process, descriptor) = (std::process::id(), self.file.as_raw_fd());
            format!("/proc/{process}/fd/{descriptor}").into()
        })
    }

    fn remove_name(&mut self) {
        if let Some(name) = self.name.take() {
            let _ = std::fs::remove_file(name);
        }
    }
}

impl Drop for BoardFile {
    fn drop(&mut self) {
        self.remove_name();
    }
}

impl RevisionBoard {
    /// The board in a file that this process made.
    pub(super) fn of(file: &BoardFile) -> io::Result<Self> {
        Self::map(&file.file)
    }

    /// The board that another process made.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Self::map(&OpenOptions::new().read(true).write(true).open(path)?)
    }

    fn map(file: &File) -> io::Result<Self> {
        Ok(RevisionBoard {
            map: MmapOptions::new()
                .len(size_of::<AtomicU64>())
                .map_raw(file)?,
        })
    }

    /// The newest revision whose write the store has acknowledged.
    #[inline]
    pub(super) fn newest(&self) -> u64 {
        self.word().load(Ordering::Acquire)
    }

    pub(super) fn announce(&self, revision: u64) {
        self.word().store(revision, Ordering::Release);
    }

    #[inline]
    fn word(&self) -> &AtomicU64 {
        // SAFETY: the mapping is page-aligned, at least eight bytes long, lives as long as `self`, and
        // every process touches it only through this atomic.
        unsafe { AtomicU64::from_ptr(self.map.as_mut_ptr().cast()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_process_announces_another_reads_and_nothing_is_left_behind() {
        let file = BoardFile::create().unwrap();
        let board = RevisionBoard::of(&file).unwrap();
        let reader = RevisionBoard::open(&file.path()).unwrap();
        assert_eq!(reader.newest(), 0);
        board.announce(7);
        assert_eq!(reader.newest(), 7);
        let path = file.path();
        drop(file);
        assert!(RevisionBoard::open(&path).is_err());
        board.announce(8);
        assert_eq!(reader.newest(), 8);
    }
}
