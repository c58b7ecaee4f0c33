//! What a cell promises, one case at a time, and under load.

use std::cell::RefCell;
use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Weak};
use std::thread;

use super::{ValueCell, ValueRef};

/// A value whose end can be seen from outside.
fn watched<T>(value: T) -> (Arc<T>, Weak<T>) {
    let value = Arc::new(value);
    let watch = Arc::downgrade(&value);
    (value, watch)
}

/// Runs something when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Panics when it is dropped, if it says so.
struct Bomb {
    is_armed: bool,
}

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(!self.is_armed, "boom");
    }
}

#[test]
fn a_guard_keeps_the_value_it_was_taken_with() {
    let cell = ValueCell::new(vec![1, 2, 3]);
    let guard = cell.load();
    cell.replace(vec![]);
    assert_eq!(*guard, [1, 2, 3]);
    assert!(cell.load().is_empty());
}

#[test]
fn a_value_that_nobody_borrows_is_dropped_by_its_replacement() {
    let (first, watch) = watched(1);
    let cell = ValueCell::new(first);
    drop(cell.load());
    cell.replace(Arc::new(2));
    assert_eq!(watch.strong_count(), 0);
}

#[test]
fn a_replaced_value_is_dropped_with_the_last_of_its_guards() {
    let (first, watch) = watched(());
    let cell = ValueCell::new(first);
    let guards = [cell.load(), cell.load(), cell.load()];
    cell.replace(Arc::new(()));
    for guard in guards {
        assert_eq!(watch.strong_count(), 1);
        drop(guard);
    }
    assert_eq!(watch.strong_count(), 0);
    assert_eq!(cell.kept(), 0);
}

#[test]
fn the_last_guard_may_be_that_of_another_thread() {
    let (first, watch) = watched(());
    let cell = ValueCell::new(first);
    let guard = cell.load();
    thread::scope(|scope| {
        scope.spawn(|| {
            let guard = cell.load();
            cell.replace(Arc::new(()));
            drop(guard);
        });
    });
    assert_eq!(watch.strong_count(), 1);
    drop(guard);
    assert_eq!(watch.strong_count(), 0);
}

#[test]
fn an_owned_value_outlives_its_cell() {
    let (first, watch) = watched("kept");
    let cell = ValueCell::new(first);
    let owned = cell.load_owned();
    cell.replace(Arc::new("new"));
    drop(cell);
    assert_eq!(**owned, "kept");
    drop(owned);
    assert_eq!(watch.strong_count(), 0);
}

#[test]
fn a_cell_drops_its_value() {
    let (only, watch) = watched(());
    drop(ValueCell::new(only));
    assert_eq!(watch.strong_count(), 0);
}

#[test]
fn a_guard_that_never_ends_keeps_one_value_and_no_other() {
    let (first, watch) = watched(0);
    let cell = ValueCell::new(first);
    let guard = cell.load();
    for n in 1..1_000 {
        cell.replace(Arc::new(n));
        drop(cell.load());
        assert_eq!(cell.kept(), 1);
    }
    assert_eq!(**guard, 0);
    assert_eq!(watch.strong_count(), 1);
}

#[test]
fn a_forgotten_guard_keeps_one_value_until_the_cell_is_dropped() {
    let (first, watch) = watched(0);
    let cell = ValueCell::new(first);
    forget(cell.load());
    for n in 1..1_000 {
        cell.replace(Arc::new(n));
        assert_eq!(cell.kept(), 1);
    }
    assert_eq!(watch.strong_count(), 1);
    drop(cell);
    assert_eq!(watch.strong_count(), 0);
}

#[test]
fn guards_forgotten_on_threads_that_end_keep_one_value_each() {
    let cell = ValueCell::new(0);
    for n in 1..=10 {
        thread::scope(|scope| {
            scope.spawn(|| forget(cell.load()));
        });
        cell.replace(n);
    }
    assert_eq!(cell.kept(), 10);
    cell.replace(11);
    assert_eq!(cell.kept(), 10);
}

#[test]
fn a_guard_dropped_while_its_thread_ends_gives_its_value_free() {
    static CELL: LazyLock<ValueCell<Arc<u8>>> = LazyLock::new(|| ValueCell::new(Arc::new(0)));
    thread_local! {
        static KEPT: RefCell<Option<ValueRef<'static, Arc<u8>>>> = const { RefCell::new(None) };
    }
    // Destructors run in the opposite order of first uses: the guard's goes before the engine's own, and after.
    for is_last in [false, true] {
        let (value, watch) = watched(1);
        CELL.replace(value);
        let reader = thread::spawn(move || {
            if is_last {
                KEPT.with(|_| ());
            }
            let guard = CELL.load();
            KEPT.set(Some(guard));
            CELL.replace(Arc::new(2));
        });
        reader.join().expect("the thread ends");
        assert_eq!(watch.strong_count(), 0);
    }
}

