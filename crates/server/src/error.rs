//! Why a server cannot start or go on.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a server cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Neither a port nor a Unix socket was configured.
    #[error("nothing to listen on: give a port or the path of a Unix socket")]
    NothingToListenOn,
    /// The TCP address cannot be bound.
    #[error("cannot listen on {address}: {source}")]
    BindTcp {
        /// The address.
        address: SocketAddr,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The Unix socket cannot be made.
    #[error("cannot listen on the Unix socket {}: {source}", path.display())]
    BindUnix {
        /// The socket's path.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// Another server answers on the Unix socket.
    #[error("another server listens on the Unix socket {}", path.display())]
    UnixSocketInUse {
        /// The socket's path.
        path: PathBuf,
    },
    /// Something that is not a socket is in the way.
    #[error("{} is in the way and is not a socket", path.display())]
    NotASocket {
        /// The path.
        path: PathBuf,
    },
    /// The operating system refuses a poll, a wake-up channel or a thread.
    #[error("cannot run an event loop: {0}")]
    EventLoop(#[from] io::Error),
    /// An event loop ended by a panic, which is a defect of the server.
    #[error("event loop {index} panicked; this is a defect, please report it")]
    LoopPanicked {
        /// Which loop.
        index: usize,
    },
}
