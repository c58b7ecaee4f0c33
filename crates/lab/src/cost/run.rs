//! One run from start to end: the server, the value in it, the rows, and the result.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::change::{ChangeLog, ChangeWriter, Sightings};
use super::options::Options;
use super::plan::{Pass, Purpose, passes};
use super::progress::Progress;
use super::row::{AllocatorWork, FromRow, RowProcess, RowReading, RowSpec, Work};
use super::value_in_store::ValueInStore;
use super::warnings;
use crate::connect::connect_blocking;
use crate::error::Error;
use crate::inspect::{ServerCpuMeter, server_stamp};
use crate::meters::hiccup::HiccupMeter;
use crate::private_server::PrivateServer;
use crate::results::cost::{
    Allocator, Call, Changes, ClientCpu, Config, CostResult, DecodeTime, Load, Path, Resident, Row,
    SCHEMA, Schedule, ServerCpu, Summary, Transfer,
};
use crate::results::{Histogram, Recorder, WireReading, per_second};
use crate::target::{RedisUrl, Target};

/// How often a waiting run looks at Ctrl-C, the progress bar and the value's time to live.
const TICK: Duration = Duration::from_millis(50);

/// Waiting for a row longer than its time and this means that it hangs.
const ROW_GRACE: Duration = Duration::from_secs(30);

/// Everything that a run holds on to.
pub(super) struct Run<'a> {
    options: &'a Options,
    interrupt: &'a AtomicBool,
    url: RedisUrl,
    connection: redis::Connection,
    value: ValueInStore,
    server_cpu: Option<ServerCpuMeter>,
    result: CostResult,
    // Last, so that it is dropped last: it is the server that the others talk to.
    _server: Option<PrivateServer>,
}

/// Why a run does not go on.
enum Stop {
    Interrupted,
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Failed(error)
    }
}

/// What a row told, and what was read beside it.
struct Observed {
    reading: RowReading,
    server_cpu: Option<ServerCpu>,
    hiccups: Recorder,
}

impl<'a> Run<'a> {
    /// Connects, finds out who the server is, and puts the value in place.
    pub(super) fn open(options: &'a Options, interrupt: &'a AtomicBool) -> Result<Self, Error> {
        let server = match &options.target {
            Target::Embedded => Some(PrivateServer::embedded()?),
            Target::Spawn(words) => Some(PrivateServer::spawn(words)?),
            Target::Redis(_) => None,
        };
        let url = match (&server, &options.target) {
            (Some(server), _) => server.url().clone(),
            (None, Target::Redis(url)) => (**url).clone(),
            (None, _) => unreachable!("every other target has a private server"),
        };
        let started_at = jiff::Timestamp::now().to_string();
        let mut connection = connect_blocking(&url)?;
        let name = options.target.to_string();
        let private_pid = server.as_ref().map(PrivateServer::pid);
        let stamp = server_stamp(&mut connection, &url, name, private_pid)?;
        let server_cpu = ServerCpuMeter::new(stamp.pid, connect_blocking(&url)?);
        let value = ValueInStore::prepare(options, &url, server.is_some(), &mut connection)?;
        let result = CostResult {
            schema: SCHEMA.into(),
            hotcopy_version: env!("CARGO_PKG_VERSION").into(),
            started_at,
            command_line: options.command_line.clone(),
            config: Config {
                value: value.info.clone(),
                decode: value.reading.decode.into(),
                pool: options.pool,
                rate_per_s: options.rate_per_s,
                workers: options.workers,
                seconds: options.row_time.as_secs_f64(),
                instances: options.instances,
                change_every_s: options.change_every.map(|every| every.as_secs_f64()),
                full_load: options.full_load || stamp.local,
            },
            machine: crate::stamp::machine_stamp(),
            server: stamp,
            calls: Vec::new(),
            rows: Vec::new(),
            summary: None,
            changes: None,
            warnings: Vec::new(),
            interrupted: false,
        };
        Ok(Run {
            options,
            interrupt,
            url,
            connection,
            value,
            server_cpu,
            result,
            _server: server,
        })
    }