#[test]
fn ten_thousand_guards_at_once_are_each_good() {
    let cell = ValueCell::new(0);
    let mut guards = Vec::new();
    for n in 0..10_000 {
        if n % 100 == 0 {
            cell.replace(n);
        }
        guards.push(cell.load());
    }
    assert_eq!(cell.kept(), 99);
    for (n, guard) in guards.iter().enumerate() {
        assert_eq!(**guard, n - n % 100);
    }
    // From the front, from the back, and from between.
    guards.drain(..3_000);
    assert_eq!(cell.kept(), 69);
    guards.truncate(4_000);
    assert_eq!(cell.kept(), 40);
    while !guards.is_empty() {
        guards.swap_remove(guards.len() / 2);
    }
    assert_eq!(cell.kept(), 0);
}

#[test]
fn a_cell_in_a_cell_is_read_through_both_guards() {
    let (first, watch) = watched(1);
    let outer = ValueCell::new(ValueCell::new(first));
    let inner = outer.load();
    let value = inner.load();
    outer.replace(ValueCell::new(Arc::new(2)));
    inner.replace(Arc::new(3));
    assert_eq!((**value, **inner.load(), **outer.load().load()), (1, 3, 2));
    drop(value);
    assert_eq!(watch.strong_count(), 0);
    drop(inner);
    assert_eq!((outer.kept(), **outer.load().load()), (0, 2));
}

#[test]
fn a_value_whose_drop_uses_the_cell_finds_it_in_order() {
    struct Node;
    impl Drop for Node {
        fn drop(&mut self) {
            let _borrowed = CELL.load();
            CELL.replace(None);
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
    static CELL: LazyLock<ValueCell<Option<Node>>> = LazyLock::new(|| ValueCell::new(None));
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    // By a replacement.
    CELL.replace(Some(Node));
    CELL.replace(None);
    assert_eq!(DROPPED.load(Ordering::Relaxed), 1);
    // By the end of a guard.
    CELL.replace(Some(Node));
    let guard = CELL.load();
    CELL.replace(None);
    assert_eq!(DROPPED.load(Ordering::Relaxed), 1);
    drop(guard);
    assert_eq!(DROPPED.load(Ordering::Relaxed), 2);
    assert_eq!(CELL.kept(), 0);
}

#[test]
fn a_drop_that_panics_leaves_the_cell_in_order() {
    let bomb = |is_armed| Bomb { is_armed };
    let cell = ValueCell::new(bomb(true));
    let replaced = catch_unwind(AssertUnwindSafe(|| cell.replace(bomb(true))));
    assert!(replaced.is_err(), "the panic comes through");
    let guard = cell.load();
    cell.replace(bomb(false));
    let ended = catch_unwind(AssertUnwindSafe(move || drop(guard)));
    assert!(ended.is_err(), "the panic comes through");
    assert_eq!(cell.kept(), 0);
    cell.replace(bomb(true));
    let (first, second) = (cell.load(), cell.load());
    // Two that panic, dropped by one call: as if by a thread that was interrupted.
    forget((first, second));
    cell.replace(bomb(true));
    let dropped = catch_unwind(AssertUnwindSafe(move || drop(cell)));
    assert!(dropped.is_err(), "the first panic comes through");
}

#[test]
fn a_panic_while_a_guard_lives_does_not_become_an_abort() {
    let cell = ValueCell::new(Bomb { is_armed: true });
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let _guard = cell.load();
        cell.replace(Bomb { is_armed: false });
        panic!("outside");
    }));
    let message = unwound.expect_err("it panicked");
    assert_eq!(message.downcast_ref(), Some(&"outside"));
}

#[test]
fn values_without_size_are_dropped_one_by_one() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Nothing;
    impl Drop for Nothing {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
    assert_eq!(size_of::<Nothing>(), 0);
    let cells: Vec<_> = (0..100).map(|_| ValueCell::new(Nothing)).collect();
    let guards: Vec<_> = cells.iter().map(ValueCell::load).collect();
    cells.iter().for_each(|cell| cell.replace(Nothing));
    assert_eq!(DROPPED.load(Ordering::Relaxed), 0);
    for (n, guard) in guards.into_iter().enumerate() {
        drop(guard);
        assert_eq!(DROPPED.load(Ordering::Relaxed), n + 1);
    }
    drop(cells);
    assert_eq!(DROPPED.load(Ordering::Relaxed), 200);
}

