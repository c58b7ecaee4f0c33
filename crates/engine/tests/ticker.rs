//! A ticker that falls asleep while an entry is being stored. Alone in its process: other caches would wake it.

use std::hash::{Hash, Hasher};
use std::thread;
use std::time::{Duration, Instant};

use hotcopy_engine::cache::Cache;

/// A key that takes many ticks to compare, with all others, since they share a hash.
struct Slow(u8);

impl Hash for Slow {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl PartialEq for Slow {
    fn eq(&self, other: &Slow) -> bool {
        thread::sleep(Duration::from_millis(60));
        self.0 == other.0
    }
}

impl Eq for Slow {}

#[test]
fn an_entry_that_takes_long_to_store_expires_all_the_same() {
    let cache: Cache<Slow, u32> = Cache::builder().max_entries(10).build();
    cache.insert(Slow(1), 1);
    cache.insert_with_ttl(Slow(2), 2, Duration::from_millis(200));
    let stored = Instant::now();
    while cache.len() == 2 {
        assert!(
            stored.elapsed() < Duration::from_secs(5),
            "it is still there"
        );
        thread::sleep(Duration::from_millis(5));
    }
}
