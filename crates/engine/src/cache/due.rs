//! Which entries may be due: what an expiry sweep looks at instead of the entries.
//!
//! Each slot has a *hint*, four bytes that say when it is to be looked at, no later than its entry
//! expires; a chunk of slots has the earliest of its hints. So a sweep passes over whole chunks, and in
//! one that is due it reads a few cache lines and then only the entries that are due. There is no list
//! to unlink from, and nothing in here outlives an entry: a hint that is out of date is looked at once,
//! too early.

use super::slab::CHUNK;
use crate::clock::{Millis, NEVER};

/// Hints count in units of 4 ms, and wrap.
const UNIT_BITS: u32 = 2;

/// Deadlines further away are looked at this much later, and get a new hint then.
const FURTHEST: u64 = 1 << 30;

/// A hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hint(u32);

/// The hints of a shard. Lives under its lock.
pub(super) struct DueHints {
    /// Chunk by chunk, so that growing copies no hints.
    #[expect(clippy::vec_box, reason = "growing must not copy hints")]
    hints: Vec<Box<[Hint; CHUNK]>>,
    /// The earliest hint of each chunk, or one before it.
    chunks: Vec<Hint>,
    /// No hint is before this.
    earliest: Millis,
    /// Whether any entry ever had a deadline: until then there are no hints at all.
    in_use: bool,
}

impl Hint {
    fn at(due: Millis, now: Millis) -> Self {
        let furthest = (now >> UNIT_BITS) + FURTHEST;
        Hint((due >> UNIT_BITS).min(furthest) as u32)
    }

    /// Units from now, negative if it is past.
    fn units_from(self, now: Millis) -> i32 {
        self.0.wrapping_sub((now >> UNIT_BITS) as u32) as i32
    }

    fn is_due(self, now: Millis) -> bool {
        self.units_from(now) <= 0
    }

    fn earlier_of(self, other: Hint, now: Millis) -> Hint {
        if self.units_from(now) <= other.units_from(now) {
            self
        } else {
            other
        }
    }
}

impl DueHints {
    pub(super) fn new() -> Self {
        DueHints {
            hints: Vec::new(),
            chunks: Vec::new(),
            earliest: NEVER,
            in_use: false,
        }
    }

    /// Nothing is due before this.
    pub(super) fn earliest(&self) -> Millis {
        self.earliest
    }

    /// The entry in this slot is due then; [`NEVER`] if it does not expire.
    #[inline]
    pub(super) fn set(&mut self, slot: u32, due: Millis, now: Millis) {
        if due == NEVER && !self.in_use {
            return;
        }
        self.in_use = true;
        self.see(now);
        let (chunk, place) = (slot as usize / CHUNK, slot as usize % CHUNK);
        if self.hints.len() <= chunk {
            self.grow(chunk, now);
        }
        let hint = Hint::at(due, now);
        self.hints[chunk][place] = hint;
        self.chunks[chunk] = self.chunks[chunk].earlier_of(hint, now);
        // Also what is due later than a hint can tell is looked at when its hint says.
        let looked_at = now.saturating_add(FURTHEST << UNIT_BITS).min(due);
        self.earliest = self.earliest.min(looked_at);
    }

    #[cold]
    fn grow(&mut self, chunk: usize, now: Millis) {
        let far = Hint::at(NEVER, now);
        while self.hints.len() <= chunk {
            self.hints.push(Box::new([far; CHUNK]));
            self.chunks.push(far);
        }
    }

    /// When so much time has passed without a sweep that hints would seem to lie in the future again (a
    /// clock that is moved by hand can do that), everything is due.
    #[inline]
    fn see(&mut self, now: Millis) {
        if self.is_outrun(now) {
            self.make_all_due(now);
        }
    }

    /// Whether the time has left hints so far behind that they cannot be read in relation to it.
    fn is_outrun(&self, now: Millis) -> bool {
        (now >> UNIT_BITS).saturating_sub(self.earliest >> UNIT_BITS) > FURTHEST
    }

