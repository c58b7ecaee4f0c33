//! A node: one entry, with what readers and the policy need to know about it.

#![allow(
    unsafe_code,
    reason = "key and value are written before a node is published and dropped after the last reader left"
)]

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use super::weight::Weight;
use crate::clock::{Millis, NEVER};
use crate::index::Hash;

/// ```text
/// 0          8           12         16       20     21      22    23    24
/// | deadline | last used | position | weight | mark | class | tag | pad | key | value
/// ```
/// Deadline, time of last use and mark are what a hit reads or writes; the rest is touched under
/// the shard's lock only, and atomic because the compiler cannot know that. With a `String` for a key and
/// an `Arc<[u8]>` for a value that is one cache line.
#[repr(C)]
pub(super) struct Node<K, V> {
    /// When the entry expires whatever happens.
    deadline: AtomicU64,
    /// When the entry was last used, in units of [`IdleTime`]; kept only where entries expire idle.
    last_used: AtomicU32,
    /// The key's hash position.
    position: AtomicU32,
    /// Zero unless the node's entry is in the index; no entry weighs nothing.
    weight: AtomicU32,
    pub(super) mark: AtomicU8,
    pub(super) class: AtomicU8,
    /// The rest of the key's hash.
    tag: AtomicU8,
    key: UnsafeCell<MaybeUninit<K>>,
    value: UnsafeCell<MaybeUninit<V>>,
}

// The memory bar of the engine counts on it.
const _: () = assert!(size_of::<Node<[u64; 3], [u64; 2]>>() == 24 + 24 + 16);

// SAFETY: shared references give out `&K` and `&V` to any thread, and the last reader's thread may
// drop both.
unsafe impl<K: Send + Sync, V: Send + Sync> Sync for Node<K, V> {}

/// How entries expire when they are not used.
#[derive(Debug, Clone, Copy)]
pub(super) struct IdleTime {
    /// Times of use are counted in units of 2^shift ms, so that four bytes tell any idle time.
    shift: u32,
    /// Whole units after which an unused entry is expired.
    units: u32,
}

/// How far back a clock may go and be noticed: three days, of the 49 that four bytes of milliseconds count.
/// The rest is for time that passes without anybody looking, as when a clock is moved by hand.
const MAX_BACK_UNITS: u32 = 1 << 28;

/// Idle times are told apart up to half of what four bytes count.
const MAX_IDLE_UNITS: u64 = 1 << 30;

impl IdleTime {
    pub(super) fn new(limit: Millis) -> Self {
        let mut shift = 0;
        while limit >> shift > MAX_IDLE_UNITS && shift < 32 {
            shift += 1;
        }
        IdleTime {
            shift,
            units: (limit >> shift).min(MAX_IDLE_UNITS) as u32,
        }
    }

    fn stamp(self, now: Millis) -> u32 {
        (now >> self.shift) as u32
    }

    /// Milliseconds until an entry that was used at `stamp` expires.
    fn left(self, stamp: u32, now: Millis) -> Millis {
        let mut idle = self.stamp(now).wrapping_sub(stamp);
        // The clock went backwards: then nothing has been idle.
        if idle > u32::MAX - MAX_BACK_UNITS {
            idle = 0;
        }
        u64::from(self.units.saturating_sub(idle)) << self.shift
    }
}

impl<K, V> Node<K, V> {
    pub(super) fn empty() -> Self {
        Node {
            deadline: AtomicU64::new(0),
            last_used: AtomicU32::new(0),
            position: AtomicU32::new(0),
            weight: AtomicU32::new(0),
            mark: AtomicU8::new(0),
            class: AtomicU8::new(0),
            tag: AtomicU8::new(0),
            key: UnsafeCell::new(MaybeUninit::uninit()),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Writes an entry into a node that holds none.
    ///
    /// # Safety
    /// The node is neither published nor holds an entry, and the caller holds the shard's lock.
    pub(super) unsafe fn write(&self, key: K, value: V, hash: Hash, weight: Weight) {
        // SAFETY: nobody else looks at the node.
        unsafe {
            (*self.key.get()).write(key);
            (*self.value.get()).write(value);
        }
        self.position.store(hash.position, Ordering::Relaxed);
        self.tag.store(hash.tag, Ordering::Relaxed);
        self.weight.store(weight.to_bits(), Ordering::Relaxed);
        self.mark.store(0, Ordering::Relaxed);
    }

    /// Drops the entry, key and value, also if the first of them panics.
    ///
    /// # Safety
    /// The node holds an entry that is unlinked and that no reader can reach any more.
    pub(super) unsafe fn drop_entry(&self) {
        struct DropValue<'a, V>(&'a UnsafeCell<MaybeUninit<V>>);
        impl<V> Drop for DropValue<'_, V> {
            fn drop(&mut self) {
                // SAFETY: by the promise of `drop_entry`.
                unsafe { (*self.0.get()).assume_init_drop() };
            }
        }
        let _value = DropValue(&self.value);
        // SAFETY: by the caller's promise.
        unsafe { (*self.key.get()).assume_init_drop() };
    }

