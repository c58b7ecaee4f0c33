//! Operations on a cache, against a model of what it may hold: nothing expired, nothing overwritten and
//! nothing of another key is ever read, bounds hold after every operation, sizes and statistics add up, every
//! value is dropped. Keys collide, weighers lie, clocks go back, and user code panics at any of its calls.

#![no_main]

use std::mem;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hotcopy_engine::cache::{Cache, Ref};
use hotcopy_engine::clock::ManualClock;
use hotcopy_fuzz::cache_model::{Model, Times};
use hotcopy_fuzz::fused::{
    Code, Content, Key, Name, Value, assert_all_dropped, attempt, put_out_fuse, set_fuse,
};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

type Entries = Cache<Key, Value>;

#[derive(Debug, Arbitrary)]
struct Setup {
    max_entries: Option<u16>,
    /// In units of 64 bytes.
    max_bytes: Option<u16>,
    weigher: Weigher,
    time_to_live: Ttl,
    time_to_idle: Option<u16>,
    has_jitter: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Arbitrary)]
enum Weigher {
    Honest,
    AlwaysZero,
    /// Never the same twice.
    Lying,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Ttl {
    Millis(u16),
    Seconds(u32),
    Longest,
}

impl Ttl {
    fn duration(self) -> Duration {
        match self {
            Ttl::Millis(millis) => Duration::from_millis(millis.into()),
            Ttl::Seconds(seconds) => Duration::from_secs(seconds.into()),
            Ttl::Longest => Duration::MAX,
        }
    }

    /// None if it is longer than can be told.
    fn millis(self) -> Option<u64> {
        match self {
            Ttl::Longest => None,
            _ => Some(self.duration().as_millis() as u64),
        }
    }
}

#[derive(Debug, Arbitrary)]
enum Op {
    Insert { name: u8, weight: u16 },
    InsertWithTtl { name: u8, weight: u16, ttl: Ttl },
    InsertMany { first: u8, count: u8 },
    Get { name: u8 },
    GetCloned { name: u8 },
    GetMany { names: [u8; 4], hold: bool },
    Hold { name: u8 },
    Release { place: u8 },
    Forget { place: u8 },
    Remove { name: u8, hold: bool },
    Contains { name: u8 },
    ExpireAfter { name: u8, ttl: Ttl },
    SetTimeToLive(Option<Ttl>),
    Clear,
    SetMaxEntries(u16),
    SetMaxBytes(u16),
    Advance { millis: u16 },
    AdvanceDays(u8),
    SetClock { millis: u32 },
    Walk,
    Reclaim,
    Validate,
    CloneHandle,
    DropHandle,
    SetFuse { code: Code, calls: u8 },
}

const BYTES_UNIT: u64 = 64;

/// What the engine adds to what a weigher says.
static OVERHEAD: LazyLock<u64> = LazyLock::new(|| {
    let cache: Entries = Cache::builder().max_bytes(1 << 20).build();
    cache.insert(Key::new(0), value(0, 0, 0));
    cache.weight()
});

/// More borrows than have room in one block of hazard slots.
const MAX_HELD: usize = 20;

fuzz_target!(|input: (Setup, Vec<Op>)| {
    let (setup, ops) = input;
    let _ = *OVERHEAD;
    let clock = ManualClock::new();
    let cache = build(&setup, &clock);
    let mut run = Run::new(&cache, &setup, clock);
    for op in &ops {
        let evictions = cache.stats().evictions;
        let stored = run.apply(op);
        if cache.stats().evictions != evictions {
            run.model.evicted(stored);
        }
        if let Some(name) = stored {
            run.check_contains(name);
        }
        run.check_bounds();
    }
    run.walk();
    cache.validate();
    run.check_statistics();
    drop(run);
    attempt(|| drop(cache));
    put_out_fuse();
    assert_all_dropped();
});

fn build(setup: &Setup, clock: &ManualClock) -> Entries {
    let mut builder = Cache::builder().clock(clock);
    if let Some(max_entries) = setup.max_entries {
        builder = builder.max_entries(max_entries.into());
    }
    if let Some(units) = setup.max_bytes {
        builder = builder.max_bytes(u64::from(units) * BYTES_UNIT);
    }
    let lie = AtomicU64::new(0);
    builder = match setup.weigher {
        Weigher::Honest => builder.weigher(|_, value: &Value| value.weigh()),
        Weigher::AlwaysZero => builder,
        Weigher::Lying => builder.weigher(move |_, value: &Value| {
            value.weigh() ^ lie.fetch_add(0x1_0001, Ordering::Relaxed)
        }),
    };
    if let Some(millis) = setup.time_to_live.millis() {
        builder = builder.time_to_live(Duration::from_millis(millis));
    }
    if let Some(millis) = setup.time_to_idle {
        builder = builder.time_to_idle(Duration::from_millis(millis.into()));
    }
    if setup.has_jitter {
        builder = builder.jitter(0.5);
    }
    builder.build()
}

fn value(name: u8, version: u32, weight: u16) -> Value {
    Value::new(Content {
        name,
        version,
        weight,
    })
}

/// A cache and what is known of it.
struct Run<'a> {
    cache: &'a Entries,
    /// Operations go through the newest.
    handles: Vec<Entries>,
    held: Vec<(Content, Ref<'a, Key, Value>)>,
    model: Model,
    clock: ManualClock,
    weigher: Weigher,
    version: u32,
    max_entries: u64,
    /// If it counts them.
    max_bytes: Option<u64>,
    /// Hits and misses, unless a panic made them unknown.
    reads: Option<u64>,
}

impl<'a> Run<'a> {
    fn new(cache: &'a Entries, setup: &Setup, clock: ManualClock) -> Self {
        Run {
            cache,
            handles: Vec::new(),
            held: Vec::new(),
            model: Model::new(Times {
                time_to_live: setup.time_to_live.millis(),
                time_to_idle: setup.time_to_idle.map(u64::from),
                has_jitter: setup.has_jitter,
            }),
            clock,
            weigher: setup.weigher,
            version: 0,
            max_entries: setup.max_entries.map_or(u64::MAX, u64::from),
            max_bytes: setup.max_bytes.map(|units| u64::from(units) * BYTES_UNIT),
            reads: Some(0),
        }
    }

