//! The process's registry, and the calling thread's record in it.

use std::cell::Cell;
use std::sync::LazyLock;

use super::barrier::Barrier;
use super::record::{Pin, Record};
use super::registry::Registry;

static GLOBAL: LazyLock<Registry> = LazyLock::new(|| Registry::new(Barrier::choose()));

/// The registry that all caches of the process share.
pub(crate) fn global() -> &'static Registry {
    &GLOBAL
}

thread_local! {
    /// This thread's record, once it has one. Without a destructor, so that reading it is one load.
    static RECORD: Cell<Option<&'static Record>> = const { Cell::new(None) };
    /// Gives the record back when the thread ends.
    static LEASE: Lease = const { Lease };
}

struct Lease;

impl Drop for Lease {
    fn drop(&mut self) {
        // Later destructors of this thread may still read caches: they register once more, and that
        // record is not given back. A record with living borrows is kept for them.
        if RECORD.get().is_some_and(Record::disown) {
            RECORD.set(None);
        }
    }
}

/// Pins the calling thread, see [`Record::pin`].
#[inline(always)]
pub(crate) fn pin() -> Pin<'static> {
    record().pin()
}

/// Runs `body` with the calling thread pinned.
pub(crate) fn pinned<R>(body: impl FnOnce(&Pin<'static>) -> R) -> R {
    record().pinned(body)
}

#[inline(always)]
fn record() -> &'static Record {
    match RECORD.get() {
        Some(record) => record,
        None => register(),
    }
}

#[cold]
#[inline(never)]
fn register() -> &'static Record {
    let record = global().register();
    RECORD.set(Some(record));
    // Fails while the thread is being torn down.
    let _ = LEASE.try_with(|_| ());
    record
}
