//! A server's life: bind, run, stop.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Instant, SystemTime};

use hotcopy_engine::bytes::{ByteStore, StoreConfig};
use mio::{Poll, Waker};
use parking_lot::Mutex;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::clients::Clients;
use crate::config::Config;
use crate::error::ServerError;
use crate::event_loop::{EventLoop, WAKER};
use crate::listener::{Listeners, STOP};
use crate::mailbox::{Mailbox, Message};
use crate::pubsub::PubSub;
use crate::scheduled_flush::ScheduledFlush;
use crate::share::LastServed;
use crate::shared::{Discard, LoopCounts, LoopHandle, Shared, Totals};
use crate::slices;

/// Files that the process needs beside its clients' sockets.
const OTHER_FILES: usize = 64;

/// A server that is bound and not yet running.
///
/// ```
/// use hotcopy_server::{Config, Server};
///
/// let config = Config { port: Some(0), ..Config::default() };
/// let server = Server::bind(config)?;
/// println!("listening on {}", server.tcp_addr().unwrap());
/// let stop = server.stop_handle();
/// let running = std::thread::spawn(move || server.run());
/// stop.stop();
/// running.join().unwrap()?;
/// # Ok::<(), hotcopy_server::ServerError>(())
/// ```
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    listeners: Listeners,
    poll: Poll,
    loop_polls: Vec<Poll>,
    stop: StopHandle,
}

/// Stops a server from another thread.
#[derive(Debug, Clone)]
pub struct StopHandle {
    is_stopped: Arc<AtomicBool>,
    waker: Arc<Waker>,
}

impl StopHandle {
    /// Asks the server to stop: nothing more is accepted or executed, replies that are computed are
    /// delivered for a short time, then [`Server::run`] returns. Harmless when it has stopped.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Release);
        // It fails only where the server, and with it the poll, is gone.
        let _ = self.waker.wake();
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Acquire)
    }
}

impl Server {
    /// Opens the listeners and prepares the loops. Raises the process's limit of open files as far
    /// as it may.
    ///
    /// # Errors
    /// If there is nothing to listen on, an address cannot be bound, or the operating system refuses
    /// a poll.
    pub fn bind(config: Config) -> Result<Self, ServerError> {
        let mut config = config;
        config.max_clients = config.max_clients.min(raise_open_files());
        config.threads = config.threads.max(1);
        let tcp = config.port.map(|port| SocketAddr::new(config.bind, port));
        let listeners = Listeners::bind(tcp, config.unix.as_deref())?;
        let mut loop_polls = Vec::new();
        let mut loops = Vec::new();
        for _ in 0..config.threads {
            let poll = Poll::new()?;
            let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
            loop_polls.push(poll);
            loops.push(LoopHandle {
                mailbox: Mailbox::new(waker),
                connections: AtomicUsize::new(0),
                counts: LoopCounts::default(),
                last_served: LastServed::default(),
            });
        }
        let poll = Poll::new()?;
        let stop = StopHandle {
            is_stopped: Arc::default(),
            waker: Arc::new(Waker::new(poll.registry(), STOP)?),
        };
        let store = ByteStore::new(&StoreConfig {
            max_bytes: config.max_memory,
            databases: config.databases,
            max_item_bytes: config.max_item_bytes,
            ..StoreConfig::default()
        });
        let shared = Arc::new(Shared {
            store,
            clients: Clients::default(),
            pubsub: PubSub::default(),
            loops: loops.into(),
            totals: Totals::default(),
            tcp_address: listeners.tcp_address(),
            started: Instant::now(),
            started_at: SystemTime::now(),
            run_id: run_id(),
            request_bytes: AtomicUsize::new(0),
            output_bytes: AtomicUsize::new(0),
            discard: Discard::start()?,
            scheduled_flush: ScheduledFlush::default(),
            sweep: Mutex::default(),
            config,
        });
        Ok(Server {
            shared,
            listeners,
            poll,
            loop_polls,
            stop,
        })
    }

    /// The address that TCP clients reach, with the port that was chosen if 0 was asked for.
    pub fn tcp_addr(&self) -> Option<SocketAddr> {
        self.listeners.tcp_address()
    }

    /// The Unix socket's path.
    pub fn unix_path(&self) -> Option<&Path> {
        self.listeners.unix_path()
    }

    /// What the loops work with, for a test that runs one by hand.
    #[cfg(test)]
    pub(crate) fn into_parts(self) -> (Arc<Shared>, Vec<Poll>) {
        (self.shared, self.loop_polls)
    }

    /// A handle that stops the server.
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// Serves until it is stopped. The Unix socket's file is removed at the end.
    ///
    /// # Errors
    /// If a thread cannot be started, or a loop fails or panics; the other loops are stopped then.
    pub fn run(self) -> Result<(), ServerError> {
        let Server {
            shared,
            listeners,
            mut poll,
            loop_polls,
            stop,
        } = self;
        let mut threads = Vec::new();
        let mut failed = None;
        for (index, loop_poll) in loop_polls.into_iter().enumerate() {
            let event_loop = EventLoop::new(index, loop_poll, Arc::clone(&shared));
            // However the loop ends, a server with a loop less does not go on.
            let stop_all = StopOnDrop(stop.clone());
            let thread = thread::Builder::new().name(format!("hotcopy-loop-{index}"));
            let started = thread.spawn(move || {
                let _stop_all = stop_all;
                slices::ask_for_short_ones();
                event_loop.run()
            });
            match started {
                Ok(thread) => threads.push(thread),
                Err(error) => failed = Some(ServerError::EventLoop(error)),
            }
        }
        if failed.is_none() {
            let accepted = listeners.run(&mut poll, &shared, || stop.is_stopped());
            failed = accepted.err().map(ServerError::EventLoop);
        }
        for each in &shared.loops {
            // A loop that cannot be woken has ended.
            let _ = each.mailbox.post(Message::Stop);
        }
        for (index, thread) in threads.into_iter().enumerate() {
            let ended = match thread.join() {
                Ok(ended) => ended.map_err(ServerError::EventLoop),
                Err(_) => Err(ServerError::LoopPanicked { index }),
            };
            failed = failed.or(ended.err());
        }
        failed.map_or(Ok(()), Err)
    }
}

struct StopOnDrop(StopHandle);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// Raises the soft limit of open files to the hard one; returns how many clients that allows.
fn raise_open_files() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    let in_force = if setrlimit(Resource::Nofile, raised).is_ok() {
        raised.current
    } else {
        limit.current
    };
    let files = in_force.map_or(usize::MAX, |files| {
        usize::try_from(files).unwrap_or(usize::MAX)
    });
    files.saturating_sub(OTHER_FILES).max(1)
}

fn run_id() -> String {
    let digits = || fastrand::digit(16);
    std::iter::repeat_with(digits).take(40).collect()
}