    #[cold]
    fn make_all_due(&mut self, now: Millis) {
        let due = Hint((now >> UNIT_BITS) as u32);
        self.hints.iter_mut().for_each(|hints| hints.fill(due));
        self.chunks.fill(due);
        self.earliest = now;
    }

    /// Calls `look` with the slots that may be due, chunk by chunk, until it has been called some
    /// `max_looks` times. It returns when the entry is to be looked at next. Returns whether all were
    /// looked at.
    pub(super) fn sweep(
        &mut self,
        now: Millis,
        max_looks: usize,
        mut look: impl FnMut(u32) -> Millis,
    ) -> bool {
        self.see(now);
        let mut looks = 0;
        let mut earliest: Option<Hint> = None;
        for (chunk, (first, hints)) in self.chunks.iter_mut().zip(&mut self.hints).enumerate() {
            if first.is_due(now) {
                if looks >= max_looks {
                    return false;
                }
                let mut next_first = Hint::at(NEVER, now);
                for (place, hint) in hints.iter_mut().enumerate() {
                    if hint.is_due(now) {
                        looks += 1;
                        let due = look((chunk * CHUNK + place) as u32);
                        // What is due within the unit that has begun is looked at in the next one.
                        *hint = Hint::at(due.max(now.saturating_add(1 << UNIT_BITS)), now);
                    }
                    next_first = next_first.earlier_of(*hint, now);
                }
                *first = next_first;
            }
            earliest = Some(earliest.map_or(*first, |hint| hint.earlier_of(*first, now)));
        }
        self.earliest = earliest.map_or(NEVER, |hint| {
            let left = u64::from(hint.units_from(now).max(0).unsigned_abs());
            ((now >> UNIT_BITS) + left).saturating_mul(1 << UNIT_BITS)
        });
        true
    }
}

#[cfg(any(test, fuzzing))]
impl DueHints {
    /// Asserts that an entry which expires at `deadline` is looked at then, or a unit later.
    pub(super) fn assert_looked_at(&self, slot: u32, deadline: Millis, now: Millis) {
        if deadline == NEVER || self.is_outrun(now) {
            return;
        }
        let (chunk, place) = (slot as usize / CHUNK, slot as usize % CHUNK);
        let latest = Hint::at(deadline.saturating_add(1 << UNIT_BITS), now);
        let hint = self.hints[chunk][place];
        assert!(hint.units_from(now) <= latest.units_from(now).max(0));
        assert!(self.chunks[chunk].units_from(now) <= hint.units_from(now));
        assert!(self.earliest <= deadline.saturating_add(2 << UNIT_BITS).max(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Millis = 24 * 60 * 60 * 1_000;

    #[test]
    fn what_was_due_long_ago_is_looked_at_however_the_time_passed() {
        for step in [40 * DAY, 60 * DAY, 120 * DAY] {
            for steps in 1..8 {
                let mut hints = DueHints::new();
                hints.set(0, DAY, 0);
                for number in 1..=steps {
                    hints.set(1, NEVER, number * step);
                }
                let now = steps * step;
                hints.assert_looked_at(0, DAY, now);
                let mut looked_at = Vec::new();
                let is_all = hints.sweep(now, 10, |slot| {
                    looked_at.push(slot);
                    NEVER
                });
                assert!(is_all);
                assert!(looked_at.contains(&0), "{steps} steps of {step} ms");
            }
        }
    }

    #[test]
    fn a_leap_past_all_hints_is_no_fault() {
        for days in 1..500 {
            let mut hints = DueHints::new();
            hints.set(0, 10_000 * DAY, 0);
            hints.assert_looked_at(0, 10_000 * DAY, days * DAY);
            hints.sweep(days * DAY, 10, |_| 10_000 * DAY);
            hints.assert_looked_at(0, 10_000 * DAY, days * DAY);
        }
    }
}
