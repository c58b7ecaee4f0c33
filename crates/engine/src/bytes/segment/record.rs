//! Records: how an entry lies in a segment.

use super::super::block::PAYLOAD_BYTES;
use super::super::chain::Chain;

/// The beginning of a record. `flags` and `deadline` are there only if [`EXTRAS`] is set, because most
/// entries have neither and twelve bytes are a tenth of a small one.
///
/// ```text
///  0         4       6     7     8       12      16         24
///  +---------+-------+-----+-----+-------+-------+----------+
///  | value   | key   | ta- | sta-| ver-  | flags | deadline |
///  | len     | tail  | ble | te  | sion  |       |          |
///  +---------+-------+-----+-----+-------+-------+----------+
/// ```
///
/// Then follow sixteen bytes for the chain of the key's blocks and the key's hash if the key is as long as a
/// block ([`LONG_KEY`]), eight for the chain of the value's blocks if the value is, what of the key is in no
/// block, what of the value is in no block, and up to seven bytes so that the next record is aligned.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    pub(super) value_len: u32,
    /// Length of what of the key is in no block.
    pub(super) key_tail: u16,
    pub(super) table: u8,
    pub(super) state: u8,
    pub(super) version: u32,
}

#[repr(C, packed(4))]
#[derive(Debug, Clone, Copy)]
pub(super) struct Extras {
    pub(super) flags: u32,
    pub(super) deadline: u64,
}

pub(super) const HEAD_BYTES: usize = size_of::<Head>();
pub(super) const EXTRAS_BYTES: usize = size_of::<Extras>();
const _: () = assert!(HEAD_BYTES == 12 && EXTRAS_BYTES == 12);

const CHAIN_BYTES: usize = size_of::<u64>();
const LONG_KEY_BYTES: usize = CHAIN_BYTES + size_of::<u64>();

/// What a record takes beside key and value if it has everything.
pub(in super::super) const LARGEST_HEADER_BYTES: usize =
    HEAD_BYTES + EXTRAS_BYTES + LONG_KEY_BYTES + CHAIN_BYTES + ALIGNMENT - 1;

/// Records begin at multiples of it.
pub(in super::super) const ALIGNMENT: usize = 8;

/// Bits of a record's state: how often it was used lately, from 0 to 3.
pub(super) const MARK: u8 = 3;
pub(super) const EXTRAS: u8 = 4;
pub(super) const LONG_KEY: u8 = 8;
/// The entry is gone. Nothing in the record counts any more but its length.
pub(super) const DEAD: u8 = 16;

/// `deadline` of an entry that has none.
pub(in super::super) const NEVER: u64 = u64::MAX;

/// Longest value that is known to fit the header's field. (Redis allows 512 MiB.)
pub(in super::super) const MAX_VALUE_BYTES: usize = u32::MAX as usize;

/// Where the parts of a record are, and what its header says.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Record {
    pub(super) head: Head,
    pub(super) extras: Extras,
    /// Where it begins in its segment.
    pub(super) at: usize,
}

impl Record {
    pub(super) fn has(&self, bit: u8) -> bool {
        self.head.state & bit != 0
    }

    pub(in super::super) fn is_live(&self) -> bool {
        !self.has(DEAD)
    }

    pub(in super::super) fn value_len(&self) -> usize {
        self.head.value_len as usize
    }

    pub(in super::super) fn version(&self) -> u32 {
        self.head.version
    }

    pub(in super::super) fn flags(&self) -> u32 {
        self.extras.flags
    }

    /// [`NEVER`] if there is none.
    pub(in super::super) fn deadline(&self) -> u64 {
        self.extras.deadline
    }

    pub(in super::super) fn table(&self) -> usize {
        usize::from(self.head.table)
    }

    pub(in super::super) fn mark(&self) -> u8 {
        self.head.state & MARK
    }

    pub(super) fn has_value_chain(&self) -> bool {
        self.value_len() >= PAYLOAD_BYTES
    }

    fn after_head(&self) -> usize {
        let extras = if self.has(EXTRAS) { EXTRAS_BYTES } else { 0 };
        self.at + HEAD_BYTES + extras
    }

    pub(super) fn key_chain_at(&self) -> Option<usize> {
        self.has(LONG_KEY).then_some(self.after_head())
    }

    pub(super) fn key_hash_at(&self) -> Option<usize> {
        Some(self.key_chain_at()? + CHAIN_BYTES)
    }

    fn after_long_key(&self) -> usize {
        let long_key = if self.has(LONG_KEY) {
            LONG_KEY_BYTES
        } else {
            0
        };
        self.after_head() + long_key
    }

    pub(super) fn value_chain_at(&self) -> Option<usize> {
        self.has_value_chain().then_some(self.after_long_key())
    }

    /// Where the key's tail is, and its length.
    pub(super) fn key_tail(&self) -> (usize, usize) {
        let chain = if self.has_value_chain() {
            CHAIN_BYTES
        } else {
            0
        };
        let start = self.after_long_key() + chain;
        (start, usize::from(self.head.key_tail))
    }

    /// Where the value's tail is, and its length.
    pub(super) fn value_tail(&self) -> (usize, usize) {
        let (key_start, key_len) = self.key_tail();
        (key_start + key_len, self.value_len() % PAYLOAD_BYTES)
    }

    /// Its length with the padding.
    pub(in super::super) fn len(&self) -> usize {
        let (start, len) = self.value_tail();
        (start + len - self.at).next_multiple_of(ALIGNMENT)
    }

    pub(in super::super) fn end(&self) -> usize {
        self.at + self.len()
    }
}

/// What a new record shall say. It owns its chains.
#[derive(Debug)]
pub(in super::super) struct NewRecord<'a> {
    pub(in super::super) table: u8,
    pub(in super::super) mark: u8,
    pub(in super::super) version: u32,
    pub(in super::super) flags: u32,
    pub(in super::super) deadline: u64,
    /// Of the key; kept if that is long, so that it is not computed again and again.
    pub(in super::super) hash: u64,
    pub(in super::super) key: NewPart<'a>,
    pub(in super::super) value: NewPart<'a>,
}

/// A key or a value: whole blocks, and the rest.
#[derive(Debug)]
pub(in super::super) struct NewPart<'a> {
    pub(in super::super) chain: Option<Chain>,
    /// Shorter than a block.
    pub(in super::super) tail: &'a [u8],
}

impl NewPart<'_> {
    fn len(&self) -> usize {
        let blocks = self.chain.as_ref().map_or(0, |chain| chain.blocks().len());
        blocks * PAYLOAD_BYTES + self.tail.len()
    }
}

impl NewRecord<'_> {
    /// The record as it will lie at `at`.
    pub(super) fn record(&self, at: usize) -> Record {
        debug_assert!(self.key.tail.len() < PAYLOAD_BYTES && self.value.tail.len() < PAYLOAD_BYTES);
        let mut state = self.mark & MARK;
        if self.flags != 0 || self.deadline != NEVER {
            state |= EXTRAS;
        }
        if self.key.chain.is_some() {
            state |= LONG_KEY;
        }
        Record {
            head: Head {
                value_len: u32::try_from(self.value.len()).expect("no longer than MAX_VALUE_BYTES"),
                key_tail: u16::try_from(self.key.tail.len()).expect("shorter than a block"),
                table: self.table,
                state,
                version: self.version,
            },
            extras: Extras {
                flags: self.flags,
                deadline: self.deadline,
            },
            at,
        }
    }

    pub(in super::super) fn len(&self) -> usize {
        self.record(0).len()
    }
}