    /// Measures everything, cleans up, and derives what follows from the rows.
    pub(super) fn measure_all(mut self) -> Result<CostResult, Error> {
        let measured = self.measure();
        if let Some((seed, _)) = &self.value.seed {
            seed.remove(&mut self.connection);
        }
        match measured {
            Ok(()) => {}
            Err(Stop::Interrupted) => self.result.interrupted = true,
            Err(Stop::Failed(error)) => return Err(error),
        }
        let mut result = self.result;
        result.summary = Summary::from_rows(&result.rows, result.config.instances);
        result.warnings = warnings::of(&result);
        Ok(result)
    }

    fn measure(&mut self) -> Result<(), Stop> {
        let passes = passes(self.options, self.result.config.full_load);
        let rows: Duration = passes.iter().map(|pass| pass.time).sum();
        let mut progress = Progress::new(self.options.row_time + rows);

        self.result.calls = self.measure_calls(&mut progress)?;
        let writer = self.start_changing()?;
        let mut sightings = Vec::new();
        let mut measured = Ok(());
        for pass in passes {
            match self.measure_pass(&pass, writer.as_ref(), &mut progress) {
                Ok(observed) => sightings.extend(self.keep(&pass, observed)),
                Err(stop) => {
                    measured = Err(stop);
                    break;
                }
            }
        }
        if let Some(writer) = writer {
            let log = writer.finish()?;
            self.result.changes = Some(arrivals(&log, &sightings));
        }
        measured
    }

