//! What waits to be written to a client: a queue of slices.
//!
//! Small replies are encoded one after another into the *tail*. A large value is not copied: the tail
//! is closed and the value's blocks follow it, by reference. What is written in one system call is
//! cut before the call, so that one client's large reply is many small pieces of work.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice, Write};
use std::ops::Range;

use bytes::{Buf, Bytes};
use hotcopy_engine::bytes::Value;
use hotcopy_wire::resp::{Encoder, Version};

/// From this length on a message is referred to; below, two more slices and their bookkeeping cost more
/// than the copy.
const SHARED_FROM_BYTES: usize = 16 * 1024;

/// Most slices given to the kernel in one call.
const MAX_WRITE_SLICES: usize = 32;

/// Size of a new buffer for the tail, and the size above which one is not kept.
const SPARE_BYTES: usize = 16 * 1024;
const MAX_SPARE_BYTES: usize = 256 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Output {
    slices: VecDeque<Slice>,
    slice_bytes: usize,
    tail: Vec<u8>,
}

#[derive(Debug)]
enum Slice {
    Bytes(Bytes),
    /// The blocks of a value, from one position to another.
    Blocks {
        value: Value,
        position: usize,
        end: usize,
    },
}

impl Slice {
    fn len(&self) -> usize {
        match self {
            Slice::Bytes(bytes) => bytes.len(),
            Slice::Blocks { position, end, .. } => end - position,
        }
    }

    fn advance(&mut self, count: usize) {
        match self {
            Slice::Bytes(bytes) => bytes.advance(count),
            Slice::Blocks { position, .. } => *position += count,
        }
    }

    /// What it consists of, in order.
    fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let (bytes, blocks) = match self {
            Slice::Bytes(bytes) => (Some(&bytes[..]), None),
            Slice::Blocks {
                value, position, ..
            } => (None, Some(value.slices_from(*position))),
        };
        let mut left = self.len();
        let pieces = bytes.into_iter().chain(blocks.into_iter().flatten());
        pieces.map_while(move |piece| {
            let piece = &piece[..piece.len().min(left)];
            left -= piece.len();
            (!piece.is_empty()).then_some(piece)
        })
    }
}

/// A point to which replies can be taken back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    slices: usize,
    tail: usize,
}

impl Output {
    /// Bytes that wait.
    pub(crate) fn len(&self) -> usize {
        self.slice_bytes + self.tail.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where to append a reply.
    pub(crate) fn encoder(&mut self, version: Version) -> Encoder<'_> {
        Encoder::new(&mut self.tail, version)
    }

    /// Where to append what is no RESP.
    pub(crate) fn text(&mut self) -> &mut Vec<u8> {
        &mut self.tail
    }

    /// Appends a value as a bulk string.
    pub(crate) fn value(&mut self, value: &Value, version: Version) {
        self.encoder(version).bulk_header(value.len());
        self.bytes_of(value);
        self.encoder(version).bulk_end();
    }

    /// Appends a value's bytes. What of it is in no block is copied: to refer to it would keep a whole segment of
    /// other entries in memory.
    pub(crate) fn bytes_of(&mut self, value: &Value) {
        if let Some(blocks) = value.blocks_only() {
            self.close_tail();
            self.push(Slice::Blocks {
                position: 0,
                end: blocks.len(),
                value: blocks,
            });
        }
        self.tail.extend_from_slice(value.rest());
    }

    /// Appends a part of a value as a bulk string.
    pub(crate) fn value_range(&mut self, value: &Value, range: Range<usize>, version: Version) {
        Encoder::new(&mut self.tail, version).bulk_header(range.len());
        let blocks = value
            .blocks_only()
            .filter(|_| range.len() >= SHARED_FROM_BYTES);
        let shared_to = blocks.as_ref().map_or(range.start, |blocks| {
            blocks.len().clamp(range.start, range.end)
        });
        if let Some(value) = blocks.filter(|_| shared_to > range.start) {
            self.close_tail();
            self.push(Slice::Blocks {
                value,
                position: range.start,
                end: shared_to,
            });
        }
        let mut left = range.end - shared_to;
        for slice in value.slices_from(shared_to) {
            let copied = slice.len().min(left);
            self.tail.extend_from_slice(&slice[..copied]);
            left -= copied;
            if left == 0 {
                break;
            }
        }
        self.encoder(version).bulk_end();
    }

    /// Appends bytes that are a whole message already.
    pub(crate) fn encoded(&mut self, message: &Bytes) {
        if message.len() < SHARED_FROM_BYTES {
            self.tail.extend_from_slice(message);
        } else {
            self.close_tail();
            self.push(Slice::Bytes(message.clone()));
        }
    }

