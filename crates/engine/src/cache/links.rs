//! The policy's view of the nodes.

#![allow(
    unsafe_code,
    reason = "nodes are reached by slots that the policy knows, under the lock"
)]

use std::sync::atomic::Ordering;

use super::node::Node;
use super::shard::Shard;
use super::slab::SlotLinks;
use crate::policy::{Class, Entries, Links};

/// The nodes of a shard, for its policy. Made under the lock only.
pub(super) struct Nodes<'s, K, V>(pub(super) &'s Shard<K, V>);

impl<K, V> Nodes<'_, K, V> {
    #[inline]
    fn node(&self, slot: u32) -> &Node<K, V> {
        // SAFETY: the policy knows slots of live entries only, and the lock is held.
        unsafe { self.0.node(slot) }
    }

    #[inline]
    fn slot_links(&self, slot: u32) -> &SlotLinks {
        // SAFETY: as above.
        unsafe { self.0.slab.links(slot) }
    }
}

impl<K, V> Entries for Nodes<'_, K, V> {
    #[inline]
    fn links(&self, slot: u32) -> Links {
        let links = self.slot_links(slot);
        Links {
            prev: links.previous.load(Ordering::Relaxed),
            next: links.next.load(Ordering::Relaxed),
        }
    }

    #[inline]
    fn set_prev(&mut self, slot: u32, prev: u32) {
        self.slot_links(slot)
            .previous
            .store(prev, Ordering::Relaxed);
    }

    #[inline]
    fn set_next(&mut self, slot: u32, next: u32) {
        self.slot_links(slot).next.store(next, Ordering::Relaxed);
    }

    #[inline]
    fn class(&self, slot: u32) -> Class {
        Class::from_bits(self.node(slot).class.load(Ordering::Relaxed))
    }

    #[inline]
    fn set_class(&mut self, slot: u32, class: Class) {
        self.node(slot)
            .class
            .store(class.to_bits(), Ordering::Relaxed);
    }

    #[inline]
    fn mark(&self, slot: u32) -> u8 {
        self.node(slot).mark.load(Ordering::Relaxed)
    }

    #[inline]
    fn set_mark(&mut self, slot: u32, mark: u8) {
        self.node(slot).mark.store(mark, Ordering::Relaxed);
    }

    #[inline]
    fn weight(&self, slot: u32) -> u64 {
        self.node(slot).weight().get()
    }

    #[inline]
    fn hash(&self, slot: u32) -> u32 {
        self.node(slot).position()
    }
}
