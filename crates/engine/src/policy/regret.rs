//! Whether the main queue evicts what is still wanted.
//!
//! In a loop somewhat larger than the cache every entry is as good as any other, and the clock's next
//! victim is the one whose turn comes next. Letting the returning keys in then turns the main queue
//! through without a single hit. What gives the loop away is that nearly all victims of the main queue
//! come back: 0.8 to 1.0 of them in loops, below 0.7 in all else that was tried.

/// The part of the main queue's victims that may come back before it closes.
const HIGHEST: f64 = 0.7;

/// When closed, one of so many returning keys still enters, to find out whether it is still so. The
/// clock then turns slowly enough for a loop's entries to be hit before it comes round to them. Four
/// and sixteen do as well.
const PASSES_ONE_OF: u32 = 8;

/// The rate is a moving average over about this part of the entries, and over no fewer than
/// [`LEAST_WINDOW`].
const WINDOW_SHARE: f64 = 0.125;
const LEAST_WINDOW: f64 = 16.0;

#[derive(Debug)]
pub(super) struct Regret {
    /// Of the main queue's victims, how many came back.
    rate: f64,
    until_pass: u32,
}

impl Regret {
    pub(super) fn new() -> Self {
        Self {
            rate: 0.0,
            until_pass: PASSES_ONE_OF,
        }
    }

    /// A shard of `len` entries evicted from its main queue.
    pub(super) fn evicted(&mut self, len: usize) {
        self.rate -= self.rate / window(len);
    }

    /// What a shard of `len` entries had evicted from its main queue came back.
    pub(super) fn returned(&mut self, len: usize) {
        self.rate += 1.0 / window(len);
    }

    /// Whether a returning key may enter the main queue.
    pub(super) fn lets_pass(&mut self) -> bool {
        if self.rate <= HIGHEST {
            return true;
        }
        self.until_pass -= 1;
        let passes = self.until_pass == 0;
        if passes {
            self.until_pass = PASSES_ONE_OF;
        }
        passes
    }
}

fn window(len: usize) -> f64 {
    (len as f64 * WINDOW_SHARE).max(LEAST_WINDOW)
}
