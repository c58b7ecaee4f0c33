//! The process of a row: reads its specification, measures, and tells.

use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;

use super::super::calls;
use super::super::change::Sightings;
use super::super::plan::Purpose;
use super::super::reading::ReadError;
use super::super::tally::Tally;
use super::closed_loop::{BATCH, drive, drive_batches};
use super::reader::{
    InstantReader, MemoryReader, NoReader, Reader, Refresher, StoreReader, load_into_memory,
};
use super::snapshot::{Window, WindowStart};
use super::{Due, FromRow, RowReading, RowSpec, Work, open_loop};
use crate::connect::WireBytes;
use crate::error::Error;
use crate::meters::pacer::Schedule;
use crate::results::cost::{Load, Path};
use crate::target::RedisUrl;

/// How long a change that is still on its way at the end of the window may take to arrive.
const LAST_CHANGE_GRACE: Duration = Duration::from_secs(2);

/// The whole life of a row's process. What it has to say goes to standard output, line by line.
pub fn run_row_process() -> ExitCode {
    match read_spec().and_then(|spec| measure(&spec)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&FromRow::Failed(error.to_string()));
            ExitCode::FAILURE
        }
    }
}

fn say(message: &FromRow) {
    let mut line = serde_json::to_vec(message).expect("messages are plain data");
    line.push(b'\n');
    let mut stdout = std::io::stdout().lock();
    // If the parent has gone there is nobody to tell, and standard input ends us.
    let _ = stdout.write_all(&line).and_then(|()| stdout.flush());
}

fn read_line() -> Result<String, Error> {
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(0) => Err(Error::Usage(
            "this command is run by `hotcopy cost`, not by hand".into(),
        )),
        Ok(_) => Ok(line),
        Err(error) => Err(Error::system("reading the specification")(error)),
    }
}

fn read_spec() -> Result<RowSpec, Error> {
    serde_json::from_str(&read_line()?)
        .map_err(|error| Error::Usage(format!("not the specification of a row: {error}")))
}

/// Waits until the parent has read its meters too.
fn wait_for_go() -> Result<(), Error> {
    say(&FromRow::Ready);
    read_line().map(drop)
}

/// Ends this process when the parent ends, on systems whose kernel does not do it.
fn end_with_parent() {
    std::thread::spawn(|| {
        let _ = read_line();
        std::process::exit(1);
    });
}

fn measure(spec: &RowSpec) -> Result<(), Error> {
    let url: RedisUrl = spec.url.parse()?;
    let runtime = runtime()?;
    let wire = Arc::new(WireBytes::default());
    match &spec.work {
        Work::Calls { at_most_per_s } => {
            let connection = runtime.block_on(crate::connect::connect(&url, &wire))?;
            wait_for_go()?;
            end_with_parent();
            let calls = runtime
                .block_on(calls::measure(
                    connection,
                    &spec.reading,
                    spec.row_time,
                    *at_most_per_s,
                ))
                .map_err(|error| read_failed(spec, &error))?;
            say(&FromRow::Calls(calls));
        }
        Work::Row {
            purpose,
            load,
            notices,
        } => {
            let row = RowRun {
                spec,
                load: *load,
                count: matches!(purpose, Purpose::Allocator(_)),
                wire,
                runtime,
            };
            let reading = match purpose.path() {
                Path::Store => {
                    let reading = spec.reading.clone();
                    let connecting = StoreReader::connect(&url, reading, spec.pool, &row.wire);
                    let reader = row.runtime.block_on(connecting)?;
                    row.runtime
                        .block_on(reader.warm_up())
                        .map_err(|error| read_failed(spec, &error))?;
                    row.run(Arc::new(reader), None)?
                }
                Path::Memory => {
                    let reading = spec.reading.clone();
                    let loading = load_into_memory(&url, reading, notices.as_ref(), &row.wire);
                    let (reader, refresher) = row.runtime.block_on(loading)?;
                    row.run_instant(reader, refresher)?
                }
                Path::Nothing => row.run_instant(Arc::new(NoReader), None::<Refresher>)?,
            };
            say(&FromRow::Row(Box::new(reading)));
        }
    }
    Ok(())
}

/// A runtime as a service would start it: a thread for each core.
pub(super) fn runtime() -> Result<Runtime, Error> {
    tokio::runtime::Builder::new_multi_thread()
        .thread_name("reader")
        .enable_all()
        .build()
        .map_err(Error::system("starting the runtime"))
}

fn read_failed(spec: &RowSpec, error: &ReadError) -> Error {
    Error::Store {
        doing: spec.reading.command_line(),
        cause: error.to_string(),
    }
}

/// A row that is ready to run.
struct RowRun<'a> {
    spec: &'a RowSpec,
    load: Load,
    count: bool,
    wire: Arc<WireBytes>,
    runtime: Runtime,
}

