//! What a cache may hold: the simple model that `cache_ops` holds it to.
//!
//! Evictions and panics of user code make it uncertain whether a key is there, and in which version; the model
//! keeps all that is possible. What is read must be one of it, and makes it certain again.

use std::collections::{HashMap, HashSet};

use crate::fused::Content;

/// Milliseconds since the clock's beginning.
type Millis = u64;

/// Of what is stored from now on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times {
    pub time_to_live: Option<Millis>,
    pub time_to_idle: Option<Millis>,
    /// Whether up to half of a time to live is taken off.
    pub has_jitter: bool,
}

/// One writing of a key.
#[derive(Debug, Clone, Copy)]
struct Written {
    content: Content,
    /// When it expires: between these two.
    earliest: Millis,
    latest: Millis,
    last_used: Millis,
    /// It has been expired, and may have been reclaimed.
    was_expired: bool,
}

#[derive(Debug, Default)]
struct Known {
    /// What can be there, if anything is.
    possible: Vec<Written>,
    may_be_absent: bool,
}

/// What may be in a cache.
#[derive(Debug)]
pub struct Model {
    known: HashMap<u8, Known>,
    pub times: Times,
    pub now: Millis,
}

impl Written {
    fn is_idle(&self, times: Times, now: Millis) -> bool {
        let unused = now.saturating_sub(self.last_used);
        times.time_to_idle.is_some_and(|limit| unused >= limit)
    }

    fn may_be_expired(&self, times: Times, now: Millis) -> bool {
        self.earliest <= now || self.is_idle(times, now)
    }

    fn is_expired(&self, times: Times, now: Millis) -> bool {
        self.latest <= now || self.is_idle(times, now)
    }
}

impl Model {
    pub fn new(times: Times) -> Self {
        Model {
            known: HashMap::new(),
            times,
            now: 0,
        }
    }

    /// A value was stored, or possibly was if user code panicked.
    pub fn stored(&mut self, content: Content, time_to_live: Option<Millis>, is_sure: bool) {
        let (earliest, latest) = self.deadline(time_to_live);
        let written = Written {
            content,
            earliest,
            latest,
            last_used: self.now,
            was_expired: false,
        };
        let known = self.known.entry(content.name).or_default();
        if is_sure {
            known.possible.clear();
        }
        known.possible.push(written);
        known.may_be_absent = !is_sure;
        self.note_expired();
    }

    fn deadline(&self, time_to_live: Option<Millis>) -> (Millis, Millis) {
        let Some(live) = time_to_live else {
            return (Millis::MAX, Millis::MAX);
        };
        let least = live - if self.times.has_jitter { live / 2 } else { 0 };
        (
            self.now.saturating_add(least),
            self.now.saturating_add(live),
        )
    }

    /// A key was removed, or possibly was.
    pub fn removed(&mut self, name: u8, is_sure: bool) {
        let known = self.known.entry(name).or_default();
        known.may_be_absent = true;
        if is_sure {
            known.possible.clear();
        }
    }

    /// Everything was removed, or some of it.
    pub fn cleared(&mut self, is_sure: bool) {
        for known in self.known.values_mut() {
            known.may_be_absent = true;
            if is_sure {
                known.possible.clear();
            }
        }
    }

    /// Some entries were evicted, but not that of `stored`.
    pub fn evicted(&mut self, stored: Option<u8>) {
        for (name, known) in &mut self.known {
            known.may_be_absent |= Some(*name) != stored;
        }
    }

    /// A live entry has a new time to live.
    pub fn expires_after(&mut self, name: u8, time_to_live: Option<Millis>) {
        let (earliest, latest) = self.deadline(time_to_live);
        let (times, now) = (self.times, self.now);
        let known = self.known.entry(name).or_default();
        known
            .possible
            .retain(|written| !written.is_expired(times, now));
        assert!(!known.possible.is_empty(), "{name} was not there");
        for written in &mut known.possible {
            written.earliest = earliest;
            written.latest = latest;
            written.last_used = now;
        }
        self.note_expired();
    }

    /// The clock was moved.
    pub fn moved_to(&mut self, now: Millis) {
        self.now = now;
        self.note_expired();
    }

    fn note_expired(&mut self) {
        let (times, now) = (self.times, self.now);
        for known in self.known.values_mut() {
            for written in &mut known.possible {
                written.was_expired |= written.may_be_expired(times, now);
            }
        }
    }

    /// A read found this, and counted as a use or not.
    pub fn found(&mut self, name: u8, content: Content, is_use: bool) {
        assert_eq!(content.name, name, "another key's value");
        let known = self.known.entry(name).or_default();
        let written = known
            .possible
            .iter()
            .find(|written| written.content.version == content.version);
        let mut written = *written.unwrap_or_else(|| panic!("a value that is gone: {content:?}"));
        assert!(
            !written.is_expired(self.times, self.now),
            "expired: {written:?}"
        );
        if is_use {
            written.last_used = self.now;
        }
        known.possible = vec![written];
        known.may_be_absent = false;
    }

    /// A read found nothing.
    pub fn missed(&mut self, name: u8) {
        assert!(!self.must_have(name), "{name} is lost: {:?}", self.known);
        let (times, now) = (self.times, self.now);
        if let Some(known) = self.known.get_mut(&name) {
            // What is expired may still be there, and be read again when the clock has gone back.
            known
                .possible
                .retain(|written| written.may_be_expired(times, now));
            known.may_be_absent = true;
        }
    }

    /// A walk found exactly these.
    pub fn walked(&mut self, contents: &[Content]) {
        let mut met = HashSet::new();
        for content in contents {
            assert!(met.insert(content.name), "met twice: {content:?}");
            self.found(content.name, *content, false);
        }
        for name in self.known.keys() {
            assert!(
                met.contains(name) || !self.must_have(*name),
                "not met: {name}"
            );
        }
    }

    /// Whether it may be found.
    pub fn may_have(&self, name: u8) -> bool {
        self.known.get(&name).is_some_and(|known| {
            let mut possible = known.possible.iter();
            possible.any(|written| !written.is_expired(self.times, self.now))
        })
    }

    /// Whether it must be found.
    fn must_have(&self, name: u8) -> bool {
        self.known.get(&name).is_some_and(|known| {
            !known.may_be_absent
                && known.possible.iter().all(|written| {
                    !written.was_expired && !written.may_be_expired(self.times, self.now)
                })
        })
    }

    /// Entries that are possibly expired, and whether or not they were reclaimed.
    pub fn possibly_expired(&self) -> usize {
        self.known
            .values()
            .filter(|known| known.possible.iter().any(|written| written.was_expired))
            .count()
    }
}