    fn start_changing(&self) -> Result<Option<ChangeWriter>, Error> {
        match (self.options.change_every, &self.value.seed) {
            (Some(every), Some((seed, document))) => {
                ChangeWriter::start(&self.url, seed.key(), document.clone(), every).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn spec(&self, work: Work, row_time: Duration) -> RowSpec {
        RowSpec {
            url: self.url.secret().into(),
            reading: self.value.reading.clone(),
            pool: self.options.pool,
            row_time,
            work,
        }
    }

    fn measure_calls(&mut self, progress: &mut Progress) -> Result<Vec<Call>, Stop> {
        // A guest on somebody's server calls at the rate it was given, not as fast as it can.
        let at_most_per_s = (!self.result.config.full_load).then_some(self.options.rate_per_s);
        let time = self.options.row_time;
        let spec = self.spec(Work::Calls { at_most_per_s }, time);
        let mut row = RowProcess::start("one call", &spec)?;
        progress.begin("one call".into(), time);
        self.wait_for(&mut row, progress, ROW_GRACE, |message| {
            matches!(message, FromRow::Ready).then_some(())
        })?;
        row.go()?;
        let limit = time + ROW_GRACE;
        let calls = self.wait_for(&mut row, progress, limit, |message| match message {
            FromRow::Calls(calls) => Some(calls),
            _ => None,
        })?;
        progress.end_step();
        Ok(calls)
    }

    fn measure_pass(
        &mut self,
        pass: &Pass,
        writer: Option<&ChangeWriter>,
        progress: &mut Progress,
    ) -> Result<Observed, Stop> {
        let work = Work::Row {
            purpose: pass.purpose,
            load: pass.load,
            notices: writer.map(|writer| writer.notices().clone()),
        };
        let mut row = RowProcess::start(&pass.name(), &self.spec(work, pass.time))?;
        self.wait_for(&mut row, progress, ROW_GRACE, |message| {
            matches!(message, FromRow::Ready).then_some(())
        })?;
        progress.begin(pass.name(), pass.time);
        let hiccups = HiccupMeter::start().map_err(Error::system("starting the hiccup meter"))?;
        let server_before = self.server_cpu.as_mut().and_then(ServerCpuMeter::read);
        row.go()?;
        let limit = pass.time + ROW_GRACE;
        self.wait_for(&mut row, progress, limit, |message| {
            matches!(message, FromRow::WindowClosed).then_some(())
        })?;
        let server_after = self.server_cpu.as_mut().and_then(ServerCpuMeter::read);
        let hiccups = hiccups.stop();
        progress.end_step();
        let reading = self.wait_for(&mut row, progress, ROW_GRACE, |message| match message {
            FromRow::Row(reading) => Some(*reading),
            _ => None,
        })?;
        let server_cpu = server_before
            .zip(server_after)
            .zip(self.server_cpu.as_ref())
            .map(|((before, after), meter)| {
                ServerCpu::new(after.saturating_sub(before), reading.wall, meter.source())
            });
        Ok(Observed {
            reading,
            server_cpu,
            hiccups,
        })
    }

    /// What `wanted` takes from the first message it wants, looking after everything else meanwhile.
    fn wait_for<T>(
        &mut self,
        row: &mut RowProcess,
        progress: &Progress,
        limit: Duration,
        mut wanted: impl FnMut(FromRow) -> Option<T>,
    ) -> Result<T, Stop> {
        let started = std::time::Instant::now();
        loop {
            if self.interrupt.load(Ordering::Relaxed) {
                return Err(Stop::Interrupted);
            }
            if let Some(found) = row.next(TICK)?.and_then(&mut wanted) {
                return Ok(found);
            }
            progress.tick();
            if let Some((seed, _)) = &mut self.value.seed {
                seed.renew_if_due(&mut self.connection)?;
            }
            if started.elapsed() > limit {
                return Err(row.hangs(limit).into());
            }
        }
    }

    /// Adds what was observed to the result; returns how changes arrived, if it is a row of those.
    fn keep(&mut self, pass: &Pass, observed: Observed) -> Option<RowSightings> {
        let path = pass.purpose.path();
        if let Purpose::Allocator(_) = pass.purpose {
            if let Some(work) = observed.reading.allocator {
                let of_pass = |row: &&mut Row| row.path == path && row.load == pass.load;
                if let Some(row) = self.result.rows.iter_mut().find(of_pass) {
                    row.allocator = Some(allocator(&observed.reading, work));
                }
            }
            return None;
        }
        let pacing = self
            .result
            .row_at_rate(Path::Nothing)
            .filter(|_| pass.load.is_rate())
            .map(|row| row.client_cpu.share_of_core);
        let reading = &observed.reading;
        let sightings = (path == Path::Memory).then(|| RowSightings {
            load: pass.load,
            window: reading.clock.clone(),
            sightings: reading.sightings.clone(),
            stale_reads: reading.stale_reads,
            reads: reading.reads,
        });
        self.result.rows.push(row(pass, observed, pacing));
        sightings
    }
}

/// How changes arrived in a row, before it is known which changes were made.
struct RowSightings {
    load: Load,
    window: std::ops::Range<Duration>,
    sightings: Sightings,
    stale_reads: u64,
    reads: u64,
}

fn arrivals(log: &ChangeLog, rows: &[RowSightings]) -> Changes {
    let of_row = |row: &RowSightings| {
        log.of_row(
            row.load,
            &row.window,
            &row.sightings,
            row.stale_reads,
            row.reads,
        )
    };
    Changes {
        rows: rows.iter().map(of_row).collect(),
    }
}

fn row(pass: &Pass, observed: Observed, pacing_share_of_core: Option<f64>) -> Row {
    let Observed {
        reading,
        server_cpu,
        hiccups,
    } = observed;
    let (window, wall) = (reading.window, reading.wall);
    Row {
        path: pass.purpose.path(),
        load: pass.load,
        window_s: window.as_secs_f64(),
        wall_s: wall.as_secs_f64(),
        reads: reading.reads,
        throughput_per_s: per_second(reading.reads, window),
        schedule: reading
            .due
            .map(|due| Schedule::new(due.due, reading.reads, due.abandoned)),
        lag: reading.lag,
        service: reading.service,
        response: reading.response,
        reads_per_sample: reading.reads_per_sample,
        transfer: Transfer::new(
            reading.payload_bytes,
            reading.reads,
            WireReading {
                out_bytes: reading.wire_out_bytes,
                in_bytes: reading.wire_in_bytes,
                reads: reading.reads_at_close,
            },
            window,
        ),
        decode: DecodeTime::new(reading.decodes, reading.decode_time, window),
        client_cpu: ClientCpu::new(
            reading.cpu,
            wall,
            pacing_share_of_core,
            reading.busiest_thread_share,
        ),
        allocator: None,
        resident: reading.resident_peak_bytes.map(|peak_bytes| Resident {
            end_bytes: reading.resident_end_bytes,
            peak_bytes,
        }),
        server_cpu,
        hiccups: Histogram::from_recorder(&hiccups),
    }
}

fn allocator(reading: &RowReading, work: AllocatorWork) -> Allocator {
    Allocator::new(
        reading.wall,
        reading.reads,
        work.allocations,
        work.frees,
        work.bytes,
        work.time,
    )
}
