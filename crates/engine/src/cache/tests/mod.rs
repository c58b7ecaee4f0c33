//! The cache as its users see it, by subject.

mod basics;
mod borrows;
mod bounds;
mod expiry;
mod hashing;
mod panics;
mod random;
mod reentry;
mod shapes;
mod statistics;
mod stress;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::*;
use crate::clock::ManualClock;

fn small() -> Cache<u32, u32> {
    Cache::builder().max_entries(100).build()
}

/// What the ticker or another thread does soon, without our doing.
fn eventually(holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Frees what nobody borrows. Readers of other tests, which run beside this one, and the ticker may hold
/// it up for a moment.
fn free_all<K: std::hash::Hash + Eq, V>(cache: &Cache<K, V>) {
    eventually(|| {
        cache.reclaim();
        cache.validate() == 0
    });
}

/// Frees what nobody borrows, and waits until no more values live than the cache holds: the ticker may
/// have some in its hands.
fn free_all_of<K: std::hash::Hash + Eq, V>(cache: &Cache<K, V>, values: &AtomicUsize) {
    free_all(cache);
    eventually(|| alive(values) == cache.len());
}

/// A value that counts how many of it live.
#[derive(Debug)]
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Ordering::SeqCst);
        Counted(alive.clone())
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        Counted::new(&self.0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn alive(counter: &AtomicUsize) -> usize {
    counter.load(Ordering::SeqCst)
}
