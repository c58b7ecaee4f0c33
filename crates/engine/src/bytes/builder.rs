//! Making values of blocks: piece by piece as bytes arrive, or of bytes that are there.

use std::sync::Arc;

use super::block::{Block, PAYLOAD_BYTES};
use super::chain::Chain;
use super::limit::StoreError;
use super::pool::Pool;
use super::store::ByteStore;
use super::{Payload, Value};

/// A value that is being filled. What is filled is where it will stay: only the
/// [rest](Value::rest) is copied when the value is stored.
///
/// Memory is taken as it is filled, block by block, and counts as used by the store; entries are evicted
/// for it. Dropping a builder frees what it has.
///
/// ```
/// use hotcopy_engine::bytes::{ByteStore, Database, SetOptions, StoreConfig, UnixMillis};
///
/// let store = ByteStore::new(&StoreConfig::default());
/// let mut arriving = &[7; 100_000][..];
/// let mut builder = store.builder(arriving.len())?;
/// while !builder.is_full() {
///     let count = std::io::Read::read(&mut arriving, builder.unfilled(&store)).unwrap();
///     builder.advance(count);
/// }
/// let value = builder.finish().expect("it is full");
/// store.set(Database::default(), b"k", value, SetOptions::default(), UnixMillis::now())?;
/// # Ok::<(), hotcopy_engine::bytes::StoreError>(())
/// ```
#[derive(Debug)]
pub struct ValueBuilder {
    blocks: Blocks,
    rest: Vec<u8>,
    len: usize,
    filled: usize,
}

/// Blocks that go back to the pool unless they become a chain.
#[derive(Debug)]
pub(super) struct Blocks {
    pool: Arc<Pool>,
    blocks: Vec<Block>,
}

impl Drop for Blocks {
    fn drop(&mut self) {
        self.pool.release(self.blocks.drain(..));
    }
}

impl Blocks {
    pub(super) fn new(pool: &Arc<Pool>) -> Self {
        Blocks {
            pool: Arc::clone(pool),
            blocks: Vec::new(),
        }
    }

    pub(super) fn into_chain(mut self) -> Option<Chain> {
        let blocks = std::mem::take(&mut self.blocks);
        (!blocks.is_empty()).then(|| Chain::new(&self.pool, blocks))
    }

    /// Adds a new block, to be filled.
    pub(super) fn add(&mut self) {
        self.blocks.push(self.pool.allocate_block());
    }

    pub(super) fn add_shared(&mut self, block: &Block) {
        self.blocks.push(block.share());
    }

    /// Adds a block that is there already once more.
    pub(super) fn add_again(&mut self, index: usize) {
        let block = self.blocks[index].share();
        self.blocks.push(block);
    }

    pub(super) fn last_mut(&mut self) -> &mut [u8] {
        let last = self.blocks.last_mut().and_then(Block::payload_mut);
        last.expect("a block that is being filled is there and not shared")
    }
}

impl ValueBuilder {
    pub(super) fn new(pool: &Arc<Pool>, len: usize) -> Self {
        ValueBuilder {
            blocks: Blocks::new(pool),
            rest: Vec::new(),
            len,
            filled: 0,
        }
    }

    /// Where the next bytes belong: the rest of a block, or of the value. Empty if it is full.
    pub fn unfilled(&mut self, store: &ByteStore) -> &mut [u8] {
        self.unfilled_pieces(store, 1).next().unwrap_or_default()
    }

    /// Where the next bytes belong, as up to so many pieces, so that one system call can fill several
    /// blocks. None of them is empty.
    pub fn unfilled_pieces(
        &mut self,
        store: &ByteStore,
        max_pieces: usize,
    ) -> impl Iterator<Item = &mut [u8]> {
        let (whole, filled_blocks) = (self.len / PAYLOAD_BYTES, self.filled / PAYLOAD_BYTES);
        let last = whole.min(filled_blocks.saturating_add(max_pieces));
        while self.blocks.blocks.len() < last {
            store.make_room_for_block();
            self.blocks.add();
        }
        if last == whole {
            self.rest.resize(self.len - whole * PAYLOAD_BYTES, 0);
        }
        let mut passed = self.filled - filled_blocks.min(whole) * PAYLOAD_BYTES;
        let blocks = self.blocks.blocks.iter_mut().skip(filled_blocks);
        let blocks = blocks.map(|block| block.payload_mut().expect("nobody else knows the block"));
        let pieces = blocks.chain([&mut self.rest[..]]);
        let pieces = pieces.map(move |piece| &mut piece[std::mem::take(&mut passed)..]);
        pieces.filter(|piece| !piece.is_empty()).take(max_pieces)
    }

    /// Notes that so many bytes of what [`unfilled`](Self::unfilled) gave are filled now.
    ///
    /// # Panics
    /// If it gave less.
    pub fn advance(&mut self, count: usize) {
        let in_blocks = self.blocks.blocks.len() * PAYLOAD_BYTES;
        let given = in_blocks + self.rest.len() - self.filled;
        assert!(count <= given, "more bytes than there was room for");
        self.filled += count;
    }

    /// Bytes that are filled.
    pub fn filled(&self) -> usize {
        self.filled
    }

    /// Whether nothing is missing.
    pub fn is_full(&self) -> bool {
        self.filled == self.len
    }

    /// The value, if nothing is missing.
    pub fn finish(self) -> Option<Value> {
        self.is_full()
            .then(|| Value::built(self.blocks.into_chain(), self.rest))
    }
}

/// A key or value of which the blocks are made: all that remains to do under a lock is to write the
/// record.
#[derive(Debug)]
pub(super) struct Prepared<'a> {
    pub(super) chain: Option<Chain>,
    tail: Payload<'a>,
}

impl Prepared<'_> {
    /// What is in no block.
    pub(super) fn tail(&self) -> &[u8] {
        match &self.tail {
            Payload::Bytes(bytes) => bytes,
            Payload::Value(value) => value.rest(),
        }
    }
}

impl ByteStore {
    /// Begins a value of `len` bytes.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] if the limit could not hold it.
    pub fn builder(&self, len: usize) -> Result<ValueBuilder, StoreError> {
        self.check_entry(0, len)?;
        Ok(ValueBuilder::new(&self.pool, len))
    }

    /// Makes the blocks of a key or value. `make_room` is called before each of them; where nothing
    /// is locked it evicts.
    pub(super) fn prepare<'a>(&self, payload: Payload<'a>, make_room: impl Fn()) -> Prepared<'a> {
        let copy = |bytes: &[u8]| {
            if bytes.len() < PAYLOAD_BYTES {
                return None;
            }
            let mut blocks = Blocks::new(&self.pool);
            for piece in bytes.chunks_exact(PAYLOAD_BYTES) {
                make_room();
                blocks.add();
                blocks.last_mut().copy_from_slice(piece);
            }
            blocks.into_chain()
        };
        match payload {
            Payload::Bytes(bytes) => Prepared {
                chain: copy(bytes),
                tail: bytes.chunks_exact(PAYLOAD_BYTES).remainder().into(),
            },
            Payload::Value(value) if value.is_made_for(&self.pool) => Prepared {
                chain: value.chain().cloned(),
                tail: value.into(),
            },
            Payload::Value(value) => {
                let bytes = value.to_vec();
                let rest = bytes.chunks_exact(PAYLOAD_BYTES).remainder();
                Prepared {
                    chain: copy(&bytes),
                    tail: Value::copy_from_slice(rest).into(),
                }
            }
        }
    }
}
