//! What an entry counts for.

use super::budget::Amount;

/// An entry's weight in four bytes: exact to 2 GiB, rounded up to 4 KiB above that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Weight(u32);

const IN_PAGES: u32 = 1 << 31;
const PAGE: u64 = 4096;

impl Weight {
    /// The weight of an entry in a cache that only counts entries.
    pub(super) const ONE: Weight = Weight(1);

    pub(super) fn from_bytes(bytes: u64) -> Self {
        match u32::try_from(bytes) {
            Ok(exact) if exact < IN_PAGES => Weight(exact),
            _ => {
                let pages = u32::try_from(bytes.div_ceil(PAGE)).unwrap_or(u32::MAX);
                Weight(pages.min(IN_PAGES - 1) | IN_PAGES)
            }
        }
    }

    pub(super) fn get(self) -> u64 {
        match self.0 & IN_PAGES {
            0 => u64::from(self.0),
            _ => u64::from(self.0 & !IN_PAGES) * PAGE,
        }
    }

    /// What an entry of this weight takes.
    pub(super) fn as_one_entry(self) -> Amount {
        Amount {
            entries: 1,
            weight: self.get(),
        }
    }

    pub(super) fn to_bits(self) -> u32 {
        self.0
    }

    pub(super) fn from_bits(bits: u32) -> Self {
        Weight(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_is_exact_to_two_gibibytes_and_never_too_small_above() {
        for exact in [0, 1, 4095, 1 << 20, (1 << 31) - 1] {
            assert_eq!(Weight::from_bytes(exact).get(), exact);
        }
        for large in [1 << 31, (1 << 31) + 1, 5_000_000_000, 1 << 40] {
            let weight = Weight::from_bytes(large).get();
            assert!((large..large + PAGE).contains(&weight), "{large}: {weight}");
        }
        assert_eq!(
            Weight::from_bytes(u64::MAX).get(),
            ((1 << 31) - 1) * PAGE,
            "the largest that can be told"
        );
    }
}
