//! Storing, finding, replacing, removing and walking.

use super::*;

#[test]
fn what_was_inserted_is_found_and_nothing_else() {
    let cache = small();
    cache.insert(1, 10);
    assert_eq!(cache.get(&1).as_deref(), Some(&10));
    assert_eq!(cache.get_cloned(&1), Some(10));
    assert!(cache.get(&2).is_none());
    assert!(cache.contains(&1) && !cache.contains(&2));
    assert_eq!(cache.len(), 1);
}

#[test]
fn keys_are_looked_up_in_borrowed_form() {
    let cache: Cache<String, Arc<[u8]>> = Cache::builder().max_entries(10).build();
    cache.insert("key".to_string(), Arc::from(*b"value"));
    let entry = cache.get("key").expect("present");
    assert_eq!((entry.key().as_str(), &entry[..]), ("key", &b"value"[..]));
    assert!(cache.remove("key").is_some());
    assert!(cache.remove("key").is_none());
}

#[test]
fn a_second_insert_replaces_and_borrows_keep_the_first() {
    let cache = small();
    cache.insert(1, 10);
    let first = cache.get(&1).expect("present");
    cache.insert(1, 11);
    let second = cache.get(&1).expect("present");
    assert_eq!((*first, *second), (10, 11));
    assert_eq!(cache.len(), 1);
    assert_eq!(cache.stats().updates, 1);
}

#[test]
fn many_keys_are_read_and_written_in_one_call() {
    let cache = small();
    cache.insert_many((0..10).map(|key| (key, key * 2)));
    let found = cache.get_many(&[3, 30, 4]);
    let found: Vec<_> = found.iter().map(Option::as_deref).collect();
    assert_eq!(found, [Some(&6), None, Some(&8)]);
}

#[test]
fn clear_removes_everything_and_the_cache_goes_on() {
    let cache = small();
    cache.insert_many((0..50).map(|key| (key, key)));
    cache.clear();
    assert!(cache.is_empty() && cache.iter().next().is_none());
    cache.validate();
    cache.insert(1, 2);
    assert_eq!(cache.get_cloned(&1), Some(2));
    assert_eq!(cache.stats().removals, 50);
}

#[test]
fn a_walk_meets_each_entry_that_stays_once_while_the_cache_grows() {
    let cache: Cache<u32, u32> = Cache::builder().build();
    cache.insert_many((0..1_000).map(|key| (key, key)));
    let mut met = vec![0; 1_000];
    for (step, entry) in (1_000..).zip(cache.iter()) {
        if let Some(times) = met.get_mut(*entry.key() as usize) {
            *times += 1;
        }
        if step < 30_000 {
            cache.insert_many((0..20).map(|key| (step * 20 + key, 0)));
        }
    }
    assert!(met.iter().all(|times| *times == 1), "{met:?}");
}

#[test]
fn a_walk_meets_each_entry_that_stays_once_while_the_cache_shrinks() {
    let cache: Cache<u32, u32> = Cache::builder().build();
    cache.insert_many((0..30_000).map(|key| (key, key)));
    let mut met = vec![0; 500];
    for (step, entry) in (1..1_000).zip(cache.iter()) {
        if let Some(times) = met.get_mut(*entry.key() as usize) {
            *times += 1;
        }
        for key in 0..30 {
            cache.remove(&(30_000 - step * 30 + key));
        }
    }
    cache.iter().for_each(drop);
    assert!(met.iter().all(|times| *times <= 1), "{met:?}");
}

#[test]
fn clones_are_handles_of_one_cache_on_many_threads() {
    let cache: Cache<u32, u32> = Cache::builder().build();
    let threads: Vec<_> = (0..16)
        .map(|thread| {
            let cache = cache.clone();
            std::thread::spawn(move || {
                for key in 0..100 {
                    cache.insert(thread * 100 + key, key);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("inserts do not panic");
    }
    assert_eq!(cache.len(), 1_600);
    assert!((0..1_600).all(|key| cache.get_cloned(&key) == Some(key % 100)));
    cache.validate();
}
