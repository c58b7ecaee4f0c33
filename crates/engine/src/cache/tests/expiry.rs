//! Times to live and idle times.

use super::*;

#[test]
fn entries_expire_when_their_time_is_up() {
    let clock = ManualClock::new();
    let cache: Cache<u32, u32> = Cache::builder()
        .max_entries(100)
        .time_to_live(Duration::from_secs(10))
        .clock(&clock)
        .build();
    cache.insert(1, 1);
    cache.insert_with_ttl(2, 2, Duration::from_secs(5));
    clock.advance(Duration::from_millis(4_999));
    assert!(cache.contains(&1) && cache.contains(&2));
    clock.advance(Duration::from_millis(1));
    assert!(cache.contains(&1) && cache.get(&2).is_none());
    clock.advance(Duration::from_secs(5));
    assert!(cache.get(&1).is_none());
    cache.reclaim();
    assert_eq!(cache.len(), 0);
    assert_eq!(cache.stats().expirations, 2);
}

#[test]
fn an_idle_cache_reclaims_what_expires_on_its_own() {
    let value = Arc::new(());
    let cache: Cache<u32, Arc<()>> = Cache::builder()
        .max_entries(100)
        .time_to_live(Duration::from_millis(20))
        .build();
    cache.insert(1, value.clone());
    let started = Instant::now();
    eventually(|| Arc::strong_count(&value) == 1);
    assert!(started.elapsed() >= Duration::from_millis(20) - 2 * crate::clock::TICK);
    assert!(cache.is_empty());
}

fn with_clock(
    configure: impl FnOnce(CacheBuilder<u32, u32>) -> CacheBuilder<u32, u32>,
) -> (Cache<u32, u32>, ManualClock) {
    let clock = ManualClock::new();
    let builder = Cache::builder().max_entries(100).clock(&clock);
    (configure(builder).build(), clock)
}

const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[test]
fn a_time_to_live_of_zero_stores_nothing_and_removes_what_was_there() {
    let (cache, _clock) = with_clock(|builder| builder.time_to_live(Duration::ZERO));
    cache.insert(1, 1);
    assert!(cache.is_empty());
    cache.insert_with_ttl(1, 1, SECOND);
    assert!(cache.contains(&1));
    cache.insert(1, 2);
    assert!(cache.is_empty());
    cache.validate();
}

#[test]
fn a_time_to_live_without_end_never_expires() {
    let (cache, clock) = with_clock(|builder| builder.time_to_live(Duration::MAX));
    cache.insert(1, 1);
    cache.insert_with_ttl(2, 2, Duration::MAX);
    cache.insert_with_ttl(3, 3, Duration::from_millis(u64::MAX - 2));
    for _ in 0..3 {
        clock.advance(Duration::from_millis(u64::MAX / 4));
        cache.reclaim();
        assert_eq!(cache.len(), 3);
        cache.validate();
    }
    clock.set(Duration::MAX);
    cache.reclaim();
    assert!(cache.contains(&1) && cache.contains(&2) && !cache.contains(&3));
    cache.validate();
}

#[test]
fn an_own_time_to_live_may_be_longer_or_shorter_than_that_of_the_cache() {
    let (cache, clock) = with_clock(|builder| builder.time_to_live(10 * SECOND));
    cache.insert_with_ttl(1, 1, 5 * SECOND);
    cache.insert_with_ttl(2, 2, 20 * SECOND);
    cache.insert(3, 3);
    let live = |cache: &Cache<u32, u32>| [1, 2, 3].map(|key| cache.contains(&key));
    assert_eq!(live(&cache), [true, true, true]);
    clock.advance(5 * SECOND);
    assert_eq!(live(&cache), [false, true, true]);
    clock.advance(5 * SECOND);
    assert_eq!(live(&cache), [false, true, false]);
    clock.advance(10 * SECOND);
    assert_eq!(live(&cache), [false, false, false]);
    cache.reclaim();
    assert!(cache.is_empty());
}

#[test]
fn a_deadline_is_moved_live_to_both_sides() {
    let (cache, clock) = with_clock(|builder| builder);
    cache.insert(1, 1);
    assert!(cache.expire_after(&1, SECOND));
    assert!(cache.expire_after(&1, 10 * SECOND));
    clock.advance(9 * SECOND);
    cache.reclaim();
    assert!(cache.contains(&1));
    assert!(cache.expire_after(&1, Duration::MAX));
    clock.advance(100 * SECOND);
    assert!(cache.expire_after(&1, Duration::ZERO));
    assert!(!cache.contains(&1) && !cache.expire_after(&1, SECOND));
    assert!(!cache.expire_after(&2, SECOND));
    cache.reclaim();
    assert!(cache.is_empty());
    cache.validate();
}

#[test]
fn a_time_to_live_that_is_changed_holds_for_what_is_stored_afterwards() {
    let (cache, clock) = with_clock(|builder| builder.time_to_live(10 * SECOND));
    cache.insert(1, 1);
    cache.set_time_to_live(Some(SECOND));
    cache.insert(2, 2);
    cache.set_time_to_live(None);
    cache.insert(3, 3);
    clock.advance(SECOND);
    assert!(cache.contains(&1) && !cache.contains(&2));
    clock.advance(10 * SECOND);
    assert!(!cache.contains(&1) && cache.contains(&3));
}