    /// Takes the entry out.
    ///
    /// # Safety
    /// As for [`drop_entry`](Self::drop_entry), which must not be called any more.
    pub(super) unsafe fn take_entry(&self) -> (K, V) {
        // SAFETY: by the caller's promise.
        unsafe {
            (
                (*self.key.get()).assume_init_read(),
                (*self.value.get()).assume_init_read(),
            )
        }
    }

    /// # Safety
    /// The node holds an entry, which the caller keeps alive: by a pin, a hazard, or the lock.
    #[inline(always)]
    pub(super) unsafe fn key(&self) -> &K {
        // SAFETY: by the caller's promise.
        unsafe { (*self.key.get()).assume_init_ref() }
    }

    /// # Safety
    /// As for [`key`](Self::key).
    #[inline(always)]
    pub(super) unsafe fn value(&self) -> &V {
        // SAFETY: by the caller's promise.
        unsafe { (*self.value.get()).assume_init_ref() }
    }

    #[inline(always)]
    pub(super) fn position(&self) -> u32 {
        self.position.load(Ordering::Relaxed)
    }

    pub(super) fn hash(&self) -> Hash {
        Hash {
            position: self.position(),
            tag: self.tag.load(Ordering::Relaxed),
        }
    }

    pub(super) fn weight(&self) -> Weight {
        Weight::from_bits(self.weight.load(Ordering::Relaxed))
    }

    /// Whether the node's entry is in the index. For the writer.
    pub(super) fn is_linked(&self) -> bool {
        self.weight.load(Ordering::Relaxed) != 0
    }

    /// Notes that the entry has left the index. Returns its weight. For the writer.
    pub(super) fn unlink(&self) -> Weight {
        let weight = self.weight();
        self.weight.store(0, Ordering::Relaxed);
        weight
    }

    /// Sets when the entry expires; begins its idle time. For the writer.
    pub(super) fn set_deadline(&self, deadline: Millis, idle: Option<IdleTime>, now: Millis) {
        self.deadline.store(deadline, Ordering::Relaxed);
        if let Some(idle) = idle {
            self.last_used.store(idle.stamp(now), Ordering::Relaxed);
        }
    }

    /// Records a use, at most once per tick.
    #[inline(always)]
    pub(super) fn stamp_use(&self, idle: IdleTime, now: Millis) {
        let stamp = idle.stamp(now);
        if self.last_used.load(Ordering::Relaxed) != stamp {
            self.last_used.store(stamp, Ordering::Relaxed);
        }
    }

    /// Whether the entry must not be returned any more.
    #[inline(always)]
    pub(super) fn is_expired(&self, idle: Option<&IdleTime>, now: Millis) -> bool {
        self.deadline.load(Ordering::Relaxed) <= now
            || idle.is_some_and(|idle| self.is_idle(*idle, now))
    }

    #[inline(never)]
    fn is_idle(&self, idle: IdleTime, now: Millis) -> bool {
        idle.left(self.last_used.load(Ordering::Relaxed), now) == 0
    }

    /// When the entry expires if it is not used until then; [`NEVER`] if it does not.
    pub(super) fn due(&self, idle: Option<IdleTime>, now: Millis) -> Millis {
        let deadline = self.deadline.load(Ordering::Relaxed);
        let idle_end = idle.map_or(NEVER, |idle| {
            let left = idle.left(self.last_used.load(Ordering::Relaxed), now);
            now.saturating_add(left)
        });
        deadline.min(idle_end)
    }
}

#[cfg(any(test, fuzzing))]
impl<K, V> Node<K, V> {
    pub(super) fn deadline(&self) -> Millis {
        self.deadline.load(Ordering::Relaxed)
    }
}
