//! A borrowed entry.

#![allow(unsafe_code, reason = "the hazard keeps the entry alive")]

use std::fmt;
use std::ops::Deref;

use super::node::Node;
use crate::reclaim::{Hazard, Pin};

/// An entry borrowed from a [`Cache`](super::Cache). Dereferences to the value.
///
/// It keeps this one entry alive, nothing else: the entry can be replaced, evicted, expire or be
/// cleared meanwhile, and the borrow still reads what it read. Its memory is freed when the borrow ends.
/// A borrow that is forgotten ([`std::mem::forget`]) keeps the entry until the cache is dropped.
///
/// Not `Send`: clone the value (or an `Arc` in it) to hand it to another thread.
pub struct Ref<'a, K, V> {
    node: &'a Node<K, V>,
    _hazard: Hazard<'static>,
}

impl<'a, K, V> Ref<'a, K, V> {
    /// Borrows an entry that was found under the pin.
    #[inline(always)]
    pub(super) fn new(node: &'a Node<K, V>, pin: &Pin<'static>) -> Self {
        Ref {
            node,
            _hazard: pin.protect(std::ptr::from_ref(node).cast()),
        }
    }

    /// The key as it is stored.
    #[inline]
    pub fn key(&self) -> &K {
        // SAFETY: the hazard was published while the entry was found, and lives as long as `self`.
        unsafe { self.node.key() }
    }

    /// The value.
    #[inline]
    pub fn value(&self) -> &V {
        // SAFETY: as for `key`.
        unsafe { self.node.value() }
    }
}

impl<K, V> Deref for Ref<'_, K, V> {
    type Target = V;

    #[inline]
    fn deref(&self) -> &V {
        self.value()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for Ref<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ref")
            .field("key", self.key())
            .field("value", self.value())
            .finish()
    }
}
