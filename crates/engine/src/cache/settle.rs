//! What follows a change of a shard: evicting until the budget holds, and without the lock, seeing to it that
//! what was taken out is freed.

use super::budget::Amount;
use super::inner::Inner;
use super::locked::Locked;
use super::retire::{self, MANY_READY, Panic, drop_each, pass_on};
use super::shard::Shard;
use crate::clock;
use crate::reclaim::{self, Cookie};

/// What is left to do after a change, without the lock.
#[must_use]
pub(super) struct Unsettled {
    /// There are many entries that nobody can reach any more.
    has_many_ready: bool,
    /// What was retired up to this moment is to be freed.
    to_free: Option<Cookie>,
    /// So much is retired that it is worth waiting for a reader.
    is_urgent: bool,
    /// There are retired entries where there were none.
    is_first_retired: bool,
}

impl Unsettled {
    #[inline]
    fn is_nothing(&self) -> bool {
        !self.has_many_ready && self.to_free.is_none() && !self.is_first_retired
    }
}

impl<K, V> Inner<K, V> {
    /// Ends a change of a shard: evicts until the budget holds, tells the sums, unlocks. The entry
    /// in the slot `protected` of this shard stays. What is returned goes to [`settle`](Self::settle).
    #[inline]
    pub(super) fn finish(
        &self,
        index: usize,
        before: Amount,
        mut locked: Locked<'_, K, V>,
        protected: Option<u32>,
    ) -> Unsettled {
        let shard = self.shard(index);
        if self.budget.is_over(shard.size().since(before)) {
            self.evict_here(shard, before, &mut locked, protected);
        }
        self.budget.add(shard.size().since(before));
        let had_retired = shard.has_retired();
        let max_retired = self.max_retired();
        let retired = &mut locked.state.retired;
        let to_free = retired.look(reclaim::global(), shard.size().entries, max_retired);
        let is_urgent = to_free.is_some() && retired.is_heavy(max_retired);
        let has_many_ready = locked.state.ready.len() > MANY_READY;
        locked.publish_retired();
        Unsettled {
            has_many_ready,
            to_free,
            is_urgent,
            is_first_retired: !had_retired && shard.has_retired(),
        }
    }

    /// Evicts from a locked shard until the budget holds, as far as the shard has its fair share.
    #[inline(never)]
    fn evict_here(
        &self,
        shard: &Shard<K, V>,
        before: Amount,
        locked: &mut Locked<'_, K, V>,
        protected: Option<u32>,
    ) {
        loop {
            let change = shard.size().since(before);
            let goes_on = self.budget.is_over(change)
                && self.has_fair_share(shard, change)
                && locked.evict_one(protected);
            if !goes_on {
                return;
            }
        }
    }

    /// Does all that a change left to be done without the lock, and drops `ready`. Not under a pin, which
    /// would hold up the grace period: it frees memory, and drops what users put in.
    pub(super) fn settle(
        &self,
        index: usize,
        unsettled: &Unsettled,
        ready: Option<(K, V)>,
    ) -> Option<Panic> {
        let panic = self.settle_retired(index, unsettled);
        panic.or(drop_each(ready))
    }

    /// [`settle`](Self::settle), also with what other shards have to give for the budget, and lets panics go on
    /// to the caller. The entry in the slot `kept` stays.
    #[inline]
    pub(super) fn settle_and_pass_on(
        &self,
        index: usize,
        unsettled: &Unsettled,
        kept: Option<u32>,
        ready: Option<(K, V)>,
    ) {
        if unsettled.is_nothing() && !self.budget.is_over(Amount::NONE) {
            // A panic in here may go its way.
            drop(ready);
        } else {
            self.settle_much(index, unsettled, kept, ready);
        }
    }

    #[inline(never)]
    fn settle_much(
        &self,
        index: usize,
        unsettled: &Unsettled,
        kept: Option<u32>,
        ready: Option<(K, V)>,
    ) {
        let mut panic = self.settle_retired(index, unsettled);
        if self.budget.is_over(Amount::NONE) {
            panic = panic.or(self.evict_elsewhere(index, kept));
        }
        pass_on(panic.or(drop_each(ready)));
    }

