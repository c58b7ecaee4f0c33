//! What one client's large values cost another client's small reads.

use std::thread;
use std::time::{Duration, Instant};

use hotcopy_lab::meters::pacer::minimize_timer_slack;
use hotcopy_server::slices;

use super::Failure;
use super::peers::{Peer, Server, Setup};
use super::schedule::{Answered, Schedule, median};
use crate::engine::{Bar, Limit, Section};
use crate::table::{Row, Table, columns};

pub(super) const READERS: &str =
    "small reads, 2,000/s on 16 connections, beside 8 readers of 5,000,000 bytes, 4/s each";
pub(super) const WRITERS: &str =
    "small reads, 2,000/s on 16 connections, beside 8 writers of 5,000,000 bytes, 4/s each";
pub(super) const ONE_READER: &str =
    "small reads back to back on one connection, beside one reader of 5,000,000 bytes back to back";

const SMALL_CONNECTIONS: u32 = 16;
const SMALL_PER_S: f64 = 2_000.0;
const SMALL_BYTES: usize = 100;

const LARGE_CONNECTIONS: u32 = 8;
const LARGE_PER_S: f64 = 4.0 * LARGE_CONNECTIONS as f64;
const LARGE_BYTES: usize = 5_000_000;

/// Of one contender in one round.
const ROUND: Duration = Duration::from_secs(3);

/// Small and large requests must not have the same period, or some would always meet.
const SMALL_KEYS: usize = 1_000;

/// What the large clients do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Large {
    Read,
    Write,
}

struct Contender {
    name: &'static str,
    small: Server,
    /// Where the large values go, if that is another server: then only the processor is shared.
    large: Option<Server>,
    rounds: Vec<Round>,
}

struct Round {
    p50_ms: f64,
    p99_ms: f64,
    large_in_time: f64,
}

const FLOOR: &str = "hotcopy, large ones on a second server";

fn setup(peer: Peer) -> Setup {
    Setup {
        // Four are what memcached has by default; the others have as many as there are cores, or one.
        threads: if peer == Peer::Memcached { 4 } else { 2 },
        max_memory_mib: None,
    }
}

fn small_key(number: usize) -> String {
    format!("small:{:06}", number % SMALL_KEYS)
}

fn large_key(number: usize) -> String {
    format!("large:{number:06}")
}

fn start(peer: Peer) -> Result<Server, Failure> {
    let server = peer.start(setup(peer))?;
    let mut connection = server.connect()?;
    for number in 0..SMALL_KEYS {
        connection.set(&small_key(number), &[b's'; SMALL_BYTES])?;
    }
    let value = vec![b'l'; LARGE_BYTES];
    for number in 0..LARGE_CONNECTIONS as usize {
        connection.set(&large_key(number), &value)?;
    }
    Ok(server)
}

impl Contender {
    fn new(peer: Peer) -> Result<Self, Failure> {
        Ok(Contender {
            name: peer.name(),
            small: start(peer)?,
            large: None,
            rounds: Vec::new(),
        })
    }

    fn floor() -> Result<Self, Failure> {
        Ok(Contender {
            name: FLOOR,
            large: Some(start(Peer::Hotcopy)?),
            ..Contender::new(Peer::Hotcopy)?
        })
    }

    fn run(&mut self, large: Large) -> Result<(), Failure> {
        let large_server = self.large.as_ref().unwrap_or(&self.small);
        let value = vec![b'w'; LARGE_BYTES];
        let (small, large) = thread::scope(|scope| {
            let small: Vec<_> = Schedule::staggered(SMALL_CONNECTIONS, SMALL_PER_S, ROUND)
                .enumerate()
                .map(|(number, schedule)| {
                    let connection = self.small.connect();
                    scope.spawn(move || {
                        // What is measured is the server, not how late the measuring thread is told of a
                        // due time or how long it waits for the processor.
                        minimize_timer_slack();
                        slices::ask_for_short_ones();
                        let (mut connection, mut next) = (connection?, number);
                        schedule.run(|| {
                            next += 7;
                            connection.get(&small_key(next)).map(drop)
                        })
                    })
                })
                .collect();
            let large: Vec<_> = Schedule::staggered(LARGE_CONNECTIONS, LARGE_PER_S, ROUND)
                .enumerate()
                .map(|(number, schedule)| {
                    let (connection, value) = (large_server.connect(), &value);
                    scope.spawn(move || {
                        let (mut connection, key) = (connection?, large_key(number));
                        schedule.run(|| match large {
                            Large::Read => connection.get(&key).map(drop),
                            Large::Write => connection.set(&key, value),
                        })
                    })
                })
                .collect();
            (join(small), join(large))
        });
        let mut small = small?;
        self.rounds.push(Round {
            p50_ms: small.percentile_ms(50.0),
            p99_ms: small.percentile_ms(99.0),
            large_in_time: large?.share_in_time(),
        });
        Ok(())
    }

