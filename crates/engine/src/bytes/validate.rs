//! Checks for tests that everything which is kept twice agrees.

use super::chain::Chain;
use super::log::Location;
use super::segment::NEVER;
use super::shard::Shard;
use super::store::{ByteStore, Database};

impl ByteStore {
    /// Panics unless all kept sums agree with the entries. Walks everything.
    pub(super) fn validate(&self) {
        let mut counted = vec![(0, 0); self.sizes.databases()];
        for index in 0..self.shards.len() {
            for (database, entries, with_deadline) in self.lock(index).validate() {
                counted[database].0 += entries;
                counted[database].1 += with_deadline;
            }
        }
        for (database, (entries, with_deadline)) in counted.into_iter().enumerate() {
            assert_eq!(self.len(Database(database)), entries);
            assert_eq!(self.len_with_deadline(Database(database)), with_deadline);
        }
    }
}

impl Shard {
    /// Panics unless the kept sums agree with the entries; returns how many entries each database has
    /// and how many of them have deadlines. Walks everything.
    pub(super) fn validate(&self) -> Vec<(usize, usize, usize)> {
        self.log.validate();
        assert!(self.removed.is_empty(), "removed entries outlive the lock");
        let (mut entries, mut block_bytes) = (0, 0);
        let mut counted = Vec::new();
        for (number, table) in self.tables.iter().enumerate() {
            let mut with_deadline = 0;
            let locations = table.index.locations(|it| self.hash_at(it));
            assert_eq!(table.index.len(), locations.len());
            for location in locations {
                let record = self.log.record(Location(location));
                assert!(record.is_live(), "the index names a dead record");
                assert_eq!(record.table(), number);
                let segment = self.log.segment(Location(location).segment());
                assert!(segment.earliest_deadline <= record.deadline());
                assert!(self.earliest_deadline <= record.deadline());
                with_deadline += usize::from(record.deadline() != NEVER);
                let chain = segment.value_chain(&record);
                block_bytes += chain.as_ref().map_or(0, Chain::block_bytes);
            }
            assert_eq!(table.with_deadline, with_deadline);
            entries += table.index.len();
            if let Some(database) = table.database {
                counted.push((database, table.index.len(), with_deadline));
            }
        }
        assert_eq!(
            self.log.live_records(),
            entries,
            "every live record is in an index"
        );
        assert_eq!(self.block_bytes, block_bytes);
        counted
    }
}