    fn handle(&self) -> &Entries {
        self.handles.last().unwrap_or(self.cache)
    }

    /// Returns the name of the key that was certainly stored last.
    fn apply(&mut self, op: &Op) -> Option<u8> {
        match *op {
            Op::Insert { name, weight } => return self.insert(name, weight, None),
            Op::InsertWithTtl { name, weight, ttl } => {
                return self.insert(name, weight, Some(ttl));
            }
            Op::InsertMany { first, count } => self.insert_many(first, count),
            Op::Get { name } => self.get_many(&[name], false),
            Op::Hold { name } => self.get_many(&[name], true),
            Op::GetMany { names, hold } => self.get_many(&names, hold),
            Op::GetCloned { name } => self.get_cloned(name),
            Op::Release { place } => drop(self.take_held(place)),
            Op::Forget { place } => mem::forget(self.take_held(place)),
            Op::Remove { name, hold } => self.remove(name, hold),
            Op::Contains { name } => self.check_contains(name),
            Op::ExpireAfter { name, ttl } => self.expire_after(name, ttl),
            Op::SetTimeToLive(ttl) => {
                self.cache.set_time_to_live(ttl.map(Ttl::duration));
                self.model.times.time_to_live = ttl.and_then(Ttl::millis);
            }
            Op::Clear => {
                let is_sure = attempt(|| self.handle().clear()).is_some();
                self.model.cleared(is_sure);
            }
            Op::SetMaxEntries(max_entries) => {
                self.max_entries = max_entries.into();
                attempt(|| self.handle().set_max_entries(max_entries.into()));
            }
            Op::SetMaxBytes(units) => self.set_max_bytes(u64::from(units) * BYTES_UNIT),
            Op::Advance { millis } => {
                self.clock.advance(Duration::from_millis(millis.into()));
                self.model.moved_to(self.clock.now().as_millis() as u64);
            }
            // Idle times are told apart for 46 days only, if nothing looks at the cache meanwhile.
            Op::AdvanceDays(days) if self.model.times.time_to_idle.is_none() => {
                self.clock
                    .advance(Duration::from_secs(u64::from(days) * 86_400));
                self.model.moved_to(self.clock.now().as_millis() as u64);
            }
            Op::AdvanceDays(_) => (),
            Op::SetClock { millis } => self.set_clock(millis),
            Op::Walk => self.walk(),
            Op::Reclaim => drop(attempt(|| self.handle().reclaim())),
            Op::Validate => {
                self.cache.validate();
                self.check_statistics();
            }
            Op::CloneHandle => self.handles.push(self.handle().clone()),
            Op::DropHandle => drop(self.handles.pop()),
            Op::SetFuse { code, calls } => set_fuse(code, calls),
        }
        None
    }