    fn median_of(&self, figure: impl Fn(&Round) -> f64) -> f64 {
        median(self.rounds.iter().map(figure).collect())
    }
}

type Running<'scope> = thread::ScopedJoinHandle<'scope, Result<Answered, Failure>>;

fn join(threads: Vec<Running<'_>>) -> Result<Answered, Failure> {
    let mut all = Answered::default();
    for thread in threads {
        all.join(thread.join().expect("no client panics")?);
    }
    Ok(all)
}

pub(super) fn readers(rounds: u32) -> Result<Section, Failure> {
    section(READERS, Large::Read, rounds)
}

pub(super) fn writers(rounds: u32) -> Result<Section, Failure> {
    section(WRITERS, Large::Write, rounds)
}

fn section(title: &'static str, large: Large, rounds: u32) -> Result<Section, Failure> {
    let mut contenders = vec![
        Contender::new(Peer::Hotcopy)?,
        Contender::floor()?,
        Contender::new(Peer::Memcached)?,
        Contender::new(Peer::Redis)?,
        Contender::new(Peer::Valkey)?,
    ];
    for _ in 0..rounds {
        for contender in &mut contenders {
            contender.run(large)?;
        }
    }
    let table = Table {
        title,
        columns: columns(["p99, ms", "p50, ms", "large ones in time, %"]),
        rows: contenders
            .iter()
            .map(|contender| Row {
                name: contender.name.into(),
                figures: vec![
                    contender.median_of(|round| round.p99_ms),
                    contender.median_of(|round| round.p50_ms),
                    contender.median_of(|round| round.large_in_time) * 100.0,
                ],
            })
            .collect(),
    };
    let ours = Peer::Hotcopy.name();
    let mut bars = vec![
        table
            .compare(title, ours, Peer::Memcached.name(), "× memcached's p99")
            .limit(Limit::AtMost(0.25)),
        table
            .compare(title, ours, Peer::Redis.name(), "× redis 7's p99")
            .limit(Limit::AtMost(0.2)),
        table
            .compare(
                title,
                ours,
                FLOOR,
                "× the floor: the processor alone is shared",
            )
            .aim(Limit::AtMost(1.0)),
        Bar::new(
            title,
            contenders[0].median_of(|round| round.large_in_time),
            "of the large ones in time",
        )
        .limit(Limit::AtLeast(0.95)),
    ];
    if large == Large::Read {
        let at_floor = bars.remove(2).limit(Limit::AtMost(1.5));
        bars.insert(2, at_floor);
    }
    Ok(Section { table, bars })
}

/// Reads small values one after another for a while.
fn read_small(server: &Server) -> Result<Answered, Failure> {
    let mut connection = server.connect()?;
    let mut answered = Answered::default();
    let began = Instant::now();
    while began.elapsed() < ROUND / 3 {
        let due = Instant::now();
        connection.get(&small_key(answered.times.len()))?;
        answered.times.push(due.elapsed());
    }
    Ok(answered)
}

pub(super) fn one_reader(rounds: u32) -> Result<Section, Failure> {
    use std::sync::atomic::{AtomicBool, Ordering};

    let peers = [Peer::Hotcopy, Peer::Memcached, Peer::Redis, Peer::Valkey];
    let mut contenders = Vec::new();
    for peer in peers {
        contenders.push((peer, start(peer)?, Vec::new(), Vec::new()));
    }
    for _ in 0..rounds {
        for (_, server, idle, busy) in &mut contenders {
            idle.push(read_small(server)?.percentile_ms(99.0));
            let is_over = AtomicBool::new(false);
            let mut answered = thread::scope(|scope| {
                let mut connection = server.connect()?;
                let is_over = &is_over;
                let reader = scope.spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        connection.get(&large_key(0))?;
                    }
                    Ok::<(), Failure>(())
                });
                let answered = read_small(server);
                is_over.store(true, Ordering::Relaxed);
                reader.join().expect("no client panics")?;
                answered
            })?;
            busy.push(answered.percentile_ms(99.0));
        }
    }
    let table = Table {
        title: ONE_READER,
        columns: columns(["p99 busy, ms", "p99 idle, ms"]),
        rows: contenders
            .into_iter()
            .map(|(peer, _, idle, busy)| Row {
                name: peer.name().into(),
                figures: vec![median(busy), median(idle)],
            })
            .collect(),
    };
    let ours = &table.rows[0].figures;
    let bars = vec![
        table
            .compare(
                ONE_READER,
                Peer::Hotcopy.name(),
                Peer::Memcached.name(),
                "× memcached's p99",
            )
            .limit(Limit::AtMost(1.0)),
        Bar::new(ONE_READER, ours[0] / ours[1], "× idle").aim(Limit::AtMost(1.3)),
    ];
    Ok(Section { table, bars })
}
