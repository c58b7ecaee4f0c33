//! Many threads at once. `HOTCOPY_STRESS` is how many times longer than usual they run.

use std::sync::atomic::AtomicBool;

use super::*;

#[test]
fn readers_and_writers_agree_under_load() {
    let cache: Cache<u64, (u64, u64)> = Cache::builder().max_entries(2_000).build();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for seed in 0..2 {
            let (cache, done) = (&cache, &done);
            scope.spawn(move || {
                let mut random = fastrand::Rng::with_seed(seed);
                while !done.load(Ordering::Relaxed) {
                    if let Some(entry) = cache.get(&random.u64(..3_000)) {
                        assert_eq!(entry.0, *entry.key());
                        assert_eq!(entry.1, entry.0 ^ 0xABCD);
                    }
                }
            });
        }
        for seed in 10..12 {
            let cache = &cache;
            scope.spawn(move || {
                let mut random = fastrand::Rng::with_seed(seed);
                for _ in 0..100_000 {
                    let key = random.u64(..3_000);
                    if random.u32(..4) == 0 {
                        cache.remove(&key);
                    } else {
                        cache.insert(key, (key, key ^ 0xABCD));
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_millis(300));
        done.store(true, Ordering::Relaxed);
    });
    assert!(cache.len() <= 2_000);
}

/// How many times longer than usual the tests run.
fn factor() -> u64 {
    let stress = std::env::var("HOTCOPY_STRESS");
    stress
        .ok()
        .and_then(|factor| factor.parse().ok())
        .unwrap_or(1)
}

/// A value that tells if it was dropped while somebody looks.
struct Canary {
    key: u64,
    alive: Arc<AtomicUsize>,
    state: std::sync::atomic::AtomicU64,
}

const ALIVE: u64 = 0x600d_600d_600d_600d;

impl Canary {
    fn new(key: u64, alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Ordering::SeqCst);
        Canary {
            key,
            alive: alive.clone(),
            state: ALIVE.into(),
        }
    }

    fn check(&self, key: u64) {
        assert_eq!(self.state.load(Ordering::Relaxed), ALIVE);
        assert_eq!(self.key, key);
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        assert_eq!(self.state.swap(0, Ordering::Relaxed), ALIVE);
        self.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

#[test]
fn everything_at_once_on_many_threads_leaves_a_cache_in_order() {
    for round in 0..factor() {
        let clock = ManualClock::new();
        let values = Arc::default();
        let builder = Cache::<u64, Canary>::builder().clock(&clock);
        let cache = if round % 2 == 0 {
            builder.max_entries(3_000).build()
        } else {
            builder.max_bytes(200_000).build()
        };
        std::thread::scope(|scope| {
            for thread in 0..6 {
                let (cache, clock, values) = (&cache, &clock, &values);
                scope.spawn(move || act(cache, clock, values, round * 100 + thread));
            }
        });
        cache.validate();
        assert!(cache.len() <= 3_000);
        for entry in cache.iter() {
            entry.check(*entry.key());
        }
        free_all_of(&cache, &values);
        drop(cache);
        eventually(|| alive(&values) == 0);
    }
}

fn act(cache: &Cache<u64, Canary>, clock: &ManualClock, values: &Arc<AtomicUsize>, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut borrows = std::collections::VecDeque::new();
    for _ in 0..15_000 {
        let key = random.u64(..4_000);
        match random.u32(..1_000) {
            0..300 => cache.insert(key, Canary::new(key, values)),
            300..400 => {
                let live = Duration::from_millis(random.u64(..50));
                cache.insert_with_ttl(key, Canary::new(key, values), live);
            }
            400..500 => {
                if let Some(removed) = cache.remove(&key) {
                    removed.check(key);
                }
            }
            500..510 => clock.advance(Duration::from_millis(1)),
            510..512 => cache
                .iter()
                .take(300)
                .for_each(|entry| entry.check(*entry.key())),
            512 if random.u32(..20) == 0 => cache.clear(),
            513 => cache.reclaim(),
            514 => {
                cache.validate();
            }
            515..600 => borrows.extend(cache.get(&key)),
            600..660 => {
                if let Some(borrow) = borrows.pop_front() {
                    let borrow: Ref<'_, u64, Canary> = borrow;
                    borrow.check(*borrow.key());
                }
            }
            _ => {
                if let Some(entry) = cache.get(&key) {
                    entry.check(key);
                }
            }
        }
    }
}

#[test]
fn threads_that_come_and_go_with_borrows_of_each_other_leave_nothing_behind() {
    let values = Arc::default();
    let cache: Cache<u64, Canary> = Cache::builder().max_entries(64).build();
    for round in 0..20 * factor() {
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (cache, values) = (&cache, &values);
                scope.spawn(move || {
                    let mut borrows = Vec::new();
                    for key in 0..100 {
                        let key = (key * (thread + 1) + round) % 100;
                        cache.insert(key, Canary::new(key, values));
                        borrows.extend(cache.get(&(key % 50)));
                    }
                    borrows.iter().for_each(|entry| entry.check(*entry.key()));
                });
            }
        });
        cache.validate();
    }
    free_all_of(&cache, &values);
}
