//! Child processes that never outlive us, whatever ends us.
#![allow(unsafe_code)] // `pre_exec`: the kernel has to be told in the child, between fork and exec.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

/// Starts `command` in a process group of its own, so that Ctrl-C in the terminal reaches us alone
/// and we decide what ends when.
///
/// On Linux the kernel kills the child when the calling *thread* ends, even by SIGKILL: call this on
/// the main thread.
pub(crate) fn spawn_bound(command: &mut Command) -> io::Result<Child> {
    command.process_group(0);
    #[cfg(target_os = "linux")]
    let parent = rustix::process::getpid();
    #[cfg(target_os = "linux")]
    // SAFETY: between fork and exec only async-signal-safe calls are allowed; these are two system
    // calls, and nothing here allocates or locks.
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
                .map_err(io::Error::from)?;
            // If the parent went before the call, no signal will come.
            if rustix::process::getppid() == Some(parent) {
                Ok(())
            } else {
                Err(io::ErrorKind::NotConnected.into())
            }
        });
    }
    command.spawn()
}

/// A child that is ended when this is dropped.
#[derive(Debug)]
pub(crate) struct BoundChild(pub(crate) Child);

impl Drop for BoundChild {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to do.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