impl RowRun<'_> {
    /// Reads that wait for the store, one at a time per worker.
    fn run<R: Reader>(
        self,
        reader: Arc<R>,
        refresher: Option<Refresher>,
    ) -> Result<RowReading, Error> {
        match self.load {
            Load::Rate { per_s } => self.run_at_rate(reader, refresher, per_s),
            Load::Full { workers } => self.run_window(refresher, 1, |row| {
                let (runtime, tally, close) = (row.runtime, row.tally, row.close);
                let closed = drive(runtime, &reader, tally, workers, row.end, close)?;
                Ok((closed, None))
            }),
        }
    }

    /// Reads that take nanoseconds: at full load they are timed in batches.
    fn run_instant<R: InstantReader>(
        self,
        reader: Arc<R>,
        refresher: Option<Refresher>,
    ) -> Result<RowReading, Error> {
        match self.load {
            Load::Rate { per_s } => self.run_at_rate(reader, refresher, per_s),
            Load::Full { workers } => self.run_window(refresher, BATCH, |row| {
                let (runtime, tally, close) = (row.runtime, row.tally, row.close);
                let closed = drive_batches(runtime, &reader, tally, workers, row.end, close)?;
                Ok((closed, None))
            }),
        }
    }

    fn run_at_rate<R: Reader>(
        self,
        reader: Arc<R>,
        refresher: Option<Refresher>,
        per_s: f64,
    ) -> Result<RowReading, Error> {
        let row_time = self.spec.row_time;
        // Whether the schedule can be made is known before anything is waited for.
        Schedule::new(Instant::now(), per_s, row_time)
            .map_err(|error| Error::Usage(error.to_string()))?;
        self.run_window(refresher, 1, |row| {
            let schedule = Schedule::new(row.end - row_time, per_s, row_time)
                .expect("it could be made a moment ago");
            let (runtime, tally, close) = (row.runtime, row.tally, row.close);
            let (closed, due) = open_loop::drive(runtime, reader, tally, schedule, row.end, close)?;
            Ok((closed, Some(due)))
        })
    }

    /// Opens the window, lets `drive` fill it, and puts the readings together.
    fn run_window(
        self,
        refresher: Option<Refresher>,
        reads_per_sample: u64,
        drive: impl FnOnce(OpenWindow<'_>) -> Result<(Closed, Option<Due>), ReadError>,
    ) -> Result<RowReading, Error> {
        let tally = Arc::new(Tally::new());
        let follower = refresher.map(|refresher| Follower::start(&self.runtime, refresher));
        wait_for_go()?;
        end_with_parent();
        let start = WindowStart::open(&self.wire, self.count);
        let wire = Arc::clone(&self.wire);
        let closing_tally = Arc::clone(&tally);
        let close = Box::new(move || {
            let window = start.close(&wire, &closing_tally);
            say(&FromRow::WindowClosed);
            // No read starts any more; the last change may still arrive.
            let sightings = follower.map_or_else(|| Ok(Sightings::default()), Follower::finish);
            Closed { window, sightings }
        });
        let open = OpenWindow {
            runtime: self.runtime,
            tally: &tally,
            end: Instant::now() + self.spec.row_time,
            close,
        };
        let (closed, due) = drive(open).map_err(|error| read_failed(self.spec, &error))?;
        let window = closed.window;
        let mut reading = match due {
            Some(due) => window.into_scheduled_reading(&tally, self.spec.row_time, due),
            None => window.into_reading(&tally, reads_per_sample),
        };
        reading.sightings = closed
            .sightings
            .map_err(|error| read_failed(self.spec, &error))?;
        Ok(reading)
    }
}

struct OpenWindow<'a> {
    runtime: Runtime,
    tally: &'a Arc<Tally>,
    end: Instant,
    close: Box<dyn FnOnce() -> Closed>,
}

struct Closed {
    window: Window,
    sightings: Result<Sightings, ReadError>,
}

/// The task that keeps the memory copy fresh during the window.
struct Follower {
    stop: tokio::sync::oneshot::Sender<()>,
    result: mpsc::Receiver<Result<Sightings, ReadError>>,
}

impl Follower {
    fn start(runtime: &Runtime, refresher: Refresher) -> Self {
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let (sender, result) = mpsc::channel();
        runtime.spawn(async move {
            let until = async move { drop(stopped.await) };
            let _ = sender.send(refresher.follow(until, LAST_CHANGE_GRACE).await);
        });
        Follower { stop, result }
    }

    fn finish(self) -> Result<Sightings, ReadError> {
        let _ = self.stop.send(());
        self.result
            .recv()
            .unwrap_or_else(|_| Ok(Sightings::default()))
    }
}

// The memory path is read by every worker at once: it has to be shareable.
const _: fn() = || {
    fn shareable<T: Send + Sync>() {}
    shareable::<MemoryReader>();
};
