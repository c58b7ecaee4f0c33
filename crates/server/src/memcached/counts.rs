//! What `stats` counts by verb.

use std::sync::atomic::{AtomicU64, Ordering};

/// Something that is counted, by the name that `stats` gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    CmdGet,
    CmdSet,
    CmdFlush,
    CmdTouch,
    GetHits,
    GetMisses,
    DeleteMisses,
    DeleteHits,
    IncrMisses,
    IncrHits,
    DecrMisses,
    DecrHits,
    CasMisses,
    CasHits,
    CasBadval,
    TouchHits,
    TouchMisses,
    StoreTooLarge,
}

impl Count {
    /// All of them, in the order in which `stats` lists them.
    pub(crate) const ALL: [(Count, &str); 18] = [
        (Count::CmdGet, "cmd_get"),
        (Count::CmdSet, "cmd_set"),
        (Count::CmdFlush, "cmd_flush"),
        (Count::CmdTouch, "cmd_touch"),
        (Count::GetHits, "get_hits"),
        (Count::GetMisses, "get_misses"),
        (Count::DeleteMisses, "delete_misses"),
        (Count::DeleteHits, "delete_hits"),
        (Count::IncrMisses, "incr_misses"),
        (Count::IncrHits, "incr_hits"),
        (Count::DecrMisses, "decr_misses"),
        (Count::DecrHits, "decr_hits"),
        (Count::CasMisses, "cas_misses"),
        (Count::CasHits, "cas_hits"),
        (Count::CasBadval, "cas_badval"),
        (Count::TouchHits, "touch_hits"),
        (Count::TouchMisses, "touch_misses"),
        (Count::StoreTooLarge, "store_too_large"),
    ];
}

/// Totals of one loop. Only the loop itself adds to them.
#[derive(Debug, Default)]
pub(crate) struct Counts([AtomicU64; Count::ALL.len()]);

impl Counts {
    pub(super) fn add(&self, count: Count) {
        self.of(count).fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn of(&self, count: Count) -> &AtomicU64 {
        &self.0[count as usize]
    }

    /// Starts again from zero.
    pub(crate) fn reset(&self) {
        for count in &self.0 {
            count.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_count_has_a_place_of_its_own() {
        for (place, (count, _)) in Count::ALL.iter().enumerate() {
            assert_eq!(*count as usize, place);
        }
    }
}