    fn push(&mut self, slice: Slice) {
        self.slice_bytes += slice.len();
        self.slices.push_back(slice);
    }

    /// Makes the tail a slice of its own that holds no more memory than its bytes, because those are
    /// what is accounted. The buffer is kept unless it is mostly full.
    fn close_tail(&mut self) {
        if self.tail.is_empty() {
            return;
        }
        let slice = if self.tail.len() * 2 < self.tail.capacity() {
            let copy = Bytes::copy_from_slice(&self.tail);
            self.tail.clear();
            copy
        } else {
            // Without this the slice would keep the unused capacity.
            self.tail.shrink_to_fit();
            Bytes::from(std::mem::take(&mut self.tail))
        };
        self.push(Slice::Bytes(slice));
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark {
            slices: self.slices.len(),
            tail: self.tail.len(),
        }
    }

    /// Takes back everything since the mark. Nothing may have been written since.
    pub(crate) fn roll_back(&mut self, mark: Mark) {
        if self.slices.len() > mark.slices {
            // The first slice since then begins with what was the tail, if there was anything in it.
            let tail = match &self.slices[mark.slices] {
                Slice::Bytes(bytes) => bytes.slice(..mark.tail),
                Slice::Blocks { .. } => Bytes::new(),
            };
            let taken_back = self.slices.drain(mark.slices..);
            self.slice_bytes -= taken_back.map(|slice| slice.len()).sum::<usize>();
            self.tail.clear();
            self.tail.extend_from_slice(&tail);
        } else {
            self.tail.truncate(mark.tail);
        }
    }

    /// Lends a buffer for the tail, so that a client for whom nothing waits needs none of its own.
    pub(crate) fn lend(&mut self, spare: &mut Vec<u8>) {
        if self.tail.capacity() == 0 {
            if !(SPARE_BYTES..=MAX_SPARE_BYTES).contains(&spare.capacity()) {
                *spare = Vec::with_capacity(SPARE_BYTES);
            }
            std::mem::swap(&mut self.tail, spare);
        }
    }

    /// Takes a lent buffer back. What still waits keeps only the memory that it needs.
    pub(crate) fn take_back(&mut self, spare: &mut Vec<u8>) {
        self.close_tail();
        if self.tail.capacity() > spare.capacity() {
            std::mem::swap(&mut self.tail, spare);
        }
        self.tail = Vec::new();
        if self.slices.is_empty() {
            self.slices = VecDeque::new();
        }
    }

    /// Writes one piece of no more than so many bytes. Returns how much was written and whether the kernel
    /// took all of it.
    pub(crate) fn write_piece(
        &mut self,
        to: &mut impl Write,
        max_bytes: usize,
    ) -> io::Result<Written> {
        let mut pieces: [_; MAX_WRITE_SLICES] = std::array::from_fn(|_| IoSlice::new(&[]));
        let (mut count, mut offered) = (0, 0);
        let waiting = self.slices.iter().flat_map(Slice::pieces);
        for slice in waiting.chain([&self.tail[..]]).take(MAX_WRITE_SLICES) {
            let room = max_bytes - offered;
            // Rather whole blocks than two of them and the first bytes of a third.
            if room == 0 || (room < slice.len() && room < max_bytes / 2) {
                break;
            }
            let slice = &slice[..slice.len().min(room)];
            if slice.is_empty() {
                break;
            }
            pieces[count] = IoSlice::new(slice);
            count += 1;
            offered += slice.len();
        }
        if offered == 0 {
            return Ok(Written {
                bytes: 0,
                all: true,
            });
        }
        let bytes = loop {
            match to.write_vectored(&pieces[..count]) {
                Ok(bytes) => break bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break 0,
                Err(error) => return Err(error),
            }
        };
        self.advance(bytes);
        Ok(Written {
            bytes,
            all: bytes == offered,
        })
    }

    fn advance(&mut self, mut bytes: usize) {
        if bytes > self.slice_bytes && bytes < self.len() {
            self.close_tail();
        }
        while bytes > 0 {
            let Some(front) = self.slices.front_mut() else {
                self.tail.clear();
                return;
            };
            let step = bytes.min(front.len());
            front.advance(step);
            bytes -= step;
            self.slice_bytes -= step;
            if front.len() == 0 {
                self.slices.pop_front();
            }
        }
    }
}

/// What one call wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) bytes: usize,
    /// Whether the kernel took all that it was offered. If not, it is full: an event will come.
    pub(crate) all: bool,
}

#[cfg(test)]
mod tests;
