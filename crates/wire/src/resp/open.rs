//! Aggregates whose elements are still arriving: the decoder's stack, in place of recursion.

use super::frame::Frame;

/// Room for at most so many elements is made when an aggregate is announced; beyond, room grows
/// with what arrives. The decoder's depth bound times this is all that announcements alone can make
/// it allocate.
const ROOM_AT_ONCE: usize = 16;

/// The types of aggregates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Array,
    Set,
    Push,
    Map,
    Attribute,
}

/// An aggregate that waits for elements.
#[derive(Debug)]
pub(super) struct Open {
    missing: usize,
    held: Held,
}

#[derive(Debug)]
enum Held {
    Array(Vec<Frame>),
    Set(Vec<Frame>),
    Push(Vec<Frame>),
    Map {
        pairs: Vec<(Frame, Frame)>,
        key: Option<Frame>,
    },
    /// The elements of an attribute are dropped as they come.
    Attribute,
}

impl Kind {
    /// How many elements follow a header that says `count`, unless that overflows.
    pub(super) fn elements(self, count: usize) -> Option<usize> {
        match self {
            Self::Array | Self::Set | Self::Push => Some(count),
            Self::Map | Self::Attribute => count.checked_mul(2),
        }
    }
}

impl Open {
    pub(super) fn new(kind: Kind, elements: usize) -> Self {
        let room = elements.min(ROOM_AT_ONCE);
        let held = match kind {
            Kind::Array => Held::Array(Vec::with_capacity(room)),
            Kind::Set => Held::Set(Vec::with_capacity(room)),
            Kind::Push => Held::Push(Vec::with_capacity(room)),
            Kind::Map => Held::Map {
                pairs: Vec::with_capacity(room / 2),
                key: None,
            },
            Kind::Attribute => Held::Attribute,
        };
        Self {
            missing: elements,
            held,
        }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.missing == 0
    }

    pub(super) fn add(&mut self, frame: Frame) {
        self.missing -= 1;
        match &mut self.held {
            Held::Array(elements) | Held::Set(elements) | Held::Push(elements) => {
                elements.push(frame);
            }
            Held::Map { pairs, key } => match key.take() {
                Some(key) => pairs.push((key, frame)),
                None => *key = Some(frame),
            },
            Held::Attribute => {}
        }
    }

    /// The frame that the elements make up; an attribute is none.
    pub(super) fn close(self) -> Option<Frame> {
        match self.held {
            Held::Array(elements) => Some(Frame::Array(elements)),
            Held::Set(elements) => Some(Frame::Set(elements)),
            Held::Push(elements) => Some(Frame::Push(elements)),
            Held::Map { pairs, .. } => Some(Frame::Map(pairs)),
            Held::Attribute => None,
        }
    }
}
