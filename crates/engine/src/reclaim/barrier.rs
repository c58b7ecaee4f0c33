//! The barrier between "I am pinned" and the first pointer that a reader follows.
//!
//! Two pairs are possible. With *fences* both sides execute a full barrier. With Linux `membarrier`
//! the reader's side is free (it only keeps the compiler from reordering) and the writer's side makes
//! the kernel run a full barrier on every core that runs a thread of this process; that costs some
//! 10 µs, so it is paid once for a batch. Which pair is used is decided once, before the first reader
//! exists: `membarrier` can be missing (other systems) or forbidden (seccomp filters).

use crate::sync::{Ordering, fence};

/// Which pair of barriers is in use. Readers ask it on each pin: it lives in memory that nobody writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Barrier {
    /// Full barriers on both sides.
    Fence,
    /// A compiler fence for readers, `membarrier` for writers.
    #[cfg_attr(not(all(target_os = "linux", not(miri), not(loom))), expect(dead_code))]
    Membarrier,
}

impl Barrier {
    /// The better pair that this system allows.
    pub(crate) fn choose() -> Self {
        #[cfg(all(target_os = "linux", not(miri), not(loom)))]
        if membarrier::register() {
            return Barrier::Membarrier;
        }
        Barrier::Fence
    }

    /// The reader's side.
    #[inline(always)]
    pub(crate) fn light(self) {
        match self {
            Barrier::Fence => fence(Ordering::SeqCst),
            Barrier::Membarrier => std::sync::atomic::compiler_fence(Ordering::SeqCst),
        }
    }

    /// The writer's side. False if the kernel refused: then no grace period may end.
    #[must_use]
    pub(crate) fn heavy(self) -> bool {
        match self {
            Barrier::Fence => {
                fence(Ordering::SeqCst);
                true
            }
            #[cfg(all(target_os = "linux", not(miri), not(loom)))]
            // A forked child may have lost the registration of its parent: it asks once more.
            Barrier::Membarrier => {
                membarrier::run() || (membarrier::register() && membarrier::run())
            }
            #[cfg(not(all(target_os = "linux", not(miri), not(loom))))]
            Barrier::Membarrier => unreachable!("chosen only where it exists"),
        }
    }
}

#[cfg(all(target_os = "linux", not(miri), not(loom)))]
#[allow(unsafe_code, reason = "a system call that the standard library lacks")]
mod membarrier {
    /// Tells the kernel that this process will ask for barriers. False where it does not offer them.
    pub(super) fn register() -> bool {
        call(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
    }

    /// A full barrier on every core that runs a thread of this process.
    pub(super) fn run() -> bool {
        call(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
    }

    fn call(command: libc::c_int) -> bool {
        // SAFETY: takes three integers and touches no memory of ours.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }
}
