//! The bound in bytes, together with what was taken out and is not yet freed. In a program of its own: what
//! waits for a pinned thread is not counted, and threads of other tests are pinned as long as they like.

#![cfg(not(loom))]

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hotcopy_engine::cache::Cache;

/// A value that counts how many of it live.
struct Counted(Arc<AtomicU64>);

impl Counted {
    fn new(alive: &Arc<AtomicU64>) -> Self {
        alive.fetch_add(1, Ordering::SeqCst);
        Counted(alive.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[test]
fn what_was_taken_out_and_waits_counts_against_the_bytes() {
    const MAX_BYTES: u64 = 100_000;
    let alive = Arc::default();
    let cache: Cache<u32, Counted> = Cache::builder()
        .max_bytes(MAX_BYTES)
        .weigher(|_, _| 1_000)
        .build();
    let mut borrows = VecDeque::new();
    for key in 0..2_000 {
        cache.insert(key, Counted::new(&alive));
        borrows.push_back(cache.get(&key).expect("just inserted"));
        if borrows.len() > 40 {
            borrows.pop_front();
        }
        // What the ticker is just freeing may live a little longer, and what is in a batch may be one entry
        // more than the part of the budget that is kept for it.
        let entry = cache.weight() / cache.len() as u64;
        let held = alive.load(Ordering::SeqCst) * entry;
        assert!(held <= MAX_BYTES + 2 * entry, "{held} at {key}");
    }
}
