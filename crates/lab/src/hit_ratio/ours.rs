//! Our own cache.

use hotcopy::Cache;

use super::replay::{Policy, Room};

pub(super) struct Ours {
    cache: Cache<u32, u32>,
    room: Room,
}

impl Ours {
    /// With sizes, the capacity bounds them and the cache's own share of every entry together, which
    /// peers do not count.
    pub(super) fn new(room: Room) -> Self {
        let builder = Cache::builder();
        let builder = match room.is_sized {
            true => builder
                .max_bytes(room.capacity)
                .weigher(|_, &size| u64::from(size)),
            false => builder.max_entries(room.capacity as usize),
        };
        Ours {
            cache: builder.build(),
            room,
        }
    }
}

impl Policy for Ours {
    fn name(&self) -> &'static str {
        "hotcopy"
    }

    fn get(&mut self, key: u32) -> Option<u32> {
        self.cache.get(&key).map(|size| *size)
    }

    fn insert(&mut self, key: u32, size: u32) {
        self.cache.insert(key, size);
    }

    fn remove(&mut self, key: u32) {
        drop(self.cache.remove(&key));
    }

    fn held(&self) -> u64 {
        match self.room.is_sized {
            true => self.cache.weight(),
            false => self.cache.len() as u64,
        }
    }

    fn capacity(&self) -> u64 {
        self.room.capacity
    }
}
