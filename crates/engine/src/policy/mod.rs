//! Who is evicted: first in, first out, with a second chance for what was used (the simplest that works).

use std::sync::atomic::{AtomicU8, Ordering};
pub(crate) const NIL: u32 = u32::MAX;
pub(crate) trait Entries {
    fn links(&self, slot: u32) -> (u32, u32);
    fn set_links(&mut self, slot: u32, links: (u32, u32));
    fn mark(&self, slot: u32) -> u8;
    fn set_mark(&mut self, slot: u32, mark: u8);
    fn weight(&self, slot: u32) -> u64;
    fn hash(&self, slot: u32) -> u32;
}
pub(crate) struct Policy {
    head: u32,
    tail: u32,
}
impl Policy {
    pub(crate) fn new() -> Self {
        Policy {
            head: NIL,
            tail: NIL,
        }
    }
    pub(crate) fn set_capacity(&mut self, _weight: u64) {}
    pub(crate) fn inserted(&mut self, e: &mut impl Entries, slot: u32) {
        e.set_links(slot, (self.tail, NIL));
        if self.tail == NIL {
            self.head = slot
        } else {
            let l = e.links(self.tail);
            e.set_links(self.tail, (l.0, slot));
        }
        self.tail = slot;
    }
    pub(crate) fn replaced(&mut self, e: &mut impl Entries, old: u32, new: u32) {
        self.removed(e, old);
        self.inserted(e, new);
        e.set_mark(new, 1);
    }
    pub(crate) fn removed(&mut self, e: &mut impl Entries, slot: u32) {
        let (p, n) = e.links(slot);
        if p == NIL {
            self.head = n
        } else {
            let l = e.links(p);
            e.set_links(p, (l.0, n));
        }
        if n == NIL {
            self.tail = p
        } else {
            let l = e.links(n);
            e.set_links(n, (p, l.1));
        }
    }
    pub(crate) fn victim(&mut self, e: &mut impl Entries, protected: Option<u32>) -> Option<u32> {
        if self.head == self.tail && Some(self.head) == protected {
            return None;
        }
        loop {
            let slot = self.head;
            if slot == NIL {
                return None;
            }
            self.removed(e, slot);
            if e.mark(slot) == 0 && Some(slot) != protected {
                return Some(slot);
            }
            e.set_mark(slot, 0);
            self.inserted(e, slot);
        }
    }
    #[inline(always)]
    pub(crate) fn touch(mark: &AtomicU8) {
        if mark.load(Ordering::Relaxed) == 0 {
            mark.store(1, Ordering::Relaxed)
        }
    }
}
