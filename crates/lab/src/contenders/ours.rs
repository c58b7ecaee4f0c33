//! Our own cache in the configurations that are compared.

use std::time::Duration;

use hotcopy::Cache;

use super::{Payload, Reads, Setup, Writes};

/// Far beyond any run, so that deadlines are looked at and never met.
const LONG: Duration = Duration::from_secs(24 * 3_600);

/// Bytes that no set of a benchmark fills.
const ROOMY_BYTES: u64 = 8 << 30;

/// What can be asked of the cache beyond storing. Statistics are always counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// A bound on the number of entries, with eviction.
    MaxEntries,
    /// A bound on bytes, with a weigher and eviction.
    MaxBytes,
    /// Entries expire after a time.
    TimeToLive,
    /// The same, each a little earlier by chance.
    Jitter,
    /// Entries expire when they are not read.
    TimeToIdle,
    /// Each entry is inserted with a time to live of its own.
    OwnTimeToLive,
}

impl Feature {
    /// All of them.
    pub const ALL: [Feature; 6] = [
        Feature::MaxEntries,
        Feature::MaxBytes,
        Feature::TimeToLive,
        Feature::Jitter,
        Feature::TimeToIdle,
        Feature::OwnTimeToLive,
    ];
}

/// `hotcopy::Cache`. A read borrows.
#[derive(Clone)]
pub struct Ours<V> {
    cache: Cache<String, V>,
    own_time_to_live: bool,
}

impl<V: Payload> Ours<V> {
    /// A cache with these features and no others, with room for so many entries where it is bounded.
    #[must_use]
    pub fn with(features: &[Feature], entries: usize) -> Self {
        let mut builder = Cache::builder();
        for feature in features {
            builder = match feature {
                Feature::MaxEntries => builder.max_entries(entries),
                Feature::MaxBytes => builder
                    .max_bytes(ROOMY_BYTES)
                    .weigher(|key: &String, _| key.len() as u64),
                Feature::TimeToLive => builder.time_to_live(LONG),
                Feature::Jitter => builder.time_to_live(LONG).jitter(0.1),
                Feature::TimeToIdle => builder.time_to_idle(LONG),
                Feature::OwnTimeToLive => builder,
            };
        }
        Ours {
            cache: builder.build(),
            own_time_to_live: features.contains(&Feature::OwnTimeToLive),
        }
    }
}

impl<V: Payload> Reads<V> for Ours<V> {
    fn read<R>(&mut self, key: &String, look: impl FnOnce(&V) -> R) -> Option<R> {
        self.cache.get(key).map(|value| look(&value))
    }
}

impl<V: Payload> Writes<V> for Ours<V> {
    fn write(&mut self, key: String, value: V) {
        if self.own_time_to_live {
            self.cache.insert_with_ttl(key, value, LONG);
        } else {
            self.cache.insert(key, value);
        }
    }

    fn remove(&mut self, key: &String) -> bool {
        self.cache.remove(key).is_some()
    }
}

/// Bounded, with a time to live: what a service would set up.
impl<V: Payload> Setup<V> for Ours<V> {
    const NAME: &'static str = "hotcopy";
    const LENDS: bool = true;

    fn with_room_for(entries: usize) -> Self {
        Ours::with(&[Feature::MaxEntries, Feature::TimeToLive], entries)
    }
}

/// [`Ours`], with a read that clones the value: a handle of one's own, to be kept.
#[derive(Clone)]
pub struct OursShared<V>(pub Ours<V>);

impl<V: Payload> Reads<V> for OursShared<V> {
    fn read<R>(&mut self, key: &String, look: impl FnOnce(&V) -> R) -> Option<R> {
        self.0.cache.get_cloned(key).as_ref().map(look)
    }
}

impl<V: Payload> Writes<V> for OursShared<V> {
    fn write(&mut self, key: String, value: V) {
        self.0.write(key, value);
    }

    fn remove(&mut self, key: &String) -> bool {
        self.0.remove(key)
    }
}
