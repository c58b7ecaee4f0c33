//! Segments: pieces of a log, filled with records from the start to the end.
//!
//! A segment has one owner, the log, which appends and kills records under its shard's lock. While a
//! [`ValueSlice`] refers to a segment, what was appended stays where it is and as it is but for two fields of
//! headers, so the bytes of a value can be read without the lock. A slice keeps the segment's memory alive: one that the
//! log has given up is freed when the last slice is gone.

#![allow(
    unsafe_code,
    reason = "headers change under the lock while values behind them are read without it"
)]

mod record;
mod region;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::chain::Chain;
use super::pool::Pool;
pub(super) use record::{
    ALIGNMENT, LARGEST_HEADER_BYTES, MAX_VALUE_BYTES, NEVER, NewPart, NewRecord, Record,
};
use record::{DEAD, EXTRAS, Extras, HEAD_BYTES, Head, MARK};
pub(super) use region::REGION_BYTES;
use region::Region;

/// Where in a header the state and the deadline are.
const STATE_AT: usize = std::mem::offset_of!(Head, state);
const DEADLINE_AT: usize = HEAD_BYTES + std::mem::offset_of!(Extras, deadline);

#[derive(Debug)]
pub(super) struct Segment {
    /// Tells it from others that had or will have its number in the log.
    pub(super) id: u64,
    region: Arc<Region>,
    /// Bytes that records fill. Of these only the state and the deadline of headers still change, by
    /// methods that borrow the segment exclusively, and what [`Segment::overwrite`] may.
    written: usize,
    live_records: usize,
    live_bytes: usize,
    /// No live record has an earlier deadline.
    pub(super) earliest_deadline: u64,
}

/// The chains of an entry that is gone.
#[derive(Debug)]
pub(super) struct Remains {
    pub(super) key: Option<Chain>,
    pub(super) value: Option<Chain>,
}

/// The part of a value that lies in a segment. Keeps the segment's memory alive.
#[derive(Debug, Clone)]
pub(super) struct ValueSlice {
    region: Arc<Region>,
    start: u32,
    len: u32,
}

impl ValueSlice {
    pub(super) fn as_slice(&self) -> &[u8] {
        // SAFETY: made by `Segment::value_slice` of the bytes of a value, which are not written while it exists.
        unsafe { self.region.bytes(self.start as usize, self.len as usize) }
    }
}

impl Segment {
    pub(super) fn new(pool: &Arc<Pool>, capacity: usize, id: u64) -> Self {
        Segment {
            id,
            region: Region::new(pool, capacity),
            written: 0,
            live_records: 0,
            live_bytes: 0,
            earliest_deadline: NEVER,
        }
    }

    pub(super) fn capacity(&self) -> usize {
        self.region.capacity()
    }

    pub(super) fn room(&self) -> usize {
        self.capacity() - self.written
    }

    pub(super) fn written(&self) -> usize {
        self.written
    }

    pub(super) fn live_records(&self) -> usize {
        self.live_records
    }

    pub(super) fn dead_bytes(&self) -> usize {
        self.written - self.live_bytes
    }

    /// Appends a record, for which there must be room, and returns where it is.
    pub(super) fn append(&mut self, new: NewRecord<'_>) -> usize {
        let record = new.record(self.written);
        let end = record.end();
        assert!(end <= self.capacity(), "no room for a record");
        let (key_at, _) = record.key_tail();
        let (value_at, _) = record.value_tail();
        let region = &*self.region;
        // SAFETY: all of it lies behind `written`, where nobody reads; this exclusive borrow makes us
        // the only writer. `Head` and `Extras` have no padding.
        unsafe {
            region.write(record.at, record.head);
            if record.has(EXTRAS) {
                region.write(record.at + HEAD_BYTES, record.extras);
            }
            region.write_bytes(key_at, new.key.tail);
            region.write_bytes(value_at, new.value.tail);
            if let (Some(at), Some(chain)) = (record.key_chain_at(), new.key.chain) {
                region.write(at, chain.into_raw());
            }
            if let Some(at) = record.key_hash_at() {
                region.write(at, new.hash);
            }
            if let (Some(at), Some(chain)) = (record.value_chain_at(), new.value.chain) {
                region.write(at, chain.into_raw());
            }
        }
        self.written = end;
        self.live_records += 1;
        self.live_bytes += record.len();
        self.earliest_deadline = self.earliest_deadline.min(record.deadline());
        record.at
    }

    /// The record at a place where one begins.
    pub(super) fn record(&self, at: usize) -> Record {
        assert!(at < self.written, "no record begins behind the end");
        // SAFETY: written; headers change only while the segment is borrowed exclusively. `Head` and
        // `Extras` are made of integers.
        unsafe {
            let head: Head = self.region.read(at);
            let extras = if head.state & EXTRAS != 0 {
                self.region.read(at + HEAD_BYTES)
            } else {
                Extras {
                    flags: 0,
                    deadline: NEVER,
                }
            };
            Record { head, extras, at }
        }
    }

    fn bytes(&self, (at, len): (usize, usize)) -> &[u8] {
        assert!(at + len <= self.written, "nothing is behind the end");
        // SAFETY: the callers ask for bytes of a key or a value, which are not written while the segment is borrowed.
        unsafe { self.region.bytes(at, len) }
    }

    /// What of the key lies in the record: all of it, unless the key is as long as a block.
    pub(super) fn key_tail(&self, record: &Record) -> &[u8] {
        self.bytes(record.key_tail())
    }

    /// What of the value lies in the record, for use without the lock.
    pub(super) fn value_slice(&self, record: &Record) -> ValueSlice {
        let (start, len) = record.value_tail();
        assert!(start + len <= self.written, "nothing is behind the end");
        ValueSlice {
            region: Arc::clone(&self.region),
            start: start as u32,
            len: len as u32,
        }
    }

