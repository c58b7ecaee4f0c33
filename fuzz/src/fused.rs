//! Keys and values that panic on demand, collide, and know whether they are alive.
//!
//! A *fuse* is set for a kind of user code and burns down with each call of it; the last one panics. Fuses are
//! of one thread: what the engine's ticker runs does not panic.

use std::borrow::Borrow;
use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use libfuzzer_sys::arbitrary::{self, Arbitrary};

/// User code that a cache runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Arbitrary)]
pub enum Code {
    Hash,
    Eq,
    Drop,
    Weigh,
}

thread_local! {
    static FUSE: Cell<Option<(Code, u8)>> = const { Cell::new(None) };
}

/// What a fuse panics with.
struct Burnt;

/// Sets the fuse: the call after `calls` further ones of this code panics. Replaces the one that was set.
pub fn set_fuse(code: Code, calls: u8) {
    FUSE.set(Some((code, calls)));
}

/// No call panics any more.
pub fn put_out_fuse() {
    FUSE.set(None);
}

fn burn(code: Code) {
    match FUSE.get() {
        // A panic while another one unwinds would end the process.
        Some((fused, 0)) if fused == code && !thread::panicking() => {
            FUSE.set(None);
            panic::panic_any(Burnt);
        }
        Some((fused, left)) if fused == code => FUSE.set(Some((code, left.saturating_sub(1)))),
        _ => (),
    }
}

/// What `body` returns; none if a fuse made it panic. Other panics are findings.
pub fn attempt<R>(body: impl FnOnce() -> R) -> Option<R> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let found = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !panic.payload().is::<Burnt>() {
                found(panic);
            }
        }));
    });
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(result) => Some(result),
        Err(panic) if panic.is::<Burnt>() => None,
        Err(panic) => panic::resume_unwind(panic),
    }
}

/// What a key is looked up by. Four names share a hash.
#[derive(Debug, Clone, Copy)]
pub struct Name(pub u8);

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        burn(Code::Hash);
        state.write_u8(self.0 / 4);
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        burn(Code::Eq);
        self.0 == other.0
    }
}

impl Eq for Name {}

/// A key as it is stored. The boxes make a sanitizer notice what is used after it was freed.
pub struct Key(Box<Name>);

impl Key {
    pub fn new(name: u8) -> Self {
        Key(Box::new(Name(name)))
    }

    pub fn name(&self) -> u8 {
        self.0.0
    }
}

impl Borrow<Name> for Key {
    fn borrow(&self) -> &Name {
        &self.0
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.0 == other.0
    }
}

impl Eq for Key {}

impl Drop for Key {
    fn drop(&mut self) {
        burn(Code::Drop);
    }
}

/// A value: which writing of which key it is.
pub struct Value(Box<Content>);

#[derive(Debug, Clone, Copy)]
pub struct Content {
    pub name: u8,
    pub version: u32,
    pub weight: u16,
}

static ALIVE: AtomicUsize = AtomicUsize::new(0);

impl Value {
    pub fn new(content: Content) -> Self {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        Value(Box::new(content))
    }

    pub fn content(&self) -> Content {
        *self.0
    }

    /// Its weight, as a weigher tells it.
    pub fn weigh(&self) -> u64 {
        burn(Code::Weigh);
        u64::from(self.0.weight)
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        Value::new(self.content())
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::Relaxed);
        burn(Code::Drop);
    }
}

/// Waits until every value was dropped: the engine's ticker may be the last who looks after a cache.
pub fn assert_all_dropped() {
    let started = Instant::now();
    while ALIVE.load(Ordering::Relaxed) != 0 {
        let waited = started.elapsed();
        assert!(waited < Duration::from_secs(20), "values were leaked");
        thread::yield_now();
    }
}
