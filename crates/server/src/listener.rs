//! Accepting connections and placing them on loops.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, TcpListener as StdTcpListener};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use mio::net::{TcpListener, UnixListener, UnixStream};
use mio::{Events, Interest, Poll, Token};
use socket2::{Domain, SockRef, Socket as RawSocket, Type};

use crate::error::ServerError;
use crate::mailbox::Message;
use crate::shared::Shared;
use crate::socket::Socket;

const TCP: Token = Token(0);
const UNIX: Token = Token(1);

/// Wakes the accepting thread up to stop it.
pub(crate) const STOP: Token = Token(2);

/// Connections that may wait to be accepted. The kernel lowers it to its own limit.
const BACKLOG: i32 = 4096;

/// How long nothing is accepted after the process ran out of files or memory: the listener stays
/// readable, so that trying again at once would spin.
const PAUSE: Duration = Duration::from_millis(100);

/// What a server listens on.
#[derive(Debug)]
pub(crate) struct Listeners {
    tcp: Option<TcpListener>,
    unix: Option<UnixSocketFile>,
}

impl Listeners {
    pub(crate) fn bind(tcp: Option<SocketAddr>, unix: Option<&Path>) -> Result<Self, ServerError> {
        if tcp.is_none() && unix.is_none() {
            return Err(ServerError::NothingToListenOn);
        }
        let tcp = tcp.map(|address| {
            bind_tcp(address).map_err(|source| ServerError::BindTcp { address, source })
        });
        Ok(Listeners {
            tcp: tcp.transpose()?,
            unix: unix.map(UnixSocketFile::bind).transpose()?,
        })
    }

    pub(crate) fn tcp_address(&self) -> Option<SocketAddr> {
        self.tcp.as_ref()?.local_addr().ok()
    }

    pub(crate) fn unix_path(&self) -> Option<&Path> {
        self.unix.as_ref().map(|unix| &*unix.path)
    }

    /// Accepts until `is_stopped` says so after a wake-up.
    pub(crate) fn run(
        mut self,
        poll: &mut Poll,
        shared: &Shared,
        is_stopped: impl Fn() -> bool,
    ) -> io::Result<()> {
        if let Some(tcp) = &mut self.tcp {
            poll.registry().register(tcp, TCP, Interest::READABLE)?;
        }
        if let Some(unix) = &mut self.unix {
            poll.registry()
                .register(&mut unix.listener, UNIX, Interest::READABLE)?;
        }
        let mut events = Events::with_capacity(8);
        let mut pause = None;
        while !is_stopped() {
            match poll.poll(&mut events, pause) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            let (tcp, unix) = (&self.tcp, &self.unix);
            let all_tcp = accept_all(shared, || {
                let accepted = tcp.as_ref().map(TcpListener::accept)?;
                Some(accepted.map(|(stream, _)| Socket::Tcp(stream)))
            });
            let all_unix = accept_all(shared, || {
                let accepted = unix.as_ref().map(|unix| unix.listener.accept())?;
                Some(accepted.map(|(stream, _)| Socket::Unix(stream)))
            });
            pause = (!all_tcp || !all_unix).then_some(PAUSE);
        }
        Ok(())
    }
}

/// Accepts until nobody waits; false if it must be tried again later.
fn accept_all(shared: &Shared, accept: impl Fn() -> Option<io::Result<Socket>>) -> bool {
    while let Some(accepted) = accept() {
        match accepted {
            Ok(socket) => place(shared, socket),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock => return true,
                // The peer gave up before it was accepted.
                ErrorKind::ConnectionAborted | ErrorKind::Interrupted => {}
                _ => return false,
            },
        }
    }
    true
}

/// Gives a connection to the less loaded of two loops. Two random ones balance nearly as well as the
/// least loaded of all, and a burst does not land on one loop (Mitzenmacher, "The Power of Two
/// Choices in Randomized Load Balancing", 2001).
fn place(shared: &Shared, mut socket: Socket) {
    if !shared.clients.admit(shared.config.max_clients) {
        let rejected = &shared.totals.rejected_connections;
        rejected.fetch_add(1, Ordering::Relaxed);
        let _ = socket.write(b"-ERR max number of clients reached\r\n");
        return;
    }
    shared.totals.connections.fetch_add(1, Ordering::Relaxed);
    let count = shared.loops.len();
    let first = fastrand::usize(..count);
    let second = (first + 1 + fastrand::usize(..count.max(2) - 1)) % count;
    let load = |index: usize| shared.loops[index].connections.load(Ordering::Relaxed);
    let chosen = if load(second) < load(first) {
        second
    } else {
        first
    };
    shared.loops[chosen]
        .connections
        .fetch_add(1, Ordering::Relaxed);
    // A loop that cannot be woken has ended, and the whole server is about to.
    let _ = shared.mailbox(chosen).post(Message::Adopt(socket));
}

fn bind_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = RawSocket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(TcpListener::from_std(StdTcpListener::from(socket)))
}

/// A Unix socket that listens, and its file, which is removed with it.
#[derive(Debug)]
struct UnixSocketFile {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode, so that a file that took its place meanwhile is left alone.
    identity: Option<(u64, u64)>,
}

impl UnixSocketFile {
    fn bind(path: &Path) -> Result<Self, ServerError> {
        remove_stale(path)?;
        let failed = |source| ServerError::BindUnix {
            path: path.to_owned(),
            source,
        };
        let listener = UnixListener::bind(path).map_err(failed)?;
        SockRef::from(&listener).listen(BACKLOG).map_err(failed)?;
        Ok(UnixSocketFile {
            listener,
            path: path.to_owned(),
            identity: identity(path),
        })
    }
}

impl Drop for UnixSocketFile {
    fn drop(&mut self) {
        if self.identity.is_some() && identity(&self.path) == self.identity {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = fs::symlink_metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// Removes the socket that a killed server left behind. Anything else that is in the way stays.
fn remove_stale(path: &Path) -> Result<(), ServerError> {
    let path = path.to_owned();
    let Ok(metadata) = fs::symlink_metadata(&path) else {
        return Ok(());
    };
    if !metadata.file_type().is_socket() {
        return Err(ServerError::NotASocket { path });
    }
    if UnixStream::connect(&path).is_ok() {
        return Err(ServerError::UnixSocketInUse { path });
    }
    fs::remove_file(&path).map_err(|source| ServerError::BindUnix { path, source })
}
