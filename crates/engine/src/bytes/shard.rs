//! One shard: the entries of all databases whose keys' hashes fall to it.
//!
//! A shard has one log for all of them and for each database a *table*: an index into the log. To
//! flush a database its table is set aside; what it still names is removed bit by bit.
//! A shard knows nothing of locks or limits. What it removes waits in `removed`, and in the log's
//! `given_up`, until the store has released the lock.

use std::sync::Arc;

use super::builder::Prepared;
use super::chain::Chain;
use super::entry::to_field;
use super::index::Index;
use super::key::{KeyHasher, is_key, with_key};
use super::log::{Location, Log, Walk};
use super::pool::Pool;
use super::segment::{NEVER, NewPart, NewRecord, Record};
use super::stats::{Sizes, Stats};
use super::sweep::SweptSegment;
use super::weight::Layout;
use super::{Current, UnixMillis};
use crate::index::Hash;

/// Numbers of tables fit into a record's byte: those of databases, and those of flushed ones.
const MAX_TABLES: usize = 256;

/// Databases of a store. The other tables are for what was flushed.
pub(super) const MAX_DATABASES: usize = 128;

#[derive(Debug)]
pub(super) struct Shard {
    pub(super) log: Log,
    pub(super) tables: Vec<Table>,
    pub(super) hasher: KeyHasher,
    /// Of an index, see [`Index`].
    pub(super) part_bits: u32,
    pub(super) sizes: Arc<Sizes>,
    version: u32,
    /// Memory of the values' blocks.
    pub(super) block_bytes: u64,
    /// No entry of this shard has an earlier deadline. A lower bound, so that a sweep can pass the
    /// shard by; made exact again when a sweep has walked what was due.
    pub(super) earliest_deadline: u64,
    /// Where a sweep is.
    pub(super) sweep: SweptSegment,
    /// Segments from which entries are being evicted, and saved.
    pub(super) evicting: Option<Walk>,
    pub(super) compacting: Option<Walk>,
    pub(super) stats: Stats,
    pub(super) removed: Vec<Chain>,
}

#[derive(Debug)]
pub(super) struct Table {
    pub(super) index: Index,
    /// None: the table was set aside, or has no use.
    pub(super) database: Option<usize>,
    /// Up to this position a table that was set aside is cleared.
    pub(super) cleared_to: u32,
    pub(super) with_deadline: usize,
}

/// An entry that was found, good until the shard changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    hash: Hash,
    table: usize,
    pub(super) location: Location,
}

/// What a write stores.
#[derive(Debug)]
pub(super) struct NewEntry<'a> {
    pub(super) key: Prepared<'a>,
    /// See [`KeyHasher::kept_hash`].
    pub(super) kept_hash: u64,
    pub(super) value: Prepared<'a>,
    pub(super) flags: u32,
    pub(super) deadline: Option<UnixMillis>,
}

impl Shard {
    pub(super) fn new(
        pool: &Arc<Pool>,
        layout: Layout,
        hasher: KeyHasher,
        sizes: Arc<Sizes>,
    ) -> Self {
        Shard {
            log: Log::new(pool, layout.segment_bytes),
            tables: Vec::new(),
            hasher,
            part_bits: layout.part_bits,
            sizes,
            version: 0,
            block_bytes: 0,
            earliest_deadline: NEVER,
            sweep: SweptSegment::default(),
            evicting: None,
            compacting: None,
            stats: Stats::default(),
            removed: Vec::new(),
        }
    }

    /// Bytes that evicting everything here would free.
    pub(super) fn weight(&self) -> u64 {
        self.log.capacity() as u64 + self.block_bytes
    }

    pub(super) fn table_of(&self, database: usize) -> Option<usize> {
        let mut tables = self.tables.iter();
        tables.position(|table| table.database == Some(database))
    }

    pub(super) fn index(&self, database: usize) -> Option<&Index> {
        Some(&self.tables[self.table_of(database)?].index)
    }

