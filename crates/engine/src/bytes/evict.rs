//! Eviction: the least recently used of a few entries picked at random.
//!
//! Redis does it this way; with ten candidates it comes close to true LRU (antirez, "Random notes on
//! improving the Redis LRU algorithm", 2016) without a list that every hit would have to write.

use super::UnixMillis;
use super::shard::Shard;
use super::store::{ByteStore, Database};

/// Candidates of one shard.
const CANDIDATES: usize = 10;

/// Shards whose candidates are compared.
const COMPARED_SHARDS: usize = 3;

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
    ///
    /// Candidates of several shards are compared: a small shard alone may hold nothing but an entry
    /// that is read all the time.
    fn evict_one(&self, is_protected: &impl Fn(Database, &[u8]) -> bool) -> bool {
        let oldest = self
            .shards_from_a_random_one()
            .filter_map(|(database, index)| {
                let shard = self.lock(database, index);
                let (last_used, _) = oldest_candidate(&shard, database, is_protected)?;
                Some((last_used, database, index))
            })
            .take(COMPARED_SHARDS)
            .min_by_key(|(last_used, ..)| *last_used);
        let Some((_, database, index)) = oldest else {
            return false;
        };
        // Picked anew, since another thread may have changed the shard in between.
        let mut shard = self.lock(database, index);
        if let Some((_, victim)) = oldest_candidate(&shard, database, is_protected) {
            shard.remove_at(victim);
            shard.stats.evictions += 1;
        }
        true
    }

    /// All shards of databases that are not empty, one after another from a random one on.
    fn shards_from_a_random_one(&self) -> impl Iterator<Item = (Database, usize)> {
        let start = self.weighted_database();
        let first_shard = fastrand::usize(..self.shards_per_database);
        let databases = self.databases().count();
        start
            .into_iter()
            .flat_map(move |start| (0..databases).map(move |step| start.index() + step))
            .filter_map(move |index| self.database(index % databases))
            .filter(|database| !self.is_empty(*database))
            .flat_map(move |database| {
                (0..self.shards_per_database)
                    .map(move |step| (database, (first_shard + step) % self.shards_per_database))
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
}

/// When the least recently used of a few entries was used, and its place.
fn oldest_candidate(
    shard: &Shard,
    database: Database,
    is_protected: &impl Fn(Database, &[u8]) -> bool,
) -> Option<(UnixMillis, usize)> {
    let entries = shard.map.len();
    (0..CANDIDATES.min(entries))
        .map(|nth| {
            if entries <= CANDIDATES {
                nth
            } else {
                fastrand::usize(..entries)
            }
        })
        .filter_map(|place| Some((place, shard.map.get_index(place)?)))
        .filter(|(_, (key, _))| !is_protected(database, key))
        .map(|(place, (_, entry))| (entry.last_used, place))
        .min()
}
