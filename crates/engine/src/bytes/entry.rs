//! What a key maps to, and the changes that a write can ask for.

use super::{UnixMillis, Value};

/// Bytes that an entry costs beside its key and value: its slot in the entry vector (72 bytes, which
/// on average is three quarters full), its share of the index (9 bytes at a load between 7/16 and
/// 7/8), and the two allocations' headers and rounding.
const OVERHEAD_BYTES: u64 = 128;

/// `deadline` of an entry that has none, so that the field needs no discriminant.
const NEVER: u64 = u64::MAX;

/// One entry of a shard, without its key.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) value: Value,
    deadline: u64,
    pub(super) last_used: UnixMillis,
}

// value 32 | deadline 8 | last used 8. OVERHEAD_BYTES counts on it.
const _: () = assert!(size_of::<Entry>() == 48);

impl Entry {
    pub(super) fn new(value: Value, deadline: Option<UnixMillis>, now: UnixMillis) -> Self {
        let mut entry = Entry {
            value,
            deadline: NEVER,
            last_used: now,
        };
        entry.set_deadline(deadline);
        entry
    }

    pub(super) fn deadline(&self) -> Option<UnixMillis> {
        (self.deadline != NEVER).then_some(UnixMillis(self.deadline))
    }

    pub(super) fn set_deadline(&mut self, deadline: Option<UnixMillis>) {
        self.deadline = deadline.map_or(NEVER, |at| at.0);
    }

    pub(super) fn is_expired(&self, now: UnixMillis) -> bool {
        self.deadline <= now.0
    }

    pub(super) fn current(&self) -> Current<'_> {
        Current {
            value: &self.value,
            deadline: self.deadline(),
        }
    }

    pub(super) fn weight(&self, key: &[u8]) -> u64 {
        weight(key, &self.value)
    }
}

/// Bytes that a key and its value are accounted with.
pub(super) fn weight(key: &[u8], value: &[u8]) -> u64 {
    key.len() as u64 + value.len() as u64 + OVERHEAD_BYTES
}

/// An entry as it is, shown to the closure of [`ByteStore::update`](super::ByteStore::update).
#[derive(Debug, Clone, Copy)]
pub struct Current<'a> {
    /// The value.
    pub value: &'a Value,
    /// When the entry expires, if ever.
    pub deadline: Option<UnixMillis>,
}

/// What [`ByteStore::update`](super::ByteStore::update) shall do with the entry. A deadline that is
/// not in the future removes it.
#[derive(Debug)]
pub enum Change {
    /// Leave everything as it is.
    Keep,
    /// Remove the entry.
    Remove,
    /// Replace the deadline of an entry that exists; nothing happens where there is none.
    SetDeadline(Option<UnixMillis>),
    /// Store this value with this deadline.
    Store {
        /// The new value.
        value: Value,
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
    /// Whether the value that was there is read, which then counts as a hit or a miss.
    pub is_read: bool,
}

/// What [`ByteStore::set`](super::ByteStore::set) found and did.
#[derive(Debug)]
pub struct SetOutcome {
    /// Whether the condition held and the value was written.
    pub stored: bool,
    /// The value that was there before, whether or not it was replaced.
    pub previous: Option<Value>,
}