    fn new_table(&mut self, database: usize) -> usize {
        if self.tables.len() == MAX_TABLES {
            // As many flushes as that were not cleared up yet: now somebody has to wait for it.
            while self.clear_flushed(usize::MAX) {}
        }
        let is_unused = |table: &Table| table.database.is_none() && table.index.len() == 0;
        let number = match self.tables.iter().position(is_unused) {
            Some(number) => number,
            None => {
                self.tables.push(Table {
                    index: Index::new(&self.log.pool, self.part_bits),
                    database: None,
                    cleared_to: 0,
                    with_deadline: 0,
                });
                self.tables.len() - 1
            }
        };
        self.tables[number].database = Some(database);
        number
    }

    /// Where the live entry of `key` is. An expired one is removed.
    pub(super) fn find(
        &mut self,
        database: usize,
        hash: Hash,
        key: &[u8],
        now: UnixMillis,
    ) -> Option<Found> {
        let table = self.table_of(database)?;
        let index = &self.tables[table].index;
        let location = index.find(hash, |it| is_key(&self.log, Location(it), key))?;
        let location = Location(location);
        let found = Found {
            hash,
            table,
            location,
        };
        if self.log.record(location).deadline() <= now.0 {
            self.remove(found);
            self.stats.expirations += 1;
            return None;
        }
        Some(found)
    }

