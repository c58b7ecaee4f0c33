//! Values as the store gives them out and takes them.

use std::fmt;
use std::sync::Arc;

use super::block::PAYLOAD_BYTES;
use super::chain::Chain;
use super::pool::Pool;
use super::segment::ValueSlice;

/// Bytes of a value in one of its blocks: a value that is as long or longer is a chain of blocks, and a
/// rest shorter than a block.
pub const BLOCK_VALUE_BYTES: usize = PAYLOAD_BYTES;

/// A value: a list of slices, all but the last one blocks of [`BLOCK_VALUE_BYTES`].
///
/// It does not change, and stays whole when the entry is overwritten, evicted or flushed, or the store
/// is dropped. Cloning it counts references and copies nothing. While it is kept, so is the
/// memory behind it, and that counts as used: the blocks, and for the rest the segment in which it
/// lies. So keep a short value as a copy, and a long one as the [blocks](Self::blocks_only) with a copy of the
/// [rest](Self::rest).
#[derive(Clone)]
pub struct Value {
    chain: Option<Chain>,
    rest: Rest,
}

#[derive(Clone)]
enum Rest {
    Stored(ValueSlice),
    /// Of a value that is not stored yet.
    Own(Arc<[u8]>),
    None,
}

impl Value {
    pub(super) fn stored(chain: Option<Chain>, rest: ValueSlice) -> Self {
        let rest = Rest::Stored(rest);
        Value { chain, rest }
    }

    pub(super) fn built(chain: Option<Chain>, rest: Vec<u8>) -> Self {
        let rest = Rest::Own(rest.into());
        Value { chain, rest }
    }

    /// Whether it can be stored without making blocks.
    pub(super) fn is_made_for(&self, pool: &Arc<Pool>) -> bool {
        let is_ours = |chain: &Chain| chain.is_of(pool);
        self.rest().len() < PAYLOAD_BYTES && self.chain.as_ref().is_none_or(is_ours)
    }

    pub(super) fn chain(&self) -> Option<&Chain> {
        self.chain.as_ref()
    }

    /// A value outside of any store, on the heap. For short ones: what is as long as a block is better
    /// made with a [`ValueBuilder`](super::ValueBuilder), and copied once more when it is stored.
    pub fn copy_from_slice(bytes: &[u8]) -> Self {
        let (chain, rest) = (None, Rest::Own(bytes.into()));
        Value { chain, rest }
    }

    fn blocks_len(&self) -> usize {
        let blocks = self.chain.as_ref().map_or(0, |chain| chain.blocks().len());
        blocks * PAYLOAD_BYTES
    }

    /// Its length in bytes.
    pub fn len(&self) -> usize {
        self.blocks_len() + self.rest().len()
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What of it lies in no block.
    pub fn rest(&self) -> &[u8] {
        match &self.rest {
            Rest::Stored(slice) => slice.as_slice(),
            Rest::Own(bytes) => bytes,
            Rest::None => &[],
        }
    }

    /// The value without its [rest](Self::rest), so that it keeps blocks alive and no segment.
    /// None if it has no blocks.
    pub fn blocks_only(&self) -> Option<Value> {
        let chain = Some(self.chain.clone()?);
        let rest = Rest::None;
        Some(Value { chain, rest })
    }

    /// Its slices in order, none of them empty.
    pub fn slices(&self) -> impl Iterator<Item = &[u8]> {
        let blocks = self.chain.as_ref().map_or(&[][..], Chain::blocks);
        let rest = Some(self.rest()).filter(|rest| !rest.is_empty());
        blocks.iter().map(|block| block.payload()).chain(rest)
    }

    /// What follows from `position` on, slice by slice.
    pub fn slices_from(&self, position: usize) -> impl Iterator<Item = &[u8]> {
        let blocks = self.chain.as_ref().map_or(&[][..], Chain::blocks);
        let passed = blocks.len().min(position / PAYLOAD_BYTES);
        let left = position - passed * PAYLOAD_BYTES;
        let rest = self.rest();
        let slices = blocks[passed..].iter().map(|block| block.payload());
        slices
            .chain([rest])
            .enumerate()
            .map(move |(index, slice)| {
                let start = if index == 0 { left.min(slice.len()) } else { 0 };
                &slice[start..]
            })
            .filter(|slice| !slice.is_empty())
    }

    /// A copy in one piece.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        self.slices()
            .for_each(|slice| bytes.extend_from_slice(slice));
        bytes
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 32;
        let start: Vec<u8> = self.slices().flatten().take(SHOWN).copied().collect();
        let more = if self.len() > SHOWN { "…" } else { "" };
        write!(
            f,
            "\"{}{more}\" ({} bytes)",
            start.escape_ascii(),
            self.len()
        )
    }
}

impl PartialEq<[u8]> for Value {
    fn eq(&self, mut other: &[u8]) -> bool {
        self.len() == other.len()
            && self.slices().all(|slice| {
                let (same, rest) = other.split_at(slice.len());
                other = rest;
                slice == same
            })
    }
}

impl PartialEq<&str> for Value {
    fn eq(&self, other: &&str) -> bool {
        *self == *other.as_bytes()
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.slices().flatten().eq(other.slices().flatten())
    }
}

impl Eq for Value {}

/// A value to be stored: bytes, which are copied to where they stay, or a [`Value`], of which only the
/// [rest](Value::rest) is.
#[derive(Debug, Clone)]
pub enum Payload<'a> {
    /// Bytes in one piece.
    Bytes(&'a [u8]),
    /// A value from a builder or a store.
    Value(Value),
}

impl Payload<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Payload::Bytes(bytes) => bytes.len(),
            Payload::Value(value) => value.len(),
        }
    }
}

impl<'a> From<&'a [u8]> for Payload<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Payload::Bytes(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Payload<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Payload::Bytes(bytes)
    }
}

impl From<Value> for Payload<'_> {
    fn from(value: Value) -> Self {
        Payload::Value(value)
    }
}
