//! Other caches, each in one shard and told its exact capacity.

use foldhash::fast::RandomState;
use foyer_memory::{EvictionConfig, LfuConfig, LruConfig, S3FifoConfig, SieveConfig};

use super::replay::{Policy, Room};

/// All of them.
pub(super) fn all(room: Room) -> Vec<Box<dyn Policy>> {
    vec![
        Box::new(QuickCache::new(room)),
        Box::new(QuickCacheUnsync::new(room)),
        Box::new(Moka::new(room)),
        Box::new(Foyer::new("foyer LRU", LruConfig::default(), room)),
        Box::new(Foyer::new("foyer LFU", LfuConfig::default(), room)),
        Box::new(Foyer::new("foyer S3-FIFO", S3FifoConfig::default(), room)),
        Box::new(Foyer::new("foyer Sieve", SieveConfig, room)),
        Box::new(TinyUfo::new(room)),
        Box::new(Lru::new(room)),
    ]
}

#[derive(Clone)]
struct Size;

impl quick_cache::Weighter<u32, u32> for Size {
    fn weight(&self, _: &u32, size: &u32) -> u64 {
        u64::from(*size)
    }
}

fn quick_cache_options(room: Room) -> quick_cache::Options {
    quick_cache::OptionsBuilder::new()
        .shards(1)
        .estimated_items_capacity(room.entries)
        .weight_capacity(room.capacity)
        .build()
        .expect("both capacities are given")
}

struct QuickCache(quick_cache::sync::Cache<u32, u32, Size, RandomState>);

impl QuickCache {
    fn new(room: Room) -> Self {
        let options = quick_cache_options(room);
        let (hasher, lifecycle) = Default::default();
        Self(quick_cache::sync::Cache::with_options(
            options, Size, hasher, lifecycle,
        ))
    }
}

impl Policy for QuickCache {
    fn name(&self) -> &'static str {
        "quick_cache sync"
    }
    fn get(&mut self, key: u32) -> Option<u32> {
        self.0.get(&key)
    }
    fn insert(&mut self, key: u32, size: u32) {
        self.0.insert(key, size);
    }
    fn remove(&mut self, key: u32) {
        self.0.remove(&key);
    }
    fn held(&self) -> u64 {
        self.0.weight()
    }
    fn capacity(&self) -> u64 {
        self.0.capacity()
    }
}

struct QuickCacheUnsync(quick_cache::unsync::Cache<u32, u32, Size, RandomState>);

impl QuickCacheUnsync {
    fn new(room: Room) -> Self {
        let options = quick_cache_options(room);
        let (hasher, lifecycle) = Default::default();
        Self(quick_cache::unsync::Cache::with_options(
            options, Size, hasher, lifecycle,
        ))
    }
}

impl Policy for QuickCacheUnsync {
    fn name(&self) -> &'static str {
        "quick_cache unsync"
    }
    fn get(&mut self, key: u32) -> Option<u32> {
        self.0.get(&key).copied()
    }
    fn insert(&mut self, key: u32, size: u32) {
        self.0.insert(key, size);
    }
    fn remove(&mut self, key: u32) {
        self.0.remove(&key);
    }
    fn held(&self) -> u64 {
        self.0.weight()
    }
    fn capacity(&self) -> u64 {
        self.0.capacity()
    }
}

/// Its housekeeping runs after every operation: between two of them it would hold more than it may.
struct Moka {
    cache: moka::sync::Cache<u32, u32, RandomState>,
    capacity: u64,
}

impl Moka {
    fn new(room: Room) -> Self {
        let cache = moka::sync::Cache::builder()
            .max_capacity(room.capacity)
            .weigher(|_, &size| size)
            .build_with_hasher(RandomState::default());
        Moka {
            cache,
            capacity: room.capacity,
        }
    }
}

impl Policy for Moka {
    fn name(&self) -> &'static str {
        "moka sync"
    }
    fn get(&mut self, key: u32) -> Option<u32> {
        let size = self.cache.get(&key);
        self.cache.run_pending_tasks();
        size
    }
    fn insert(&mut self, key: u32, size: u32) {
        self.cache.insert(key, size);
        self.cache.run_pending_tasks();
    }
    fn remove(&mut self, key: u32) {
        self.cache.invalidate(&key);
        self.cache.run_pending_tasks();
    }
    fn held(&self) -> u64 {
        self.cache.weighted_size()
    }
    fn capacity(&self) -> u64 {
        self.capacity
    }
}