    fn settle_retired(&self, index: usize, unsettled: &Unsettled) -> Option<Panic> {
        let mut panic = None;
        if let Some(cookie) = unsettled.to_free {
            if retire::see_to_grace(cookie, unsettled.is_urgent) {
                self.free_retired(self.shard(index));
                panic = self.drop_heavy_ready(self.shard(index));
            } else {
                clock::wake();
            }
        } else if unsettled.is_first_retired {
            // Somebody must free it also if this shard is not written to again.
            clock::wake();
        }
        if unsettled.has_many_ready {
            let dropped = self.shard(index).drop_some_ready();
            panic = panic.or(dropped.and_then(Result::err));
        }
        panic
    }

    /// Drops ready entries until they weigh no more than what may wait. A write drops one of them, and may evict
    /// many: where bytes are bounded, their number alone must not decide how long they stay.
    fn drop_heavy_ready(&self, shard: &Shard<K, V>) -> Option<Panic> {
        let mut panic = None;
        while self.budget.counts_bytes() && shard.ready_weight() > self.max_retired() {
            let Some(dropped) = shard.drop_some_ready() else {
                break;
            };
            panic = panic.or(dropped.err());
        }
        panic
    }

    /// Evicts until the budget holds.
    pub(super) fn keep_budget(&self) -> Option<Panic> {
        self.evict_elsewhere(0, None)
    }

    /// Evicts until the budget holds, from the shards after this one first.
    #[cold]
    fn evict_elsewhere(&self, index: usize, protected: Option<u32>) -> Option<Panic> {
        let mut panic = None;
        let shards = self.shards.len();
        let mut failed = 0;
        let mut next = index;
        // If after a round no shard with its fair share has given, every other gives: an entry that is
        // heavier than all others together, and protected, leaves them all below the mean.
        while self.budget.is_over(Amount::NONE) && failed < 2 * shards {
            next = (next + 1) % shards;
            let shard = self.shard(next);
            let protected = protected.filter(|_| next == index);
            if failed < shards && !self.has_fair_share(shard, Amount::NONE) {
                failed += 1;
                continue;
            }
            let mut locked = shard.lock();
            let before = shard.size();
            if locked.evict_one(protected) {
                failed = 0;
            } else {
                failed += 1;
            }
            let ready = locked.take_ready();
            let unsettled = self.finish(next, before, locked, protected);
            panic = panic.or(self.settle(next, &unsettled, ready));
        }
        panic
    }

    /// Whether a shard holds as much as the mean of all, so that it is its turn to give.
    fn has_fair_share(&self, shard: &Shard<K, V>, change: Amount) -> bool {
        let held = self.budget.measure(shard.size());
        held << self.shard_bits >= self.budget.taken_with(change)
    }

    /// Weight of retired entries that may wait in a shard.
    fn max_retired(&self) -> u64 {
        self.budget.max_retired() >> self.shard_bits
    }

    /// Makes ready what can be freed in a shard.
    fn free_retired(&self, shard: &Shard<K, V>) {
        let change = shard.free_retired();
        if change != 0 {
            self.budget.add_borrowed(change);
        }
        // Another thread may have seen nothing retired meanwhile, and let the ticker sleep.
        if shard.has_retired() {
            clock::wake();
        }
    }

    /// Frees all that can be freed, in all shards.
    pub(super) fn free_all(&self) -> Option<Panic> {
        let with_retired = || self.shards.iter().filter(|shard| shard.has_retired());
        // One grace period for them all.
        let newest = with_retired()
            .filter_map(|shard| shard.lock().state.retired.close(reclaim::global()))
            .max();
        if let Some(newest) = newest {
            retire::see_to_grace(newest, false);
        }
        let mut panic = None;
        for shard in with_retired() {
            let steps = shard.lock().state.retired.recheck_steps();
            for _ in 0..steps.max(1) {
                self.free_retired(shard);
            }
            panic = panic.or(shard.drop_ready());
        }
        panic
    }
}