#[test]
fn large_and_aligned_values_are_whole() {
    #[derive(Clone, Copy, PartialEq, Debug)]
    #[repr(align(4096))]
    struct Large([u64; 8_192]);
    let cell = ValueCell::new(Large([1; 8_192]));
    let guard = cell.load();
    cell.replace(Large([2; 8_192]));
    assert!(guard.0.iter().all(|n| *n == 1));
    assert!(cell.load().0.iter().all(|n| *n == 2));
    assert_eq!((&raw const *guard).addr() % 4_096, 0);
}

#[test]
fn a_cell_of_borrowed_values_lives_as_long_as_they() {
    let text = String::from("borrowed");
    let cell: ValueCell<&str> = ValueCell::new(&text);
    let owned = cell.load_owned();
    cell.replace("static");
    assert_eq!((*owned, *cell.load()), ("borrowed", "static"));
}

#[test]
fn a_dropped_cache_leaves_the_guards_of_cells() {
    let (first, watch) = watched(());
    let cell = ValueCell::new(first);
    let guard = cell.load();
    let cache = crate::cache::Cache::builder().max_entries(100).build();
    cache.insert(1, 1);
    forget(cache.get(&1));
    drop(cache);
    cell.replace(Arc::new(()));
    assert_eq!(watch.strong_count(), 1);
    drop(guard);
    assert_eq!(watch.strong_count(), 0);
}

#[test]
fn guards_and_cells_print_their_value() {
    let cell = ValueCell::new(7);
    assert_eq!(format!("{cell:?}"), "ValueCell(7)");
    assert_eq!(format!("{:?}", cell.load()), "ValueRef(7)");
}

#[test]
fn readers_never_see_a_value_go_backwards() {
    let cell = ValueCell::new(0_u64);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut last = 0;
                while !done.load(Ordering::Relaxed) {
                    let now = *cell.load();
                    assert!(now >= last, "{now} after {last}");
                    last = now;
                }
            });
        }
        (1..=2_000).for_each(|n| cell.replace(n));
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(*cell.load_owned(), 2_000);
}

/// Two words that must agree, on the heap so that a sanitizer sees a read too late.
struct Pair(Box<[u64; 2]>);

#[test]
fn under_load_every_value_is_whole_and_dropped_as_soon_as_it_can_be() {
    const REPLACEMENTS: u64 = 3_000;
    const HELD: usize = 20;
    let alive = &AtomicUsize::new(0);
    let make = |n| {
        alive.fetch_add(1, Ordering::Relaxed);
        let drop = OnDrop(move || {
            alive.fetch_sub(1, Ordering::Relaxed);
        });
        (Pair(Box::new([n, !n])), drop)
    };
    let cells = [(); 3].map(|()| ValueCell::new(make(0)));
    let writing = &AtomicUsize::new(2);
    thread::scope(|scope| {
        for seed in 0..3 {
            let cells = &cells;
            scope.spawn(move || {
                let mut random = fastrand::Rng::with_seed(seed);
                let mut held = Vec::new();
                while writing.load(Ordering::Relaxed) > 0 {
                    let cell = random.choice(cells).expect("there are some");
                    held.push(cell.load());
                    let one: &(Pair, _) = random.choice(&held).expect("one was just put there");
                    assert_eq!(one.0.0[0], !one.0.0[1]);
                    if random.u8(..) == 0 {
                        let owned = cell.load_owned();
                        assert_eq!(owned.0.0[0], !owned.0.0[1]);
                    }
                    while held.len() > random.usize(..HELD) {
                        held.swap_remove(random.usize(..held.len()));
                    }
                }
            });
        }
        for writer in 0..2 {
            let (cells, make) = (&cells, &make);
            scope.spawn(move || {
                for n in 0..REPLACEMENTS {
                    cells[(n + writer) as usize % cells.len()].replace(make(n));
                }
                writing.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
    // No guard is left, so one version of each is: but for one that a reader of another cell named too late.
    let kept: usize = cells.iter().map(ValueCell::kept).sum();
    assert_eq!(alive.load(Ordering::Relaxed), cells.len() + kept);
    assert!(kept <= 3, "{kept}");
    cells.iter().for_each(|cell| cell.replace(make(1)));
    assert_eq!(alive.load(Ordering::Relaxed), cells.len());
    drop(cells);
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}
