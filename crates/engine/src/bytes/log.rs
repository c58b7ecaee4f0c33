//! The log of a shard: its segments, and where in them an entry is.
//!
//! New records go to an open segment. Two are open at a time, so that a record for which one has no
//! room need not close it to smaller ones. Closed segments are kept in the order in which they were
//! opened: the order in which entries are considered for eviction. What compaction saves from a segment goes
//! to one that takes the place of the first in that order, so that old entries stay old.

use std::collections::VecDeque;
use std::sync::Arc;

use super::pool::Pool;
use super::segment::{ALIGNMENT, NewRecord, Record, Remains, Segment, TakenRecord};

/// Bits of a location that say where in its segment a record begins, in steps of [`ALIGNMENT`]; the
/// others are the segment's number. So a shard has up to 2^17 segments of up to 256 KiB.
const OFFSET_BITS: u32 = 15;
pub(super) const MAX_SEGMENT_BYTES: usize = ALIGNMENT << OFFSET_BITS;
const MAX_SEGMENTS: usize = 1 << (u32::BITS - OFFSET_BITS);

/// The smallest segment of a log that may have larger ones.
const MIN_SEGMENT_BYTES: usize = 4096;

/// The next segment holds no less than this part of what the log already has.
const GROWTH_DIVISOR: usize = 4;

const OPEN_SEGMENTS: usize = 2;

/// Where an entry's record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Location(pub(super) u32);

impl Location {
    fn new(segment: usize, at: usize) -> Self {
        Location(((segment << OFFSET_BITS) | (at / ALIGNMENT)) as u32)
    }

    pub(super) fn segment(self) -> usize {
        self.0 as usize >> OFFSET_BITS
    }

    pub(super) fn at(self) -> usize {
        (self.0 as usize % (1 << OFFSET_BITS)) * ALIGNMENT
    }
}

/// A place in a segment that is walked record by record while others may change the log.
#[derive(Debug, Clone, Copy)]
pub(super) struct Walk {
    pub(super) segment: usize,
    id: u64,
    at: usize,
}

impl Walk {
    pub(super) fn new(segment: usize, log: &Log) -> Self {
        let id = log.segment(segment).id;
        let at = 0;
        Walk { segment, id, at }
    }

    /// The place behind a record.
    pub(super) fn after(self, record: &Record) -> Self {
        let at = record.end();
        Walk { at, ..self }
    }

    pub(super) fn location(self) -> Location {
        Location::new(self.segment, self.at)
    }
}

#[derive(Debug)]
pub(super) struct Log {
    pub(super) pool: Arc<Pool>,
    segments: Vec<Option<Segment>>,
    vacant: Vec<usize>,
    open: Vec<usize>,
    /// Where compaction puts what it saves. It is in `order` already.
    survivors: Option<usize>,
    /// Closed segments, the oldest first.
    order: VecDeque<usize>,
    max_segment_bytes: usize,
    capacity: usize,
    live_records: usize,
    dead_bytes: usize,
    /// Segments that were opened so far.
    pub(super) opened: u64,
    /// Segments given up, to be freed when the shard is unlocked.
    pub(super) given_up: Vec<Segment>,
}

impl Log {
    pub(super) fn new(pool: &Arc<Pool>, max_segment_bytes: usize) -> Self {
        Log {
            pool: Arc::clone(pool),
            segments: Vec::new(),
            vacant: Vec::new(),
            open: Vec::new(),
            survivors: None,
            order: VecDeque::new(),
            max_segment_bytes: max_segment_bytes.min(MAX_SEGMENT_BYTES),
            capacity: 0,
            live_records: 0,
            dead_bytes: 0,
            opened: 0,
            given_up: Vec::new(),
        }
    }

    /// Bytes of all segments.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Bytes of records that are dead.
    pub(super) fn dead_bytes(&self) -> usize {
        self.dead_bytes
    }

    pub(super) fn max_segment_bytes(&self) -> usize {
        self.max_segment_bytes
    }

    /// For segments that are opened from now on.
    pub(super) fn set_max_segment_bytes(&mut self, max_segment_bytes: usize) {
        self.max_segment_bytes = max_segment_bytes.min(MAX_SEGMENT_BYTES);
    }

