//! Arguments that outlive their request, for work that goes on after its bytes are gone.

use std::ops::Range;

use hotcopy_wire::resp::Args;

/// A queue of arguments, one after another in one buffer.
#[derive(Debug)]
pub(super) struct Arguments {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Arguments that were taken, and where the next one starts.
    taken: usize,
    start: usize,
}

impl Arguments {
    pub(super) fn copy_of(args: Args<'_>) -> Self {
        let mut bytes = Vec::with_capacity(args.iter().map(<[u8]>::len).sum());
        let mut ends = Vec::with_capacity(args.len());
        for argument in args {
            bytes.extend_from_slice(argument);
            ends.push(bytes.len());
        }
        Arguments {
            bytes,
            ends,
            taken: 0,
            start: 0,
        }
    }

    /// Takes the next one.
    pub(super) fn next(&mut self) -> Option<&[u8]> {
        let range = self.next_range()?;
        Some(self.at(range))
    }

    /// Takes the next one; returns where it is.
    pub(super) fn next_range(&mut self) -> Option<Range<usize>> {
        let end = *self.ends.get(self.taken)?;
        let start = std::mem::replace(&mut self.start, end);
        self.taken += 1;
        Some(start..end)
    }

    /// What is there.
    pub(super) fn at(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[range]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.taken == self.ends.len()
    }

    /// Memory held.
    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<usize>()
    }
}
