//! The slab: nodes in chunks, named by 32-bit slots.
//!
//! Chunks stay where they are and live as long as the slab, so a reader may look at any node whose
//! slot it found in the index. A freed slot is used again, the latest first.
//!
//! The links of a slot lie apart from its node. Readers do not need them, and who takes a node out of a
//! list writes to those of its neighbours: eight of them share a cache line, nodes hardly two.

#![allow(
    unsafe_code,
    reason = "readers find chunks in a directory that a writer replaces by a larger one"
)]

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::node::Node;

/// Nodes of a chunk.
pub(super) const CHUNK: usize = 1 << CHUNK_BITS;
const CHUNK_BITS: u32 = 7;

/// The slot that names no node.
pub(super) const NO_SLOT: u32 = u32::MAX;

/// Chunks that the first directory has room for.
const FIRST_DIRECTORY: usize = 8;

/// On cache lines of its own, so that a node of 64 bytes is on one.
#[repr(C, align(64))]
struct Chunk<K, V> {
    nodes: [Node<K, V>; CHUNK],
    links: [SlotLinks; CHUNK],
}

/// The neighbours of a slot in a list: of the policy, or of free slots. Touched under the lock only.
#[derive(Default)]
pub(super) struct SlotLinks {
    /// Of an entry that has left the index, the slot of the one in its place.
    pub(super) previous: AtomicU32,
    pub(super) next: AtomicU32,
}

type Directory<K, V> = Box<[AtomicPtr<Chunk<K, V>>]>;

/// What readers need of a slab: the way from a slot to its node.
pub(super) struct Slab<K, V> {
    /// The first element of the newest directory.
    directory: AtomicPtr<AtomicPtr<Chunk<K, V>>>,
}

/// What the writer needs of a slab. Lives under the shard's lock and is dropped with the slab.
pub(super) struct SlabWriter<K, V> {
    /// All directories there were; the last is in use. Readers may still look at the others, which
    /// together are no larger than the last.
    directories: Vec<Directory<K, V>>,
    chunks: usize,
    /// The first free slot; each names the next one in `next`.
    first_free: u32,
    /// Slots from here on were never used.
    fresh: u32,
}

impl<K, V> Slab<K, V> {
    pub(super) fn new() -> (Self, SlabWriter<K, V>) {
        let writer = SlabWriter {
            directories: vec![new_directory(FIRST_DIRECTORY)],
            chunks: 0,
            first_free: NO_SLOT,
            fresh: 0,
        };
        let slab = Slab {
            directory: AtomicPtr::new(writer.newest_directory()),
        };
        (slab, writer)
    }

    /// The node that a slot names.
    ///
    /// # Safety
    /// The slot came from [`allocate`](Self::allocate) of this slab, and reached the caller through
    /// the index or the shard's lock.
    #[inline(always)]
    pub(super) unsafe fn node(&self, slot: u32) -> &Node<K, V> {
        // SAFETY: by the caller's promise.
        let (chunk, place) = unsafe { self.chunk_and_place(slot) };
        // SAFETY: as above; the place is masked.
        unsafe { (*chunk).nodes.get_unchecked(place) }
    }

    /// The links of a slot.
    ///
    /// # Safety
    /// As for [`node`](Self::node).
    #[inline(always)]
    pub(super) unsafe fn links(&self, slot: u32) -> &SlotLinks {
        // SAFETY: by the caller's promise.
        let (chunk, place) = unsafe { self.chunk_and_place(slot) };
        // SAFETY: as above; the place is masked.
        unsafe { (*chunk).links.get_unchecked(place) }
    }

    /// Where a slot is.
    ///
    /// # Safety
    /// As for [`node`](Self::node).
    #[inline(always)]
    unsafe fn chunk_and_place(&self, slot: u32) -> (*const Chunk<K, V>, usize) {
        let (chunk, place) = split(slot);
        // SAFETY: the directory was published before the slot was; it has an entry for every slot
        // that was handed out until then, and like the chunk it lives as long as the slab.
        let chunk = unsafe { &*self.directory.load(Ordering::Acquire).add(chunk) };
        (chunk.load(Ordering::Acquire), place)
    }

    /// A slot whose node holds no entry. None if there are four billion in use.
    pub(super) fn allocate(&self, writer: &mut SlabWriter<K, V>) -> Option<u32> {
        let slot = writer.first_free;
        if slot != NO_SLOT {
            // SAFETY: was handed out before, and the caller holds the lock that guards the writer.
            writer.first_free = unsafe { self.links(slot) }.next.load(Ordering::Relaxed);
            return Some(slot);
        }
        let slot = writer.fresh;
        if slot == NO_SLOT {
            return None;
        }
        if slot as usize == writer.chunks * CHUNK {
            self.add_chunk(writer);
        }
        writer.fresh += 1;
        Some(slot)
    }

