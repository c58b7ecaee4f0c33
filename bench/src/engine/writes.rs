//! Writes on one thread. Keys and values are made before the clock starts; what a store frees of them
//! is its own affair and is timed.

use std::sync::atomic::AtomicBool;

use hotcopy_lab::contenders::{
    Foyer, HashMap, Lru, Moka, Ours, Papaya, QuickCache, QuickCacheUnsync, Setup, TinyUfo, Writes,
    key,
};
use hotcopy_lab::rounds::{Contender, Operation, Pace, measure};

use super::bar::Limit;
use super::hits::{OURS, QUICK_CACHE};
use super::keys::value;
use super::{Section, Value};
use crate::table::rows_of;

pub(super) const NEW: &str = "insert new, room for all";
pub(super) const NEW_EVICTING: &str = "insert new, each evicts one";
pub(super) const OVER: &str = "insert over, 1,000 keys";
pub(super) const REMOVE: &str = "remove";

/// Entries that stay in the store while others come and go.
const RESIDENTS: usize = 10_000;

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Write {
    /// New keys; those of the batch before are removed first.
    New,
    /// New keys in a full store.
    NewEvicting,
    /// Keys that are there.
    Over,
    /// Keys that were inserted just before.
    Remove,
}

struct Writer<S> {
    store: S,
    write: Write,
    /// Keys handed out so far: a new one has never been seen.
    made: usize,
    ready: Vec<(String, Value)>,
    /// Inserted by the last batch.
    inserted: Vec<String>,
}

impl<S: Setup<Value>> Writer<S> {
    fn new(write: Write) -> Self {
        let room = if write == Write::NewEvicting {
            RESIDENTS
        } else {
            2 * RESIDENTS
        };
        let mut store = S::with_room_for(room);
        let residents = if write == Write::Over {
            1_000
        } else {
            RESIDENTS
        };
        for number in 0..residents {
            store.write(key(number), value(number));
        }
        store.settle();
        Writer {
            store,
            write,
            made: residents,
            ready: Vec::new(),
            inserted: Vec::new(),
        }
    }
}

impl<S: Writes<Value>> Operation for Writer<S> {
    fn prepare(&mut self, count: u64) {
        let count = count as usize;
        self.ready.clear();
        for number in self.made..self.made + count {
            let number = if self.write == Write::Over {
                number % 1_000
            } else {
                number
            };
            self.ready.push((key(number), value(number)));
        }
        self.made += count;
        for key in self.inserted.drain(..) {
            self.store.remove(&key);
        }
        match self.write {
            Write::New => self
                .inserted
                .extend(self.ready.iter().map(|(key, _)| key.clone())),
            Write::Remove => {
                for (key, value) in &self.ready {
                    self.store.write(key.clone(), value.clone());
                }
            }
            Write::NewEvicting | Write::Over => {}
        }
    }

    fn run(&mut self, _count: u64) {
        if self.write == Write::Remove {
            for (key, _) in &self.ready {
                self.store.remove(key);
            }
        } else {
            for (key, value) in self.ready.drain(..) {
                self.store.write(key, value);
            }
        }
    }
}

fn contender<S: Setup<Value> + 'static>(write: Write) -> Contender<'static> {
    Contender::new(S::NAME, Writer::<S>::new(write))
}

/// `most` is the bar: ours as a multiple of `quick_cache`.
fn section(title: &'static str, write: Write, pace: Pace, most: f64) -> Section {
    let mut contenders = vec![
        contender::<Ours<Value>>(write),
        contender::<QuickCache<Value>>(write),
        contender::<QuickCacheUnsync<Value>>(write),
        contender::<Moka<Value>>(write),
        contender::<Lru<Value>>(write),
        contender::<Foyer<Value>>(write),
        contender::<TinyUfo<Value>>(write),
    ];
    // Maps would grow without end where others evict.
    if write != Write::NewEvicting {
        contenders.push(contender::<HashMap<Value>>(write));
        contenders.push(contender::<Papaya<Value>>(write));
    }
    let times = measure(&mut contenders, pace, &AtomicBool::new(false));
    let table = rows_of(title, contenders.iter().map(|it| it.name).zip(times));
    let bar = table
        .compare(title, OURS, QUICK_CACHE, "× quick_cache sync")
        .limit(Limit::AtMost(most))
        .aim(Limit::AtMost(1.0));
    Section {
        table,
        bars: vec![bar],
    }
}

pub(super) fn insert_new(pace: Pace) -> Section {
    section(NEW, Write::New, pace, 1.25)
}

pub(super) fn insert_evicting(pace: Pace) -> Section {
    section(NEW_EVICTING, Write::NewEvicting, pace, 1.25)
}

pub(super) fn insert_over(pace: Pace) -> Section {
    section(OVER, Write::Over, pace, 1.5)
}

pub(super) fn remove(pace: Pace) -> Section {
    section(REMOVE, Write::Remove, pace, 1.5)
}
