//! A connection's socket, TCP or Unix, and the options that bound what the kernel holds for it.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

use mio::event::Source;
use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};
use socket2::{SockRef, TcpKeepalive};

use crate::share::Share;

/// Bound on unsent bytes towards other machines, where a small send buffer would bound the
/// throughput to one buffer per round trip instead.
#[cfg(any(target_os = "linux", target_os = "android"))]
const REMOTE_UNSENT_BYTES: u32 = 128 * 1024;

/// As Redis: a peer that vanished is noticed after about this time.
const KEEPALIVE: Duration = Duration::from_secs(300);

#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    /// Sets the options. A socket that refuses one works without it.
    pub(crate) fn configure(&self) {
        let socket = SockRef::from(self);
        if let Socket::Tcp(stream) = self {
            // A reply waits for nothing: it is written when it is complete.
            let _ = stream.set_nodelay(true);
            let _ = socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE));
        }
        self.set_share(Share::WithOthers);
        if !self.is_local() {
            #[cfg(any(target_os = "linux", target_os = "android"))]
            let _ = socket.set_tcp_notsent_lowat(REMOTE_UNSENT_BYTES);
        }
    }

    /// Bounds what the kernel holds for a peer on this machine.
    pub(crate) fn set_share(&self, share: Share) {
        if self.is_local() {
            let bytes = share.local_send_buffer_bytes();
            let _ = SockRef::from(self).set_send_buffer_size(bytes);
        }
    }

    fn is_local(&self) -> bool {
        match self {
            Socket::Unix(_) => true,
            Socket::Tcp(stream) => stream.peer_addr().is_ok_and(|peer| is_loopback(peer.ip())),
        }
    }

    /// Peer's and own address as `CLIENT LIST` shows them.
    pub(crate) fn addresses(&self) -> (String, String) {
        match self {
            Socket::Tcp(stream) => {
                let show = |address: io::Result<std::net::SocketAddr>| {
                    address.map_or_else(|_| "?:0".to_owned(), |address| address.to_string())
                };
                (show(stream.peer_addr()), show(stream.local_addr()))
            }
            Socket::Unix(stream) => {
                let path = stream
                    .local_addr()
                    .ok()
                    .and_then(|address| Some(address.as_pathname()?.display().to_string()))
                    .unwrap_or_default();
                (format!("{path}:0"), format!("{path}:0"))
            }
        }
    }

    pub(crate) fn is_unix(&self) -> bool {
        matches!(self, Socket::Unix(_))
    }
}

fn is_loopback(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_loopback(),
        IpAddr::V6(v6) => {
            v6.is_loopback() || v6.to_ipv4_mapped().is_some_and(|v4| v4.is_loopback())
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Tcp(stream) => stream.as_fd(),
            Socket::Unix(stream) => stream.as_fd(),
        }
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.read(buffer),
            Socket::Unix(stream) => stream.read(buffer),
        }
    }

    fn read_vectored(&mut self, slices: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.read_vectored(slices),
            Socket::Unix(stream) => stream.read_vectored(slices),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.write_vectored(slices),
            Socket::Unix(stream) => stream.write_vectored(slices),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Source for Socket {
    fn register(&mut self, to: &Registry, token: Token, interest: Interest) -> io::Result<()> {
        match self {
            Socket::Tcp(stream) => stream.register(to, token, interest),
            Socket::Unix(stream) => stream.register(to, token, interest),
        }
    }

    fn reregister(&mut self, to: &Registry, token: Token, interest: Interest) -> io::Result<()> {
        match self {
            Socket::Tcp(stream) => stream.reregister(to, token, interest),
            Socket::Unix(stream) => stream.reregister(to, token, interest),
        }
    }

    fn deregister(&mut self, from: &Registry) -> io::Result<()> {
        match self {
            Socket::Tcp(stream) => stream.deregister(from),
            Socket::Unix(stream) => stream.deregister(from),
        }
    }
}