    /// Gives back a slot whose node holds no entry any more and that no reader can reach.
    pub(super) fn free(&self, writer: &mut SlabWriter<K, V>, slot: u32) {
        // SAFETY: was handed out before, and the caller holds the lock that guards the writer.
        let links = unsafe { self.links(slot) };
        links.next.store(writer.first_free, Ordering::Relaxed);
        writer.first_free = slot;
    }

    /// Whether a node of this slab lives at `address`.
    pub(super) fn contains(&self, writer: &SlabWriter<K, V>, address: *const ()) -> bool {
        writer.chunks().any(|chunk| {
            let start = chunk.addr();
            (start..start + size_of::<Chunk<K, V>>()).contains(&address.addr())
        })
    }

    fn add_chunk(&self, writer: &mut SlabWriter<K, V>) {
        let newest = writer.directories.last().expect("there is always one");
        if writer.chunks == newest.len() {
            let larger: Directory<K, V> = new_directory(newest.len() * 2);
            for (new, old) in larger.iter().zip(newest) {
                new.store(old.load(Ordering::Relaxed), Ordering::Relaxed);
            }
            writer.directories.push(larger);
            self.directory
                .store(writer.newest_directory(), Ordering::Release);
        }
        let chunk = Box::into_raw(new_chunk());
        let newest = writer.directories.last().expect("there is always one");
        newest[writer.chunks].store(chunk, Ordering::Release);
        writer.chunks += 1;
    }
}

impl<K, V> SlabWriter<K, V> {
    /// The first element of the directory in use, for readers. Taken where the directory stays: to move a
    /// box ends what pointers into it may be used for.
    fn newest_directory(&self) -> *mut AtomicPtr<Chunk<K, V>> {
        let newest = self.directories.last().expect("there is always one");
        newest.as_ptr().cast_mut()
    }

    fn chunks(&self) -> impl Iterator<Item = *mut Chunk<K, V>> {
        let newest = self.directories.last().expect("there is always one");
        newest[..self.chunks]
            .iter()
            .map(|chunk| chunk.load(Ordering::Relaxed))
    }
}

impl<K, V> Drop for SlabWriter<K, V> {
    fn drop(&mut self) {
        for chunk in self.chunks() {
            // SAFETY: made by `Box::into_raw` in `add_chunk`; the slab is dropped with its writer.
            // Nodes do not drop their entries: the shard has done that.
            drop(unsafe { Box::from_raw(chunk) });
        }
    }
}

/// Chunk and place in it.
#[inline(always)]
fn split(slot: u32) -> (usize, usize) {
    let slot = slot as usize;
    (slot >> CHUNK_BITS, slot & (CHUNK - 1))
}

fn new_chunk<K, V>() -> Box<Chunk<K, V>> {
    // Piece by piece, in its place: a chunk may be too large for the stack.
    let mut chunk = Box::<Chunk<K, V>>::new_uninit();
    let start = chunk.as_mut_ptr();
    for place in 0..CHUNK {
        // SAFETY: within the box; every piece is written, once.
        unsafe {
            (&raw mut (*start).nodes[place]).write(Node::empty());
            (&raw mut (*start).links[place]).write(SlotLinks::default());
        }
    }
    // SAFETY: written above.
    unsafe { chunk.assume_init() }
}

fn new_directory<K, V>(len: usize) -> Directory<K, V> {
    (0..len).map(|_| AtomicPtr::new(ptr::null_mut())).collect()
}

#[cfg(any(test, fuzzing))]
impl<K, V> SlabWriter<K, V> {
    pub(super) fn slots_ever_used(&self) -> usize {
        self.fresh as usize
    }

    /// The slots that are free to be used again.
    pub(super) fn free_slots(&self, slab: &Slab<K, V>) -> Vec<u32> {
        // SAFETY: slots of the list were handed out before, and `&self` is only had under the lock.
        let next = |slot: &u32| unsafe { slab.links(*slot) }.next.load(Ordering::Relaxed);
        let is_slot = |slot: &u32| *slot != NO_SLOT;
        std::iter::successors(Some(self.first_free).filter(is_slot), |slot| {
            Some(next(slot)).filter(is_slot)
        })
        .take(self.slots_ever_used() + 1)
        .collect()
    }
}
