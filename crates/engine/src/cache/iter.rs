//! Walking over a cache while others use it.

use std::collections::VecDeque;
use std::fmt;

use super::inner::Inner;
use super::reference::Ref;
use crate::reclaim;

/// An iterator over the entries of a [`Cache`](super::Cache), see [`Cache::iter`](super::Cache::iter).
pub struct Iter<'a, K, V> {
    inner: &'a Inner<K, V>,
    /// The shard and the position in it from which to go on.
    shard: usize,
    position: u32,
    /// Entries that were found and not yet returned.
    found: VecDeque<Ref<'a, K, V>>,
}

impl<'a, K, V> Iter<'a, K, V> {
    pub(super) fn new(inner: &'a Inner<K, V>) -> Self {
        Iter {
            inner,
            shard: 0,
            position: 0,
            found: VecDeque::new(),
        }
    }
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = Ref<'a, K, V>;

    fn next(&mut self) -> Option<Ref<'a, K, V>> {
        loop {
            if let Some(entry) = self.found.pop_front() {
                return Some(entry);
            }
            let shard = self.inner.shards.get(self.shard)?;
            let now = self.inner.now();
            let idle = self.inner.idle.as_ref();
            let next = reclaim::pinned(|pin| {
                shard.walk(pin, self.position, |node| {
                    if !node.is_expired(idle, now) {
                        self.found.push_back(Ref::new(node, pin));
                    }
                })
            });
            self.position = next.unwrap_or_else(|| {
                self.shard += 1;
                0
            });
        }
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Iter<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter")
            .field("shard", &self.shard)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}