    pub(super) fn live_records(&self) -> usize {
        self.live_records
    }

    /// Whether there are no numbers for further segments.
    pub(super) fn is_full(&self) -> bool {
        // Room for a segment in each of the ways in which one append may open one.
        self.vacant.is_empty() && self.segments.len() + OPEN_SEGMENTS + 1 >= MAX_SEGMENTS
    }

    pub(super) fn get(&self, number: usize) -> Option<&Segment> {
        self.segments.get(number)?.as_ref()
    }

    /// Where walking a segment goes on; none if the segment is gone or walked to its end.
    pub(super) fn resume(&self, walk: Walk) -> Option<Record> {
        let segment = self.get(walk.segment)?;
        (segment.id == walk.id && walk.at < segment.written()).then(|| segment.record(walk.at))
    }

    /// Whether a segment that was walked to its end is still there.
    pub(super) fn is_walked(&self, walk: Walk) -> bool {
        let segment = self.get(walk.segment);
        segment.is_some_and(|segment| segment.id == walk.id)
    }

    /// Numbers of segments are below it.
    pub(super) fn numbers(&self) -> usize {
        self.segments.len()
    }

    pub(super) fn segment(&self, number: usize) -> &Segment {
        let segment = self.segments[number].as_ref();
        segment.expect("a segment with a live record exists")
    }

    pub(super) fn segment_mut(&mut self, number: usize) -> &mut Segment {
        let segment = self.segments[number].as_mut();
        segment.expect("a segment with a live record exists")
    }

    pub(super) fn record(&self, location: Location) -> Record {
        self.segment(location.segment()).record(location.at())
    }

    /// Appends a new record.
    pub(super) fn append(&mut self, new: NewRecord<'_>) -> Location {
        let number = self.with_room(new.len());
        self.append_to(number, new)
    }

    /// Appends a record that compaction saves from `victim`.
    pub(super) fn append_survivor(&mut self, new: NewRecord<'_>, victim: usize) -> Location {
        let len = new.len();
        let has_room = |number: &usize| self.segment(*number).room() >= len;
        let number = match self.survivors.filter(has_room) {
            Some(number) => number,
            None => {
                let number = self.open_segment(len);
                let place = self.order.iter().position(|other| *other == victim);
                self.order.insert(place.unwrap_or(0), number);
                self.survivors = Some(number);
                number
            }
        };
        self.append_to(number, new)
    }

    fn append_to(&mut self, number: usize, new: NewRecord<'_>) -> Location {
        self.live_records += 1;
        let at = self.segment_mut(number).append(new);
        Location::new(number, at)
    }

    /// An open segment with room for a record.
    fn with_room(&mut self, len: usize) -> usize {
        let room = |number: &usize| self.segment(*number).room();
        if let Some(number) = self.open.iter().find(|number| room(number) >= len) {
            return *number;
        }
        if self.open.len() == OPEN_SEGMENTS {
            // Not the fuller one: the other might stay open for ever, and its entries never grow old.
            let older = self.open.remove(0);
            self.close(older);
        }
        let number = self.open_segment(len);
        self.open.push(number);
        number
    }

    fn open_segment(&mut self, len: usize) -> usize {
        let grown = (self.capacity / GROWTH_DIVISOR).next_power_of_two();
        let smallest = MIN_SEGMENT_BYTES.min(self.max_segment_bytes);
        let capacity = grown.clamp(smallest, self.max_segment_bytes).max(len);
        self.opened += 1;
        let segment = Segment::new(&self.pool, capacity, self.opened);
        self.capacity += capacity;
        match self.vacant.pop() {
            Some(number) => {
                self.segments[number] = Some(segment);
                number
            }
            None => {
                assert!(self.segments.len() < MAX_SEGMENTS, "checked by `is_full`");
                self.segments.push(Some(segment));
                self.segments.len() - 1
            }
        }
    }

