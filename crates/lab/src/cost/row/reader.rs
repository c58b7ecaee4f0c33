//! The ways to read: from the store, from memory, and nothing at all.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use hotcopy::Hot;
use redis::aio::MultiplexedConnection;

use super::super::board::RevisionBoard;
use super::super::change::{Notices, Sighting, Sightings};
use super::super::clock::monotonic_now;
use super::super::reading::{Decoded, ReadError, Reading, payload_len};
use super::super::tally::ReadCost;
use crate::connect::{WireBytes, connect, subscribe};
use crate::error::Error;
use crate::target::RedisUrl;
use crate::value;

/// One way to read the value.
pub(super) trait Reader: Send + Sync + 'static {
    /// Does the read of this number. Successive numbers take the connections of a pool in turn: how
    /// many are used must not depend on how many workers there happen to be.
    fn read(&self, number: u64) -> impl Future<Output = Result<ReadCost, ReadError>> + Send;
}

/// A way to read that takes nanoseconds and never waits.
pub(super) trait InstantReader: Reader {
    /// Reads so many times; true if the value was an old version at the end.
    fn read_batch(&self, reads: u64) -> bool;
}

/// Command and decode on every request, over a pool of connections.
pub(super) struct StoreReader {
    pool: Vec<MultiplexedConnection>,
    reading: Reading,
}

impl StoreReader {
    pub(super) async fn connect(
        url: &RedisUrl,
        reading: Reading,
        pool: usize,
        wire: &Arc<WireBytes>,
    ) -> Result<Self, Error> {
        let mut connections = Vec::with_capacity(pool);
        for _ in 0..pool {
            connections.push(connect(url, wire).await?);
        }
        Ok(StoreReader {
            pool: connections,
            reading,
        })
    }

    /// Reads once on each connection, so that no row pays for a first time.
    pub(super) async fn warm_up(&self) -> Result<(), ReadError> {
        for number in 0..self.pool.len() as u64 {
            self.read(number).await?;
        }
        Ok(())
    }
}

impl Reader for StoreReader {
    async fn read(&self, number: u64) -> Result<ReadCost, ReadError> {
        let turn = (number % self.pool.len() as u64) as usize;
        let mut connection = self.pool[turn].clone();
        let reply = self.reading.fetch(&mut connection).await?;
        let payload_bytes = payload_len(&reply);
        let started = Instant::now();
        let decoded = self.reading.decode(reply)?;
        let decode = Some(started.elapsed());
        decoded.observe();
        Ok(ReadCost {
            payload_bytes,
            decode,
            stale: false,
        })
    }
}

/// One version of the value as it lies in memory.
struct Version {
    decoded: Decoded,
    revision: u64,
}

/// Decoded once, shared, read through `Hot<T>`.
pub(super) struct MemoryReader {
    hot: Hot<Version>,
    board: Option<RevisionBoard>,
    seen: AtomicU64,
}

/// What keeps the memory copy fresh while the value changes.
pub(super) struct Refresher {
    reader: Arc<MemoryReader>,
    reading: Reading,
    connection: MultiplexedConnection,
    notices: redis::aio::PubSub,
    sightings: Sightings,
}

/// The reader, and with `--change-every` what refreshes it.
pub(super) async fn load_into_memory(
    url: &RedisUrl,
    reading: Reading,
    notices: Option<&Notices>,
    wire: &Arc<WireBytes>,
) -> Result<(Arc<MemoryReader>, Option<Refresher>), Error> {
    // Subscribe first, then read: a change between the two is told, not lost.
    let subscription = match notices {
        Some(notices) => Some(subscribe(url, wire, &notices.channel).await?),
        None => None,
    };
    let board = notices
        .map(|notices| RevisionBoard::open(&notices.board))
        .transpose()
        .map_err(Error::system("opening the shared revision"))?;
    let mut connection = connect(url, wire).await?;
    let (version, _) = read_version(&reading, &mut connection)
        .await
        .map_err(|error| Error::Store {
            doing: reading.command_line(),
            cause: error.to_string(),
        })?;
    let seen = AtomicU64::new(version.revision);
    let reader = Arc::new(MemoryReader {
        hot: Hot::new(version),
        board,
        seen,
    });
    let refresher = subscription.map(|notices| Refresher {
        reader: Arc::clone(&reader),
        reading,
        connection,
        notices,
        sightings: Sightings::default(),
    });
    Ok((reader, refresher))
}

async fn read_version(
    reading: &Reading,
    connection: &mut MultiplexedConnection,
) -> Result<(Version, Duration), ReadError> {
    let reply = reading.fetch(connection).await?;
    let started = Instant::now();
    let decoded = reading.decode(reply)?;
    let decode_time = started.elapsed();
    let revision = decoded.document().and_then(value::revision_of).unwrap_or(0);
    Ok((Version { decoded, revision }, decode_time))
}

impl Refresher {
    /// Follows the notices until `until` resolves, then as long as a change is still on its way,
    /// at most `grace`.
    pub(super) async fn follow(
        mut self,
        until: impl Future<Output = ()>,
        grace: Duration,
    ) -> Result<Sightings, ReadError> {
        let reader = Arc::clone(&self.reader);
        let caught_up = async {
            until.await;
            let give_up = Instant::now() + grace;
            while Instant::now() < give_up && !reader.is_current() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::pin!(caught_up);
        let mut notices = self.notices.on_message();
        loop {
            tokio::select! {
                () = &mut caught_up => return Ok(self.sightings),
                notice = notices.next() => {
                    if notice.is_none() {
                        return Err(ReadError::Store(redis::RedisError::from((
                            redis::ErrorKind::Io,
                            "the connection that brings the notices was closed",
                        ))));
                    }
                    let (version, _) = read_version(&self.reading, &mut self.connection).await?;
                    let revision = version.revision;
                    self.reader.hot.replace(version);
                    let at = monotonic_now();
                    self.reader.seen.store(revision, Ordering::Relaxed);
                    self.sightings.reloads += 1;
                    self.sightings.list.push(Sighting { revision, at });
                }
            }
        }
    }
}

impl MemoryReader {
    fn is_current(&self) -> bool {
        let newest = self.board.as_ref().map_or(0, RevisionBoard::newest);
        self.seen.load(Ordering::Relaxed) >= newest
    }

    #[inline]
    fn is_stale(&self, revision: u64) -> bool {
        self.board
            .as_ref()
            .is_some_and(|board| revision < board.newest())
    }
}

impl Reader for MemoryReader {
    async fn read(&self, _number: u64) -> Result<ReadCost, ReadError> {
        let version = self.hot.load();
        version.decoded.observe();
        Ok(ReadCost {
            stale: self.is_stale(version.revision),
            ..ReadCost::default()
        })
    }
}

impl InstantReader for MemoryReader {
    #[inline]
    fn read_batch(&self, reads: u64) -> bool {
        for _ in 0..reads {
            // The handle is opaque too: else the load could move out of the loop.
            let version = black_box(&self.hot).load();
            black_box(&*version);
        }
        self.board.is_some() && self.is_stale(self.hot.load().revision)
    }
}

/// Nothing: what the schedule, or the loop, costs by itself.
pub(super) struct NoReader;

impl Reader for NoReader {
    async fn read(&self, number: u64) -> Result<ReadCost, ReadError> {
        black_box(number);
        Ok(ReadCost::default())
    }
}

impl InstantReader for NoReader {
    #[inline]
    fn read_batch(&self, reads: u64) -> bool {
        for read in 0..reads {
            black_box(read);
        }
        false
    }
}