struct Foyer {
    name: &'static str,
    cache: foyer_memory::Cache<u32, u32, RandomState>,
}

impl Foyer {
    fn new(name: &'static str, eviction: impl Into<EvictionConfig>, room: Room) -> Self {
        let cache = foyer_memory::CacheBuilder::new(room.capacity as usize)
            .with_shards(1)
            .with_eviction_config(eviction)
            .with_weighter(|_: &u32, size: &u32| *size as usize)
            .with_hash_builder(RandomState::default())
            .build();
        Foyer { name, cache }
    }
}

impl Policy for Foyer {
    fn name(&self) -> &'static str {
        self.name
    }
    fn get(&mut self, key: u32) -> Option<u32> {
        self.cache.get(&key).map(|entry| *entry.value())
    }
    fn insert(&mut self, key: u32, size: u32) {
        drop(self.cache.insert(key, size));
    }
    fn remove(&mut self, key: u32) {
        drop(self.cache.remove(&key));
    }
    fn held(&self) -> u64 {
        self.cache.usage() as u64
    }
    fn capacity(&self) -> u64 {
        self.cache.capacity() as u64
    }
}

/// Its weights are of 16 bits, so large sizes are counted in larger units, rounded up. It does not
/// tell what it holds; that is the sum of what went in and did not come out.
struct TinyUfo {
    cache: tinyufo::TinyUfo<u32, u32>,
    unit: u32,
    capacity: u64,
    held: u64,
}

impl TinyUfo {
    fn new(room: Room) -> Self {
        let unit = room.largest.div_ceil(u32::from(u16::MAX));
        // In a cache that is smaller than one unit nothing could be held.
        let unit = unit.min(room.capacity.try_into().unwrap_or(u32::MAX));
        let capacity = room.capacity / u64::from(unit);
        TinyUfo {
            cache: tinyufo::TinyUfo::new(capacity as usize, room.entries),
            unit,
            capacity,
            held: 0,
        }
    }

    fn weight(&self, size: u32) -> u16 {
        size.div_ceil(self.unit).try_into().unwrap_or(u16::MAX)
    }
}

impl Policy for TinyUfo {
    fn name(&self) -> &'static str {
        "TinyUFO"
    }
    fn get(&mut self, key: u32) -> Option<u32> {
        self.cache.get(&key)
    }
    fn insert(&mut self, key: u32, size: u32) {
        // Over a key that is there it may evict while the old weight still counts.
        self.remove(key);
        let weight = self.weight(size);
        if u64::from(weight) > self.capacity {
            return;
        }
        self.held += u64::from(weight);
        for evicted in self.cache.put(key, size, weight) {
            self.held -= u64::from(evicted.weight);
        }
    }
    fn remove(&mut self, key: u32) {
        if let Some(size) = self.cache.remove(&key) {
            self.held -= u64::from(self.weight(size));
        }
    }
    fn held(&self) -> u64 {
        self.held
    }
    fn capacity(&self) -> u64 {
        self.capacity
    }
}

/// It counts entries only; bytes are counted here.
struct Lru {
    cache: lru::LruCache<u32, u32, RandomState>,
    capacity: u64,
    held: u64,
}

impl Lru {
    fn new(room: Room) -> Self {
        Lru {
            cache: lru::LruCache::unbounded_with_hasher(RandomState::default()),
            capacity: room.capacity,
            held: 0,
        }
    }
}

impl Policy for Lru {
    fn name(&self) -> &'static str {
        "lru"
    }
    fn get(&mut self, key: u32) -> Option<u32> {
        self.cache.get(&key).copied()
    }
    fn insert(&mut self, key: u32, size: u32) {
        let old = self.cache.put(key, size).unwrap_or(0);
        self.held = self.held - u64::from(old) + u64::from(size);
        while self.held > self.capacity
            && let Some((_, size)) = self.cache.pop_lru()
        {
            self.held -= u64::from(size);
        }
    }
    fn remove(&mut self, key: u32) {
        self.held -= u64::from(self.cache.pop(&key).unwrap_or(0));
    }
    fn held(&self) -> u64 {
        self.held
    }
    fn capacity(&self) -> u64 {
        self.capacity
    }
}