    pub(super) fn current(&self, found: Found) -> Current<'_> {
        Current::new(&self.log, found.location)
    }

    /// Counts a read of what [`find`](Self::find) found, and marks it as used.
    pub(super) fn count_read(&mut self, found: Option<Found>) {
        let Some(Found { location, .. }) = found else {
            self.stats.misses += 1;
            return;
        };
        self.stats.hits += 1;
        let segment = self.log.segment_mut(location.segment());
        let record = segment.record(location.at());
        if record.mark() < 3 {
            segment.set_mark(&record, record.mark() + 1);
        }
    }

    /// Writes an entry in the place of what was found. The caller has made sure that a deadline is in
    /// the future and that no expired entry is in the way.
    pub(super) fn store(
        &mut self,
        database: usize,
        hash: Hash,
        entry: &NewEntry<'_>,
        replaced: Option<Found>,
    ) {
        self.stats.inserts += 1;
        self.version = self.version.wrapping_add(1);
        let table = match replaced
            .map(|found| found.table)
            .or(self.table_of(database))
        {
            Some(table) => table,
            None => self.new_table(database),
        };
        let deadline = to_field(entry.deadline);
        let part = |prepared: &Prepared<'_>| prepared.chain.clone();
        let new = NewRecord {
            table: table as u8,
            mark: 0,
            version: self.version,
            flags: entry.flags,
            deadline,
            hash: entry.kept_hash,
            key: NewPart {
                chain: part(&entry.key),
                tail: entry.key.tail(),
            },
            value: NewPart {
                chain: part(&entry.value),
                tail: entry.value.tail(),
            },
        };
        self.note_deadline(table, deadline);
        if let Some(Found { location, .. }) = replaced {
            let segment = self.log.segment_mut(location.segment());
            let before = segment.record(location.at());
            if segment.overwrite(&before, &new) {
                self.forget_deadline(table, &before);
                self.sweep.note_deadline(location.segment(), deadline);
                return;
            }
        }
        let blocks = entry.value.chain.as_ref().map(Chain::block_bytes);
        self.block_bytes += blocks.unwrap_or(0);
        let location = self.log.append(new);
        // After the new one, so that a shard with this entry alone does not give up its segment each time.
        if let Some(Found { location, .. }) = replaced {
            self.kill(location, table);
        }
        self.link(table, hash, location, replaced.map(|found| found.location));
    }

    /// Lets the index name a new record, in the place of an old one if there is one.
    fn link(&mut self, table: usize, hash: Hash, new: Location, old: Option<Location>) {
        let Shard {
            log,
            hasher,
            tables,
            sizes,
            ..
        } = self;
        let index = &mut tables[table].index;
        match old {
            Some(old) => index.replace(hash, old.0, new.0),
            None => {
                index.insert(hash, new.0, |it| hasher.hash_at(log, Location(it)));
                if let Some(database) = tables[table].database {
                    sizes.add_entry(database);
                }
            }
        }
    }

    fn note_deadline(&mut self, table: usize, deadline: u64) {
        if deadline != NEVER {
            self.earliest_deadline = self.earliest_deadline.min(deadline);
            let table = &mut self.tables[table];
            table.with_deadline += 1;
            if let Some(database) = table.database {
                self.sizes.add_deadline(database);
            }
        }
    }

    fn forget_deadline(&mut self, table: usize, record: &Record) {
        if record.deadline() != NEVER {
            let table = &mut self.tables[table];
            table.with_deadline -= 1;
            if let Some(database) = table.database {
                self.sizes.remove_deadlines(database, 1);
            }
        }
    }

    pub(super) fn set_deadline(&mut self, found: Found, deadline: Option<UnixMillis>) {
        let Found {
            hash,
            table,
            location,
        } = found;
        let deadline = to_field(deadline);
        let segment = self.log.segment_mut(location.segment());
        let record = segment.record(location.at());
        let is_done = segment.set_deadline(&record, deadline);
        self.forget_deadline(table, &record);
        self.note_deadline(table, deadline);
        self.sweep.note_deadline(location.segment(), deadline);
        if !is_done && let Some(mut taken) = self.log.take(location) {
            let new = NewRecord {
                deadline,
                ..taken.as_new()
            };
            let new = self.log.append(new);
            self.link(table, hash, new, Some(location));
        }
    }

    /// Moves a live record within the log, which keeps it unless it is dead. `append` puts it back.
    pub(super) fn relocate(
        &mut self,
        location: Location,
        mark: u8,
        append: impl FnOnce(&mut Log, NewRecord<'_>) -> Location,
    ) {
        let hash = self.hasher.hash_at(&self.log, location);
        if let Some(mut taken) = self.log.take(location) {
            let table = taken.record.table();
            let new = NewRecord {
                mark,
                ..taken.as_new()
            };
            let new = append(&mut self.log, new);
            self.link(table, hash, new, Some(location));
        }
    }

    /// Removes an entry, which stays alive until the shard is unlocked.
    pub(super) fn remove(&mut self, found: Found) {
        let Shard {
            log,
            hasher,
            tables,
            sizes,
            ..
        } = self;
        let Table {
            index, database, ..
        } = &mut tables[found.table];
        let location = found.location;
        index.remove(found.hash, location.0, |it| {
            hasher.hash_at(log, Location(it))
        });
        if let Some(database) = *database {
            sizes.remove_entries(database, 1);
        }
        self.kill(location, found.table);
    }

    /// Removes an entry that a walk over the log met.
    pub(super) fn remove_at(&mut self, location: Location) {
        let table = self.log.record(location).table();
        let hash = self.hasher.hash_at(&self.log, location);
        self.remove(Found {
            hash,
            table,
            location,
        });
    }

    fn kill(&mut self, location: Location, table: usize) {
        let record = self.log.record(location);
        if let Some(remains) = self.log.kill(location) {
            self.forget_deadline(table, &record);
            let blocks = remains.value.as_ref().map(Chain::block_bytes);
            self.block_bytes -= blocks.unwrap_or(0);
            self.removed.extend(remains.key);
            self.removed.extend(remains.value);
        }
    }

    /// The database of a record, unless that was flushed.
    pub(super) fn database_of(&self, record: &Record) -> Option<usize> {
        self.tables[record.table()].database
    }

    /// Shows the key of a live record.
    pub(super) fn with_key<R>(&self, location: Location, show: impl FnOnce(&[u8]) -> R) -> R {
        with_key(&self.log, location, show)
    }

    pub(super) fn hash_at(&self, location: u32) -> Hash {
        self.hasher.hash_at(&self.log, Location(location))
    }
}
