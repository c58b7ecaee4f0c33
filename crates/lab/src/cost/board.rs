//! The newest acknowledged revision, shared by all processes of a run.
//!
//! A row's process has to know, at each read, whether the store already holds a newer version than
//! the one it just returned. One word in a shared mapping tells it without a system call.
#![allow(unsafe_code)] // A memory map, and an atomic inside it.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};

/// The mapped word.
#[derive(Debug)]
pub(super) struct RevisionBoard {
    map: MmapRaw,
}

impl RevisionBoard {
    /// A new board in the system's directory for temporary files, at revision 0, and its path.
    pub(super) fn create() -> io::Result<(Self, TemporaryPath)> {
        let name = format!(
            "hotcopy-lab-{}-{:08x}.board",
            std::process::id(),
            fastrand::u32(..)
        );
        let path = std::env::temp_dir().join(name);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)?;
        let path = TemporaryPath(path);
        file.set_len(size_of::<AtomicU64>() as u64)?;
        Ok((Self::map(&file)?, path))
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

/// A file that is removed when this is dropped.
#[derive(Debug)]
pub(super) struct TemporaryPath(pub(super) PathBuf);

impl Drop for TemporaryPath {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_process_announces_another_reads_and_nothing_is_left_behind() {
        let (board, path) = RevisionBoard::create().unwrap();
        let reader = RevisionBoard::open(&path.0).unwrap();
        board.announce(7);
        assert_eq!(reader.newest(), 7);
        let left = path.0.clone();
        drop(path);
        assert!(!left.exists());
        board.announce(8);
        assert_eq!(reader.newest(), 8);
    }
}
