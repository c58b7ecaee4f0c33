//! Eviction: the least recently used of a few entries picked at random.
//!
//! Redis does it this way; with ten candidates it comes close to true LRU (antirez, "Random notes on
//! improving the Redis LRU algorithm", 2016) without a list that every hit would have to write.

use super::UnixMillis;
use super::store::{ByteStore, Database};

const CANDIDATES: usize = 10;

impl ByteStore {
    pub(super) fn is_over_limit(&self) -> bool {
        self.max_bytes.is_some_and(|max| self.used_bytes() > max)
    }

    /// Evicts until the limit holds. Entries that `is_protected` names stay: what was just written
    /// shall not go before it could be read.
    pub(super) fn evict_to_limit(&self, is_protected: impl Fn(Database, &[u8]) -> bool) {
        while self.is_over_limit() && self.evict_one(&is_protected) {}
    }

    /// Evicts one entry; false if there is none that may go.
    fn evict_one(&self, is_protected: &impl Fn(Database, &[u8]) -> bool) -> bool {
        let Some(start) = self.weighted_database() else {
            return false;
        };
        let first_shard = fastrand::usize(..self.shards_per_database);
        let databases = self.databases().count();
        (0..databases)
            .map(|step| (start.index() + step) % databases)
            .filter_map(|index| self.database(index))
            .filter(|database| !self.is_empty(*database))
            .any(|database| {
                (0..self.shards_per_database).any(|step| {
                    let index = (first_shard + step) % self.shards_per_database;
                    self.evict_from(database, index, is_protected)
                })
            })
    }

    /// A database, picked with a probability in proportion to its entries, so that a few hot entries
    /// in a small database are not sampled again and again.
    fn weighted_database(&self) -> Option<Database> {
        let total: usize = self.databases().map(|database| self.len(database)).sum();
        if total == 0 {
            return None;
        }
        let mut left = fastrand::usize(..total);
        for database in self.databases() {
            let entries = self.len(database);
            if left < entries {
                return Some(database);
            }
            left -= entries;
        }
        // Entries went away while we counted: any database will do.
        self.database(0)
    }

    fn evict_from(
        &self,
        database: Database,
        index: usize,
        is_protected: &impl Fn(Database, &[u8]) -> bool,
    ) -> bool {
        let mut shard = self.lock(database, index);
        let entries = shard.map.len();
        let mut oldest: Option<(UnixMillis, usize)> = None;
        for nth in 0..CANDIDATES.min(entries) {
            let candidate = if entries <= CANDIDATES {
                nth
            } else {
                fastrand::usize(..entries)
            };
            let Some((key, entry)) = shard.map.get_index(candidate) else {
                continue;
            };
            if is_protected(database, key) {
                continue;
            }
            if oldest.is_none_or(|(last_used, _)| entry.last_used < last_used) {
                oldest = Some((entry.last_used, candidate));
            }
        }
        let Some((_, victim)) = oldest else {
            return false;
        };
        shard.remove_at(victim);
        shard.stats.evictions += 1;
        true
    }
}
