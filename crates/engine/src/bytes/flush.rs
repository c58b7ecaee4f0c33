//! Emptying a database: its tables are set aside at once, what they name is removed bit by bit.

use std::sync::Arc;

use parking_lot::Mutex;

use super::log::Location;
use super::shard::{Shard, Table};
use super::store::{ByteStore, Database};

/// Entries of a flushed database that are removed under one lock.
const CLEARED_ENTRIES: usize = 64;

/// What a flush took out. Dropping it frees the memory step by step, which takes time in proportion to
/// the number of entries: a caller can do so where nobody waits. Until then its memory counts as used, but
/// is the first that a full store takes back.
#[derive(Debug)]
#[must_use = "dropping it here frees everything on this thread"]
pub struct Discarded {
    shards: Arc<[Mutex<Shard>]>,
}

impl Drop for Discarded {
    fn drop(&mut self) {
        for shard in &*self.shards {
            let mut has_more = true;
            while has_more {
                let mut shard = shard.lock();
                has_more = shard.clear_flushed(CLEARED_ENTRIES);
                let removed = std::mem::take(&mut shard.removed);
                let given_up = std::mem::take(&mut shard.log.given_up);
                drop(shard);
                drop(removed);
                drop(given_up);
            }
        }
    }
}

impl ByteStore {
    /// Empties a database, shard after shard, without freeing anything.
    pub fn flush(&self, database: Database) -> Discarded {
        for index in 0..self.shards.len() {
            self.lock(index).flush(database.0);
        }
        let shards = Arc::clone(&self.shards);
        Discarded { shards }
    }
}

impl Shard {
    /// Sets a database's table aside.
    pub(super) fn flush(&mut self, database: usize) {
        let Some(number) = self.table_of(database) else {
            return;
        };
        let table = &mut self.tables[number];
        table.database = None;
        table.cleared_to = 0;
        self.sizes.remove_entries(database, table.index.len());
        self.sizes.remove_deadlines(database, table.with_deadline);
    }

    /// Removes about so many entries of databases that were flushed; false if there are none.
    pub(super) fn clear_flushed(&mut self, max_entries: usize) -> bool {
        let mut cleared = Vec::new();
        while cleared.len() < max_entries {
            let is_flushed = |table: &&mut Table| table.database.is_none() && table.index.len() > 0;
            let Some(table) = self.tables.iter_mut().find(is_flushed) else {
                return false;
            };
            let hash_of = |it| self.hasher.hash_at(&self.log, Location(it));
            let found = cleared.len();
            let next = table
                .index
                .walk(table.cleared_to, hash_of, |it| cleared.push(it));
            table.cleared_to = next.unwrap_or(0);
            for location in &cleared[found..] {
                self.remove_at(Location(*location));
            }
        }
        true
    }
}
