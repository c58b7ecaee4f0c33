//! Reads and writes of small values on many connections: what they cost the server, and how many it serves.

use std::thread;
use std::time::{Duration, Instant};

use super::Failure;
use super::connection::Connection;
use super::peers::{Peer, Server, Setup};
use super::schedule::{Schedule, median};
use crate::engine::{Bar, Limit, Section};
use crate::table::{Row, Table, columns};

pub(super) const CPU_PIPELINE_1: &str =
    "server CPU per operation, 32 connections, GET:SET 10:1 of 100 bytes, one at a time, 16,000/s";
pub(super) const CPU_PIPELINE_16: &str =
    "server CPU per operation, 32 connections, GET:SET 10:1 of 100 bytes, 16 at a time, 96,000/s";
pub(super) const THROUGHPUT: &str =
    "throughput, 32 connections, GET:SET 10:1 of 100 bytes, one at a time, 2 threads";

const CONNECTIONS: u32 = 32;
const KEYS: usize = 10_000;
const VALUE: [u8; 100] = [b'v'; 100];
/// Every eleventh operation writes.
const WRITE_EVERY: usize = 11;

const ROUND: Duration = Duration::from_secs(1);

const PEERS: [Peer; 4] = [Peer::Hotcopy, Peer::Memcached, Peer::Redis, Peer::Valkey];

fn key(number: usize) -> String {
    format!("key:{:08}", number % KEYS)
}

fn start_all() -> Result<Vec<(Peer, Server, Vec<f64>)>, Failure> {
    let setup = Setup {
        threads: 2,
        max_memory_mib: None,
    };
    let start = |peer: Peer| {
        let server = peer.start(setup)?;
        let mut connection = server.connect()?;
        for number in 0..KEYS {
            connection.set(&key(number), &VALUE)?;
        }
        Ok((peer, server, Vec::new()))
    };
    PEERS.into_iter().map(start).collect()
}

/// One client: so many operations, then their answers.
struct Client {
    connection: Connection,
    made: usize,
}

impl Client {
    /// Operations of client `number`: others begin elsewhere.
    fn new(server: &Server, number: usize) -> Result<Self, Failure> {
        Ok(Client {
            connection: server.connect()?,
            made: number * 997,
        })
    }

    fn run(&mut self, pipeline: usize) -> Result<(), Failure> {
        let operations = self.made..self.made + pipeline;
        self.made += pipeline;
        for operation in operations.clone() {
            let key = key(operation * 7);
            if operation % WRITE_EVERY == 0 {
                self.connection.add_set(&key, &VALUE);
            } else {
                self.connection.add_get(&key);
            }
        }
        self.connection.send()?;
        for operation in operations {
            if operation % WRITE_EVERY == 0 {
                self.connection.take_stored()?;
            } else {
                self.connection.take_value()?;
            }
        }
        Ok(())
    }
}

/// Nanoseconds of the server's processor time for each operation at a rate.
fn cpu_per_operation(server: &Server, pipeline: usize, per_s: f64) -> Result<f64, Failure> {
    let batches_per_s = per_s / pipeline as f64;
    let before = server.cpu()?;
    let batches = thread::scope(|scope| {
        let clients: Vec<_> = Schedule::staggered(CONNECTIONS, batches_per_s, ROUND)
            .enumerate()
            .map(|(number, schedule)| {
                scope.spawn(move || {
                    let mut client = Client::new(server, number)?;
                    schedule.run(|| client.run(pipeline))
                })
            })
            .collect();
        let mut batches = 0;
        for client in clients {
            batches += client.join().expect("no client panics")?.times.len();
        }
        Ok::<usize, Failure>(batches)
    })?;
    let cpu = server.cpu()? - before;
    Ok(cpu.as_nanos() as f64 / (batches * pipeline) as f64)
}

fn throughput_of(server: &Server) -> Result<f64, Failure> {
    let began = Instant::now();
    let operations = thread::scope(|scope| {
        let clients: Vec<_> = (0..CONNECTIONS as usize)
            .map(|number| {
                scope.spawn(move || {
                    let mut client = Client::new(server, number)?;
                    let mut operations = 0_u64;
                    while began.elapsed() < ROUND {
                        client.run(1)?;
                        operations += 1;
                    }
                    Ok::<u64, Failure>(operations)
                })
            })
            .collect();
        let mut operations = 0;
        for client in clients {
            operations += client.join().expect("no client panics")?;
        }
        Ok::<u64, Failure>(operations)
    })?;
    Ok(operations as f64 / began.elapsed().as_secs_f64())
}

fn measure(
    title: &'static str,
    column: &'static str,
    rounds: u32,
    of: impl Fn(&Server) -> Result<f64, Failure>,
) -> Result<Table, Failure> {
    let mut contenders = start_all()?;
    for _ in 0..rounds {
        for (_, server, readings) in &mut contenders {
            readings.push(of(server)?);
        }
    }
    let rows = contenders.into_iter().map(|(peer, _, readings)| Row {
        name: peer.name().into(),
        figures: vec![median(readings)],
    });
    Ok(Table {
        title,
        columns: columns([column]),
        rows: rows.collect(),
    })
}

/// Ours as a multiple of the best of the others, by `best_of`.
fn beside_the_best(table: &Table, best_of: impl Fn(f64, f64) -> f64) -> Bar {
    let peers = table.rows[1..].iter().map(|row| row.figures[0]);
    let best = peers.fold(f64::NAN, best_of);
    let ours = table.rows[0].figures[0];
    Bar::new(table.title, ours / best, "× the best of the others")
}

fn cpu(
    title: &'static str,
    (pipeline, per_s): (usize, f64),
    (bar, aim): (f64, f64),
    rounds: u32,
) -> Result<Section, Failure> {
    let table = measure(title, "ns", rounds, |server| {
        cpu_per_operation(server, pipeline, per_s)
    })?;
    let bar = beside_the_best(&table, f64::min)
        .limit(Limit::AtMost(bar))
        .aim(Limit::AtMost(aim));
    Ok(Section {
        table,
        bars: vec![bar],
    })
}

pub(super) fn cpu_pipeline_1(rounds: u32) -> Result<Section, Failure> {
    cpu(CPU_PIPELINE_1, (1, 16_000.0), (1.1, 0.9), rounds)
}

pub(super) fn cpu_pipeline_16(rounds: u32) -> Result<Section, Failure> {
    cpu(CPU_PIPELINE_16, (16, 96_000.0), (1.0, 0.75), rounds)
}

pub(super) fn throughput(rounds: u32) -> Result<Section, Failure> {
    let table = measure(THROUGHPUT, "operations/s", rounds, throughput_of)?;
    let bar = beside_the_best(&table, f64::max).limit(Limit::AtLeast(1.0));
    Ok(Section {
        table,
        bars: vec![bar],
    })
}
