//! Hits and nothing else, as many as the argument says. `cargo xtask test` counts their instructions
//! under valgrind: the difference of two runs is the path of a hit, without the set-up.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use hotcopy_engine::cache::Cache;

const KEYS: usize = 1_000;

fn main() -> ExitCode {
    let hits = std::env::args().nth(1).and_then(|word| word.parse().ok());
    let Some(hits) = hits else {
        eprintln!("usage: hit_path HITS");
        return ExitCode::from(2);
    };
    let cache: Cache<String, Arc<[u8]>> = Cache::builder()
        .max_entries(10 * KEYS)
        .time_to_live(Duration::from_secs(24 * 3_600))
        .build();
    let keys: Vec<String> = (0..KEYS).map(|n| format!("session:{n:08}")).collect();
    for key in &keys {
        cache.insert(key.clone(), Arc::from([0; 100]));
    }
    let mut found = 0_usize;
    for hit in 0..hits {
        let value = cache.get(black_box(&keys[hit % KEYS]));
        found += usize::from(value.is_some());
        black_box(value);
    }
    assert_eq!(found, hits, "every key is there");
    ExitCode::SUCCESS
}