    fn next_content(&mut self, name: u8, weight: u16) -> Content {
        self.version += 1;
        Content {
            name,
            version: self.version,
            weight,
        }
    }

    /// Whether the cache can hold such a value; none if the weigher decides that as it likes.
    fn can_hold(&self, weight: u16) -> Option<bool> {
        let weight = match self.weigher {
            Weigher::Honest => u64::from(weight),
            Weigher::AlwaysZero => 0,
            Weigher::Lying if self.max_bytes.is_some() => return None,
            Weigher::Lying => 0,
        };
        // One byte in 64 is kept for what waits to be freed.
        let fits = self
            .max_bytes
            .is_none_or(|most| *OVERHEAD + weight <= most - most / 64);
        Some(self.max_entries > 0 && fits)
    }

    fn insert(&mut self, name: u8, weight: u16, ttl: Option<Ttl>) -> Option<u8> {
        let content = self.next_content(name, weight);
        let time_to_live = match ttl {
            Some(ttl) => ttl.millis(),
            None => self.model.times.time_to_live,
        };
        let returned = attempt(|| {
            let (key, value) = (Key::new(name), Value::new(content));
            match ttl {
                Some(ttl) => self.handle().insert_with_ttl(key, value, ttl.duration()),
                None => self.handle().insert(key, value),
            }
        });
        let is_stored = match self.can_hold(weight) {
            Some(can_hold) => Some(can_hold && time_to_live != Some(0)),
            None => None,
        };
        match (returned, is_stored) {
            (Some(()), Some(false)) => {
                self.model.removed(name, true);
                self.check_contains(name);
                None
            }
            (Some(()), Some(true)) => {
                self.model.stored(content, time_to_live, true);
                Some(name)
            }
            _ => {
                self.model.stored(content, time_to_live, false);
                None
            }
        }
    }

    fn insert_many(&mut self, first: u8, count: u8) {
        let contents: Vec<Content> = (0..count)
            .map(|offset| self.next_content(first.wrapping_add(offset), offset.into()))
            .collect();
        let entries = contents
            .iter()
            .map(|content| (Key::new(content.name), Value::new(*content)));
        attempt(|| self.handle().insert_many(entries));
        // Each may have driven out those before it.
        for content in contents {
            let time_to_live = self.model.times.time_to_live;
            self.model.stored(content, time_to_live, false);
        }
    }

    fn get_many(&mut self, names: &[u8], hold: bool) {
        let lookups: Vec<Name> = names.iter().copied().map(Name).collect();
        let cache = self.cache;
        let Some(found) = attempt(|| match lookups.as_slice() {
            [one] => vec![cache.get(one)],
            several => cache.get_many(several),
        }) else {
            // Of a single one that panicked, nothing was counted.
            self.reads = self.reads.filter(|_| names.len() == 1);
            return;
        };
        self.reads = self.reads.map(|reads| reads + names.len() as u64);
        for (name, entry) in names.iter().zip(found) {
            let Some(entry) = entry else {
                self.model.missed(*name);
                continue;
            };
            assert_eq!(entry.key().name(), *name);
            self.model.found(*name, entry.content(), true);
            if hold {
                self.hold(entry);
            }
        }
    }

    fn get_cloned(&mut self, name: u8) {
        match attempt(|| self.handle().get_cloned(&Name(name))) {
            Some(Some(value)) => {
                self.reads = self.reads.map(|reads| reads + 1);
                self.model.found(name, value.content(), true);
                attempt(|| drop(value));
            }
            Some(None) => {
                self.reads = self.reads.map(|reads| reads + 1);
                self.model.missed(name);
            }
            None => (),
        }
    }

