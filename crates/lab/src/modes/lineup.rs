//! Who takes part in a section, and their figures.

use std::sync::atomic::AtomicBool;

use super::object::{Copying, DeepClone, Nothing};
use crate::contenders::{Feature, Get, KeySet, Ours, OursShared, Overwrite, Setup as _, Writes};
use crate::results::modes::{Access, Configuration, Family, Object, Row};
use crate::rounds::{Contender, Pace, measure};

/// All features that one cache of ours can have at once.
pub(super) const EVERYTHING: [Feature; 4] = [
    Feature::MaxEntries,
    Feature::TimeToLive,
    Feature::Jitter,
    Feature::TimeToIdle,
];

/// One line of the tables, and what is timed for it.
struct Entry {
    about: About,
    get: Contender<'static>,
    set: Contender<'static>,
}

/// What the line says beside its figures.
#[derive(Debug, Clone, Copy)]
struct About {
    name: &'static str,
    family: Family,
    configuration: Configuration,
    access: Access,
}

impl Entry {
    /// Reads and writes have a store each, so that neither finds what the other left.
    fn new<S, V>(about: About, set: &KeySet<V>, store: impl Fn() -> S) -> Self
    where
        S: Writes<V> + 'static,
        V: DeepClone,
    {
        let get = Get::starting_at(store(), &set.lookups, 0);
        let overwrite = Overwrite::new(store(), set);
        Entry {
            about,
            get: Contender::new(about.name, get),
            set: Contender::new(about.name, overwrite),
        }
    }
}

/// Measures one number of keys. What was not measured in any round has no row.
pub(super) fn section<V: DeepClone>(
    set: &KeySet<V>,
    object: Object,
    pace: Pace,
    interrupt: &AtomicBool,
) -> Vec<Row> {
    let (mut abouts, mut contenders) = (Vec::new(), Vec::new());
    for entry in entries(set) {
        abouts.push(entry.about);
        contenders.extend([entry.get, entry.set]);
    }
    let times = measure(&mut contenders, pace, interrupt);
    abouts
        .into_iter()
        .zip(times.chunks_exact(2))
        .filter(|(_, times)| times[0].is_some())
        .map(|(about, times)| Row {
            contender: about.name.into(),
            family: about.family,
            configuration: about.configuration,
            access: about.access,
            object,
            keys: set.keys.len() as u64,
            get: times[0],
            set: times[1],
        })
        .collect()
}

fn entries<V: DeepClone>(set: &KeySet<V>) -> Vec<Entry> {
    let nothing = About {
        name: "no-op",
        family: Family::Nothing,
        configuration: Configuration::NothingOn,
        access: Access::None,
    };
    let mut entries = vec![Entry::new(nothing, set, || Nothing)];
    entries.extend(ours(set));
    #[cfg(feature = "peers")]
    entries.extend(peers::entries(set));
    entries
}

fn ours<V: DeepClone>(set: &KeySet<V>) -> Vec<Entry> {
    let with = |features: &[Feature]| {
        let store = Ours::with(features, set.room());
        set.fill(store, Ours::<V>::NAME)
    };
    let about = |configuration, access| About {
        name: Ours::<V>::NAME,
        family: Family::Ours,
        configuration,
        access,
    };
    let all = |access| about(Configuration::AllOn, access);
    let bare = about(Configuration::NothingOn, Access::Borrowed);
    vec![
        Entry::new(bare, set, || with(&[])),
        Entry::new(all(Access::Borrowed), set, || with(&EVERYTHING)),
        Entry::new(all(Access::Shared), set, || OursShared(with(&EVERYTHING))),
        Entry::new(all(Access::Cloned), set, || Copying(with(&EVERYTHING))),
    ]
}

#[cfg(feature = "peers")]
mod peers {
    use super::{About, Access, Configuration, DeepClone, Entry, Family, KeySet};
    use crate::contenders::{
        Foyer, HashMap, Lru, Moka, Papaya, QuickCache, QuickCacheUnsync, Setup, TinyUfo,
    };

    pub(super) fn entries<V: DeepClone>(set: &KeySet<V>) -> Vec<Entry> {
        vec![
            entry::<HashMap<V>, V>(set),
            entry::<QuickCacheUnsync<V>, V>(set),
            entry::<Lru<V>, V>(set),
            entry::<Papaya<V>, V>(set),
            entry::<QuickCache<V>, V>(set),
            entry::<TinyUfo<V>, V>(set),
            entry::<Foyer<V>, V>(set),
            entry::<Moka<V>, V>(set),
        ]
    }

    fn entry<S: Setup<V> + 'static, V: DeepClone>(set: &KeySet<V>) -> Entry {
        let access = if S::LENDS {
            Access::Borrowed
        } else {
            Access::Shared
        };
        let about = About {
            name: S::NAME,
            family: Family::Rust,
            configuration: Configuration::Plain,
            access,
        };
        Entry::new(about, set, || set.filled::<S>())
    }
}