#[test]
fn an_idle_time_is_prolonged_by_reads_and_by_nothing_else() {
    let (cache, clock) = with_clock(|builder| builder.time_to_idle(10 * SECOND));
    cache.insert_many([(1, 1), (2, 2), (3, 3)]);
    for _ in 0..5 {
        clock.advance(5 * SECOND);
        cache.reclaim();
        assert!(cache.get(&1).is_some());
        cache.contains(&2);
        cache.iter().for_each(drop);
    }
    assert!(!cache.contains(&2) && !cache.contains(&3));
    clock.advance(10 * SECOND);
    assert!(cache.get(&1).is_none());
    cache.reclaim();
    assert!(cache.is_empty());
}

#[test]
fn an_idle_time_ends_no_later_than_the_time_to_live() {
    let (cache, clock) =
        with_clock(|builder| builder.time_to_idle(10 * SECOND).time_to_live(12 * SECOND));
    cache.insert(1, 1);
    clock.advance(8 * SECOND);
    assert!(cache.get(&1).is_some());
    clock.advance(4 * SECOND);
    assert!(cache.get(&1).is_none());
    cache.insert(2, 2);
    clock.advance(10 * SECOND);
    assert!(cache.get(&2).is_none());
}

#[test]
fn an_idle_time_of_zero_expires_at_once_and_one_without_end_never() {
    let (cache, _clock) = with_clock(|builder| builder.time_to_idle(Duration::ZERO));
    cache.insert(1, 1);
    assert!(cache.get(&1).is_none());
    cache.reclaim();
    assert!(cache.is_empty());
    let (cache, clock) = with_clock(|builder| builder.time_to_idle(Duration::MAX));
    cache.insert(1, 1);
    clock.advance(1_000 * DAY);
    cache.reclaim();
    assert!(cache.contains(&1));
}

#[test]
fn a_clock_that_leaps_far_ahead_expires_everything_that_is_due() {
    for days in [20, 25, 30, 40, 99, 100, 150, 199, 400] {
        let (cache, clock) = with_clock(|builder| builder.time_to_live(DAY).time_to_idle(DAY / 24));
        cache.insert_many((0..50).map(|key| (key, key)));
        clock.advance(days * DAY);
        assert!(cache.get(&1).is_none(), "after {days} days");
        cache.reclaim();
        assert_eq!(cache.len(), 0, "after {days} days");
    }
}

#[test]
fn an_idle_entry_is_gone_after_a_leap_of_weeks() {
    for days in [1, 20, 25, 30, 40] {
        let (cache, clock) = with_clock(|builder| builder.time_to_idle(SECOND));
        cache.insert(1, 1);
        clock.advance(days * DAY);
        assert!(cache.get(&1).is_none(), "after {days} days");
    }
}

#[test]
fn a_clock_that_goes_backwards_prolongs_and_nothing_else() {
    let (cache, clock) =
        with_clock(|builder| builder.time_to_live(10 * SECOND).time_to_idle(10 * SECOND));
    clock.set(100 * SECOND);
    cache.insert(1, 1);
    clock.set(50 * SECOND);
    cache.insert(2, 2);
    assert!(cache.get(&1).is_some() && cache.get(&2).is_some());
    cache.validate();
    clock.set(Duration::ZERO);
    cache.reclaim();
    assert!(cache.get(&1).is_some() && cache.get(&2).is_some());
    clock.set(61 * SECOND);
    assert!(!cache.contains(&2));
    clock.set(111 * SECOND);
    assert!(!cache.contains(&1));
    cache.reclaim();
    assert!(cache.is_empty());
    cache.validate();
}

#[test]
fn jitter_shortens_times_by_no_more_than_its_fraction() {
    let remaining = |fraction: f64| {
        let clock = ManualClock::new();
        let cache = Cache::<u32, u32>::builder()
            .time_to_live(100 * SECOND)
            .jitter(fraction)
            .clock(&clock)
            .build();
        cache.insert_many((0..1_000).map(|key| (key, key)));
        let mut remaining = vec![cache.len()];
        for _ in 0..10 {
            clock.advance(10 * SECOND);
            cache.reclaim();
            remaining.push(cache.len());
        }
        remaining
    };
    for none in [0.0, -1.0, f64::NEG_INFINITY, f64::NAN] {
        assert_eq!(remaining(none)[9..], [1_000, 0], "{none}");
    }
    let half = remaining(0.5);
    assert_eq!((half[4], half[10]), (1_000, 0));
    assert!((200..800).contains(&half[8]), "{half:?}");
    for whole in [1.0, 7.0, f64::INFINITY] {
        let whole = remaining(whole);
        assert!(
            (300..700).contains(&whole[5]) && whole[10] == 0,
            "{whole:?}"
        );
    }
}

#[test]
fn an_expired_entry_that_is_replaced_or_removed_counts_as_expired() {
    let (cache, clock) = with_clock(|builder| builder.time_to_live(SECOND));
    cache.insert_many([(1, 1), (2, 2)]);
    clock.advance(SECOND);
    cache.insert(1, 10);
    assert!(cache.remove(&2).is_none());
    let stats = cache.stats();
    assert_eq!((stats.inserts, stats.updates), (3, 0));
    assert_eq!((stats.expirations, stats.removals), (2, 0));
    assert_eq!(stats.entries, 1);
}

#[test]
fn thousands_of_entries_that_are_due_together_are_reclaimed_in_one_call() {
    let clock = ManualClock::new();
    let cache: Cache<u32, u32> = Cache::builder().time_to_live(SECOND).clock(&clock).build();
    cache.insert_many((0..20_000).map(|key| (key, key)));
    clock.advance(SECOND / 2);
    cache.insert_many((20_000..20_010).map(|key| (key, key)));
    clock.advance(SECOND / 2);
    cache.reclaim();
    assert_eq!(cache.len(), 10);
    cache.validate();
}
