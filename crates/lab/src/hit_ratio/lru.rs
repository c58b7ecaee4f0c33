//! Exact least-recently-used, the yardstick that everybody knows.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use super::replay::{Policy, Room};

pub(super) struct ExactLru {
    capacity: u64,
    held: u64,
    /// By key: when it was used last, and its size.
    entries: HashMap<u32, (u64, u32), RandomState>,
    /// Keys by when they were used last.
    by_use: BTreeMap<u64, u32>,
    uses: u64,
}

impl ExactLru {
    pub(super) fn new(room: Room) -> Self {
        ExactLru {
            capacity: room.capacity,
            held: 0,
            entries: HashMap::default(),
            by_use: BTreeMap::new(),
            uses: 0,
        }
    }
}

impl Policy for ExactLru {
    fn name(&self) -> &'static str {
        "exact LRU"
    }

    fn get(&mut self, key: u32) -> Option<u32> {
        let (last, size) = self.entries.get_mut(&key)?;
        self.uses += 1;
        self.by_use.remove(last);
        self.by_use.insert(self.uses, key);
        *last = self.uses;
        Some(*size)
    }

    fn insert(&mut self, key: u32, size: u32) {
        self.remove(key);
        self.uses += 1;
        self.held += u64::from(size);
        self.entries.insert(key, (self.uses, size));
        self.by_use.insert(self.uses, key);
        while self.held > self.capacity
            && let Some((_, key)) = self.by_use.pop_first()
            && let Some((_, size)) = self.entries.remove(&key)
        {
            self.held -= u64::from(size);
        }
    }

    fn remove(&mut self, key: u32) {
        if let Some((last, size)) = self.entries.remove(&key) {
            self.by_use.remove(&last);
            self.held -= u64::from(size);
        }
    }

    fn held(&self) -> u64 {
        self.held
    }

    fn capacity(&self) -> u64 {
        self.capacity
    }
}