    fn hold(&mut self, entry: Ref<'a, Key, Value>) {
        if self.held.len() < MAX_HELD {
            self.held.push((entry.content(), entry));
        }
    }

    fn take_held(&mut self, place: u8) -> Option<(Content, Ref<'a, Key, Value>)> {
        let place = usize::from(place).checked_rem(self.held.len())?;
        let (content, entry) = self.held.swap_remove(place);
        assert_eq!(entry.content().version, content.version);
        assert_eq!(entry.key().name(), content.name);
        Some((content, entry))
    }

    fn remove(&mut self, name: u8, hold: bool) {
        let cache = self.cache;
        match attempt(|| cache.remove(&Name(name))) {
            Some(Some(entry)) => {
                self.model.found(name, entry.content(), false);
                self.model.removed(name, true);
                if hold {
                    self.hold(entry);
                }
            }
            Some(None) => {
                self.model.missed(name);
                self.model.removed(name, true);
            }
            None => self.model.removed(name, false),
        }
    }

    fn expire_after(&mut self, name: u8, ttl: Ttl) {
        match attempt(|| self.handle().expire_after(&Name(name), ttl.duration())) {
            Some(true) => self.model.expires_after(name, ttl.millis()),
            Some(false) => self.model.missed(name),
            None => (),
        }
    }

    fn set_max_bytes(&mut self, max_bytes: u64) {
        let counts_bytes = self.max_bytes.is_some();
        if counts_bytes {
            self.max_bytes = Some(max_bytes);
        }
        let was_set = attempt(|| self.handle().set_max_bytes(max_bytes));
        assert!(was_set.is_none_or(|was_set| was_set == counts_bytes));
    }

    fn set_clock(&mut self, millis: u32) {
        // How far back is noticed is bounded where entries expire idle: three days.
        let back = self.model.now.saturating_sub(u64::from(millis));
        let forth = u64::from(millis).saturating_sub(self.model.now);
        const DAY: u64 = 86_400_000;
        if self.model.times.time_to_idle.is_none() || back < DAY && forth < DAY {
            self.clock.set(Duration::from_millis(millis.into()));
            self.model.moved_to(millis.into());
        }
    }

    fn check_contains(&mut self, name: u8) {
        match attempt(|| self.handle().contains(&Name(name))) {
            Some(true) => assert!(self.model.may_have(name), "{name} is gone"),
            Some(false) => self.model.missed(name),
            None => (),
        }
    }

    fn walk(&mut self) {
        let contents: Vec<Content> = self
            .handle()
            .iter()
            .map(|entry| {
                assert_eq!(entry.key().name(), entry.content().name);
                entry.content()
            })
            .collect();
        self.model.walked(&contents);
        // The ticker may reclaim what has expired, at any moment.
        let len = self.cache.len();
        assert!(len >= contents.len() && len <= contents.len() + self.model.possibly_expired());
        if len == contents.len() && self.weigher != Weigher::Lying {
            let weight: u64 = contents.iter().map(|content| self.weight(content)).sum();
            assert_eq!(self.cache.weight(), weight);
        }
    }

    fn weight(&self, content: &Content) -> u64 {
        match (self.max_bytes, self.weigher) {
            (None, _) => 1,
            (Some(_), Weigher::Honest) => *OVERHEAD + u64::from(content.weight),
            (Some(_), _) => *OVERHEAD,
        }
    }

    fn check_bounds(&self) {
        assert!(self.cache.len() as u64 <= self.max_entries);
        let weight = self.cache.weight();
        assert!(self.max_bytes.is_none_or(|most| weight <= most));
    }

    fn check_statistics(&self) {
        let reads = |cache: &Entries| cache.stats().hits + cache.stats().misses;
        assert!(
            self.reads
                .is_none_or(|reads_made| reads_made == reads(self.cache))
        );
        // Again if the ticker reclaims something just now.
        let adds_up = (0..1_000).any(|_| {
            let stats = self.cache.stats();
            stats.inserts == stats.entries + stats.removals + stats.evictions + stats.expirations
        });
        assert!(adds_up, "{:?}", self.cache.stats());
    }
}
