//! An entry as it is shown, and the changes that a write can ask for.

use super::log::{Location, Log};
use super::segment::{NEVER, Record, Segment};
use super::{Payload, UnixMillis, Value};

/// An entry as it is, shown to the closure of [`ByteStore::update`](super::ByteStore::update).
#[derive(Debug, Clone, Copy)]
pub struct Current<'a> {
    segment: &'a Segment,
    record: Record,
}

impl<'a> Current<'a> {
    pub(super) fn new(log: &'a Log, location: Location) -> Self {
        let segment = log.segment(location.segment());
        let record = segment.record(location.at());
        Current { segment, record }
    }

    /// The value, by reference: nothing of it is copied.
    pub fn value(&self) -> Value {
        let chain = self.segment.value_chain(&self.record);
        Value::stored(chain, self.segment.value_slice(&self.record))
    }

    /// The value's length in bytes.
    pub fn value_len(&self) -> usize {
        self.record.value_len()
    }

    /// When the entry expires, if ever.
    pub fn deadline(&self) -> Option<UnixMillis> {
        from_field(self.record.deadline())
    }

    /// What was stored with the value; the store makes nothing of it.
    pub fn flags(&self) -> u32 {
        self.record.flags()
    }

    /// How often it was read since eviction last considered it; counted up to 3.
    pub fn uses(&self) -> u8 {
        self.record.mark()
    }

    /// Changes with every write of the value, not with the deadline. A number is met again after 2^32
    /// writes to the shard.
    pub fn version(&self) -> u64 {
        u64::from(self.record.version())
    }
}

/// The deadline that a record's field stands for.
pub(super) fn from_field(deadline: u64) -> Option<UnixMillis> {
    (deadline != NEVER).then_some(UnixMillis(deadline))
}

/// A deadline as a record's field. The last millisecond of all stands for none.
pub(super) fn to_field(deadline: Option<UnixMillis>) -> u64 {
    deadline.map_or(NEVER, |at| at.0)
}

/// What [`ByteStore::update`](super::ByteStore::update) shall do with the entry. A deadline that is
/// not in the future removes it.
#[derive(Debug)]
pub enum Change<'a> {
    /// Leave everything as it is.
    Keep,
    /// Remove the entry.
    Remove,
    /// Replace the deadline of an entry that exists; nothing happens where there is none.
    SetDeadline(Option<UnixMillis>),
    /// Store this value. One that is as long as a block should be a [`Value`] that was built before:
    /// the shard is locked.
    Store {
        /// The new value.
        value: Payload<'a>,
        /// The new flags.
        flags: u32,
        /// The new deadline; none means that the entry stays.
        deadline: Option<UnixMillis>,
    },
}

/// Whether a write depends on the key being there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Condition {
    /// Write in any case.
    #[default]
    Always,
    /// Write only where no live entry is.
    IfAbsent,
    /// Write only where a live entry is.
    IfPresent,
}

/// What a write does to the deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeadlineChange {
    /// The entry has no deadline afterwards.
    #[default]
    Clear,
    /// The deadline of the replaced entry goes on.
    Keep,
    /// The entry expires at this time.
    At(UnixMillis),
}

/// Options of [`ByteStore::set`](super::ByteStore::set). The default writes always and leaves no deadline.
#[derive(Debug, Clone, Copy, Default)]
pub struct SetOptions {
    /// Whether the write depends on the key being there.
    pub condition: Condition,
    /// What becomes of the deadline.
    pub deadline: DeadlineChange,
    /// Kept with the value, see [`Current::flags`].
    pub flags: u32,
    /// Whether the value that was there is read, which then counts as a hit or a miss.
    pub is_read: bool,
}

/// What [`ByteStore::set`](super::ByteStore::set) found and did.
#[derive(Debug)]
pub struct SetOutcome {
    /// Whether the condition held and the value was written.
    pub stored: bool,
    /// The value that was there before, whether or not it was replaced. Asked for with
    /// [`SetOptions::is_read`].
    pub previous: Option<Value>,
}