    /// The blocks of a live record's key, if it has any.
    pub(super) fn key_chain(&self, record: &Record) -> Option<Chain> {
        self.share_chain(record, record.key_chain_at())
    }

    /// The hash of a key that has blocks.
    pub(super) fn key_hash(&self, record: &Record) -> Option<u64> {
        // SAFETY: `append` wrote it there, and it does not change.
        record
            .key_hash_at()
            .map(|at| unsafe { self.region.read(at) })
    }

    /// The blocks of a live record's value, if it has any.
    pub(super) fn value_chain(&self, record: &Record) -> Option<Chain> {
        self.share_chain(record, record.value_chain_at())
    }

    fn share_chain(&self, record: &Record, at: Option<usize>) -> Option<Chain> {
        let at = at?;
        assert!(self.record(record.at).is_live(), "its chains are gone");
        // SAFETY: `append` wrote it there; only `kill` takes it back, and then the record is dead.
        Some(unsafe { Chain::share_raw(self.region.read(at)) })
    }

    /// Ends a live record; none if it is dead already.
    pub(super) fn kill(&mut self, at: usize) -> Option<Remains> {
        let record = self.record(at);
        if !record.is_live() {
            return None;
        }
        self.set_state(&record, record.head.state | DEAD);
        self.live_records -= 1;
        self.live_bytes -= record.len();
        let take = |at: Option<usize>| {
            // SAFETY: `append` wrote it there, and it is taken once: the record is dead from now on.
            at.map(|at| unsafe { Chain::from_raw(self.region.read(at)) })
        };
        Some(Remains {
            key: take(record.key_chain_at()),
            value: take(record.value_chain_at()),
        })
    }

    fn set_state(&mut self, record: &Record, state: u8) {
        // SAFETY: part of a header: only its owner reads it, and that is borrowed exclusively.
        unsafe { self.region.write(record.at + STATE_AT, state) };
    }

    pub(super) fn set_mark(&mut self, record: &Record, mark: u8) {
        let others = record.head.state & !MARK;
        self.set_state(record, others | mark.min(MARK));
    }

    /// Changes the deadline in place; false if the record has no room for one.
    pub(super) fn set_deadline(&mut self, record: &Record, deadline: u64) -> bool {
        if record.has(EXTRAS) {
            // SAFETY: part of a header: only its owner reads it, and that is borrowed exclusively.
            unsafe { self.region.write(record.at + DEADLINE_AT, deadline) };
            self.earliest_deadline = self.earliest_deadline.min(deadline);
        }
        record.has(EXTRAS) || deadline == NEVER
    }

    /// Writes a new value in the place of the one before, if it fits there exactly, and nobody reads what is
    /// there: a record of that length stays, and nothing is dead. Counts as a use.
    pub(super) fn overwrite(&mut self, record: &Record, new: &NewRecord<'_>) -> bool {
        let has_room = record.has(EXTRAS) || (new.flags == 0 && new.deadline == NEVER);
        let has_chain = record.has_value_chain() || new.value.chain.is_some();
        let (value_at, _) = record.value_tail();
        let end = (value_at + new.value.tail.len()).next_multiple_of(ALIGNMENT);
        // Slices are made under the lock that this exclusive borrow stands for, so there can be no new one.
        let mut is_unshared = || Arc::get_mut(&mut self.region).is_some();
        if !has_room || has_chain || end != record.end() || !is_unshared() {
            return false;
        }
        let head = Head {
            value_len: new.value.tail.len() as u32,
            state: record.head.state & !MARK | (record.mark() + 1).min(MARK),
            version: new.version,
            ..record.head
        };
        let extras = Extras {
            flags: new.flags,
            deadline: new.deadline,
        };
        // SAFETY: nobody else refers to the region, and this borrow is exclusive. `Head` and `Extras` have no
        // padding, and the record is as long as before.
        unsafe {
            self.region.write(record.at, head);
            if record.has(EXTRAS) {
                self.region.write(record.at + HEAD_BYTES, extras);
            }
            self.region.write_bytes(value_at, new.value.tail);
        }
        self.earliest_deadline = self.earliest_deadline.min(new.deadline);
        true
    }

    /// Ends a live record that is to be appended again; none if it is dead already.
    pub(super) fn take(&mut self, at: usize) -> Option<TakenRecord> {
        let record = self.record(at);
        let hash = self.key_hash(&record).unwrap_or_default();
        let remains = self.kill(at)?;
        let region = Arc::clone(&self.region);
        Some(TakenRecord {
            record,
            hash,
            remains,
            region,
        })
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        let mut at = 0;
        while self.live_records > 0 {
            let end = self.record(at).end();
            drop(self.kill(at));
            at = end;
        }
    }
}

/// A record on its way to another place.
#[derive(Debug)]
pub(super) struct TakenRecord {
    pub(super) record: Record,
    hash: u64,
    remains: Remains,
    region: Arc<Region>,
}

impl TakenRecord {
    /// The record for its new place.
    pub(super) fn as_new(&mut self) -> NewRecord<'_> {
        let record = &self.record;
        let tail = |(at, len)| {
            // SAFETY: bytes of a key or a value, which are not written while this refers to the region.
            unsafe { self.region.bytes(at, len) }
        };
        NewRecord {
            table: record.head.table,
            mark: record.mark(),
            version: record.version(),
            flags: record.flags(),
            deadline: record.deadline(),
            hash: self.hash,
            key: NewPart {
                chain: self.remains.key.take(),
                tail: tail(record.key_tail()),
            },
            value: NewPart {
                chain: self.remains.value.take(),
                tail: tail(record.value_tail()),
            },
        }
    }
}