    /// Puts a segment that is open no more where eviction will find it.
    fn close(&mut self, number: usize) {
        if self.segment(number).live_records() == 0 {
            self.give_up(number);
        } else {
            self.order.push_back(number);
        }
    }

    /// Ends a live record; none if it is dead already.
    pub(super) fn kill(&mut self, location: Location) -> Option<Remains> {
        let segment = self.segment_mut(location.segment());
        let len = segment.record(location.at()).len();
        let remains = segment.kill(location.at())?;
        self.note_killed(location.segment(), len);
        Some(remains)
    }

    /// Ends a live record that is to be appended again; none if it is dead already.
    pub(super) fn take(&mut self, location: Location) -> Option<TakenRecord> {
        let segment = self.segment_mut(location.segment());
        let taken = segment.take(location.at())?;
        self.note_killed(location.segment(), taken.record.len());
        Some(taken)
    }

    fn note_killed(&mut self, number: usize, len: usize) {
        self.live_records -= 1;
        self.dead_bytes += len;
        let is_open = self.open.contains(&number) || self.survivors == Some(number);
        if self.segment(number).live_records() == 0 && (!is_open || self.live_records == 0) {
            self.give_up(number);
        }
    }

    /// Gives up a segment in which nothing lives.
    pub(super) fn give_up(&mut self, number: usize) {
        let Some(segment) = self.segments[number].take() else {
            return;
        };
        debug_assert_eq!(segment.live_records(), 0);
        self.capacity -= segment.capacity();
        self.dead_bytes -= segment.dead_bytes();
        self.open.retain(|other| *other != number);
        if self.survivors == Some(number) {
            self.survivors = None;
        }
        // Mostly the oldest one goes.
        if let Some(place) = self.order.iter().position(|other| *other == number) {
            self.order.remove(place);
        }
        self.vacant.push(number);
        self.given_up.push(segment);
        if self.live_records == 0 {
            self.give_up_all();
        }
    }

    /// Gives up what is left when nothing lives any more.
    fn give_up_all(&mut self) {
        let left = std::mem::take(&mut self.segments);
        self.given_up.extend(left.into_iter().flatten());
        self.vacant = Vec::new();
        self.order = VecDeque::new();
        self.open.clear();
        self.survivors = None;
        self.capacity = 0;
        self.dead_bytes = 0;
    }

    /// The segment that is next to be looked at for eviction. Closes an open one if there is no other.
    pub(super) fn oldest(&mut self) -> Option<usize> {
        while self.order.is_empty() && !self.open.is_empty() {
            let number = self.open.remove(0);
            self.close(number);
        }
        let number = *self.order.front()?;
        if self.survivors == Some(number) {
            self.survivors = None;
        }
        Some(number)
    }

    /// The segment with the most dead bytes, other than `excluded`. It is closed.
    pub(super) fn most_dead(&mut self, excluded: Option<usize>) -> Option<usize> {
        let excluded = [self.survivors, excluded];
        let victim = (self.order.iter().chain(&self.open).copied())
            .filter(|number| !excluded.contains(&Some(*number)))
            .max_by_key(|number| self.segment(*number).dead_bytes())
            .filter(|number| self.segment(*number).dead_bytes() > 0)?;
        if let Some(place) = self.open.iter().position(|open| *open == victim) {
            self.open.remove(place);
            self.close(victim);
        }
        self.get(victim).map(|_| victim)
    }

    /// Panics unless the sums agree with the segments.
    #[cfg(test)]
    pub(super) fn validate(&self) {
        let segments: Vec<_> = self.segments.iter().flatten().collect();
        let sum = |of: fn(&Segment) -> usize| segments.iter().map(|it| of(it)).sum::<usize>();
        assert_eq!(self.capacity, sum(Segment::capacity));
        assert_eq!(self.dead_bytes, sum(Segment::dead_bytes));
        assert_eq!(self.live_records, sum(Segment::live_records));
        assert!(self.given_up.is_empty(), "segments outlive the lock");
        let known = self.order.len() + self.open.len();
        assert_eq!(known, segments.len(), "a segment is open or closed");
        if let Some(survivors) = self.survivors {
            assert!(self.order.contains(&survivors));
        }
    }
}
