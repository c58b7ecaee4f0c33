//! `--change-every`: the value changes while the rows run, and a notice tells.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::board::{BoardFile, RevisionBoard};
use super::clock::monotonic_now;
use super::seed::{Document, SeedKey};
use crate::error::Error;
use crate::results::cost::{ChangesOfRow, Load};
use crate::target::RedisUrl;

/// Where a row's process learns of changes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Notices {
    pub(super) channel: String,
    pub(super) board: std::path::PathBuf,
}

/// One change, as its writer saw it.
#[derive(Debug, Clone, Copy)]
struct Change {
    revision: u64,
    acknowledged: Duration,
}

/// A change that a row's process has taken over.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Sighting {
    pub(super) revision: u64,
    /// When the new version was readable, on the machine's clock.
    pub(super) at: Duration,
}

/// What a row tells of changes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Sightings {
    pub(super) list: Vec<Sighting>,
    pub(super) reloads: u64,
}

/// Changes the value at a fixed pace, from a thread of its own, until it is stopped.
pub(super) struct ChangeWriter {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Vec<Change>, Error>>,
    notices: Notices,
    // The rows open it through us.
    _board: BoardFile,
}

impl ChangeWriter {
    /// Starts to change the value under `key`.
    pub(super) fn start(
        url: &RedisUrl,
        key: &SeedKey,
        document: Document,
        every: Duration,
    ) -> Result<Self, Error> {
        let sharing = || Error::system("sharing revisions between processes");
        let file = BoardFile::create().map_err(sharing())?;
        let board = RevisionBoard::of(&file).map_err(sharing())?;
        let stop = Arc::new(AtomicBool::new(false));
        let notices = Notices {
            channel: key.channel(),
            board: file.path(),
        };
        let mut connection = crate::connect::connect_blocking(url)?;
        let writer = Writer {
            key: key.clone(),
            channel: notices.channel.clone(),
            document,
            every,
            stop: Arc::clone(&stop),
            board,
        };
        let thread = std::thread::Builder::new()
            .name("changes".into())
            .spawn(move || writer.run(&mut connection))
            .map_err(Error::system("starting a thread"))?;
        Ok(ChangeWriter {
            stop,
            thread,
            notices,
            _board: file,
        })
    }

    pub(super) fn notices(&self) -> &Notices {
        &self.notices
    }

    /// Stops, and returns what was changed when.
    pub(super) fn finish(self) -> Result<ChangeLog, Error> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.thread().unpark();
        let changes = self.thread.join().expect("the writer does not panic")?;
        Ok(ChangeLog { changes })
    }
}

struct Writer {
    key: SeedKey,
    channel: String,
    document: Document,
    every: Duration,
    stop: Arc<AtomicBool>,
    board: RevisionBoard,
}

impl Writer {
    fn run(self, connection: &mut redis::Connection) -> Result<Vec<Change>, Error> {
        let failed = |error: redis::RedisError| Error::Store {
            doing: "changing the value".into(),
            cause: error.to_string(),
        };
        let mut changes = Vec::new();
        let start = monotonic_now();
        for revision in 1.. {
            let bytes = self.document.at_revision(revision);
            let due = start + self.every.mul_f64(revision as f64);
            if self.is_stopped_before(due) {
                break;
            }
            self.key.set(&bytes).exec(connection).map_err(failed)?;
            let acknowledged = monotonic_now();
            self.board.announce(revision);
            let mut notice = redis::cmd("PUBLISH");
            notice
                .arg(&self.channel)
                .arg(revision)
                .exec(connection)
                .map_err(failed)?;
            changes.push(Change {
                revision,
                acknowledged,
            });
        }
        Ok(changes)
    }

    /// Waits until `due`; true if it was stopped meanwhile, or before when it is late already.
    fn is_stopped_before(&self, due: Duration) -> bool {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return true;
            }
            let wait = due.saturating_sub(monotonic_now());
            if wait.is_zero() {
                return false;
            }
            std::thread::park_timeout(wait);
        }
    }
}

/// All changes of a run.
#[derive(Debug)]
pub(super) struct ChangeLog {
    changes: Vec<Change>,
}

impl ChangeLog {
    /// How the changes made in `window` arrived in one row.
    pub(super) fn of_row(
        &self,
        load: Load,
        window: &std::ops::Range<Duration>,
        sightings: &Sightings,
        stale_reads: u64,
        reads: u64,
    ) -> ChangesOfRow {
        let mut lags = Vec::new();
        let made = self
            .changes
            .iter()
            .filter(|change| window.contains(&change.acknowledged));
        let mut count = 0;
        for change in made {
            count += 1;
            // A later version that was read instead covers this one.
            let seen = sightings
                .list
                .iter()
                .find(|seen| seen.revision >= change.revision);
            if let Some(seen) = seen {
                let lag = seen.at.saturating_sub(change.acknowledged);
                lags.push(lag);
            }
        }
        ChangesOfRow::new(load, count, sightings.reloads, &lags, stale_reads, reads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn a_change_counts_as_seen_when_it_or_a_later_version_was_read() {
        let log = ChangeLog {
            changes: [(1, 5), (2, 20), (3, 30), (4, 40), (5, 99)]
                .map(|(revision, at)| Change {
                    revision,
                    acknowledged: ms(at),
                })
                .into(),
        };
        // 1 lies before the window, 2 was overtaken by 3, 4 was never seen, 5 lies after it.
        let sightings = Sightings {
            list: vec![
                Sighting {
                    revision: 1,
                    at: ms(6),
                },
                Sighting {
                    revision: 3,
                    at: ms(31),
                },
            ],
            reloads: 2,
        };
        let load = Load::Rate { per_s: 10.0 };
        let row = log.of_row(load, &(ms(10)..ms(50)), &sightings, 4, 100);
        assert_eq!((row.made, row.seen), (3, 2));
        assert_eq!(
            (row.lag_p50_us, row.lag_max_us),
            (Some(6_000.0), Some(11_000.0))
        );
    }
}
