//! A first-in-first-out queue of entries, linked through the entries themselves.

use super::{Class, Entries};

/// No entry: the end of a queue.
pub(super) const NIL: u32 = u32::MAX;

/// The neighbours of an entry in its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Links {
    pub(crate) prev: u32,
    pub(crate) next: u32,
}

#[derive(Debug)]
pub(super) struct Queue {
    class: Class,
    front: u32,
    back: u32,
    len: usize,
    weight: u64,
}

impl Queue {
    pub(super) fn new(class: Class) -> Self {
        Self {
            class,
            front: NIL,
            back: NIL,
            len: 0,
            weight: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn weight(&self) -> u64 {
        self.weight
    }

    /// The oldest entry, or the next one if the oldest is `keep`.
    pub(super) fn front_but(&self, entries: &impl Entries, keep: Option<u32>) -> Option<u32> {
        let mut slot = self.front;
        if slot != NIL && Some(slot) == keep {
            slot = entries.links(slot).next;
        }
        (slot != NIL).then_some(slot)
    }

    pub(super) fn push_back(&mut self, entries: &mut impl Entries, slot: u32) {
        entries.set_class(slot, self.class);
        self.len += 1;
        self.weight += entries.weight(slot);
        self.join(entries, self.back, slot);
        self.join(entries, slot, NIL);
    }

    pub(super) fn unlink(&mut self, entries: &mut impl Entries, slot: u32) {
        let Links { prev, next } = entries.links(slot);
        self.len -= 1;
        self.weight -= entries.weight(slot);
        self.join(entries, prev, next);
    }

    /// Puts `new` where `old` stands.
    pub(super) fn replace(&mut self, entries: &mut impl Entries, old: u32, new: u32) {
        let Links { prev, next } = entries.links(old);
        entries.set_class(new, self.class);
        self.weight -= entries.weight(old);
        self.weight += entries.weight(new);
        self.join(entries, prev, new);
        self.join(entries, new, next);
    }

    /// Makes `left` and `right` neighbours; [`NIL`] stands for the queue's ends.
    fn join(&mut self, entries: &mut impl Entries, left: u32, right: u32) {
        match left {
            NIL => self.front = right,
            _ => entries.set_links(
                left,
                Links {
                    next: right,
                    ..entries.links(left)
                },
            ),
        }
        match right {
            NIL => self.back = left,
            _ => entries.set_links(
                right,
                Links {
                    prev: left,
                    ..entries.links(right)
                },
            ),
        }
    }

    #[cfg(any(test, fuzzing))]
    pub(super) fn class(&self) -> Class {
        self.class
    }

    #[cfg(test)]
    pub(super) fn back(&self) -> u32 {
        self.back
    }

    /// The entries from the oldest on.
    #[cfg(any(test, fuzzing))]
    pub(super) fn iter<'a>(&self, entries: &'a impl Entries) -> impl Iterator<Item = u32> + 'a {
        let next = |&slot: &u32| Some(entries.links(slot).next).filter(|&next| next != NIL);
        std::iter::successors(Some(self.front).filter(|&slot| slot != NIL), next)
    }
}
