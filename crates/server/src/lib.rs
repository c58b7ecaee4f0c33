//! The cache server: event loops, connections and commands over the engine's byte store.
//!
//! ```text
//!  clients ──► listener (the thread in Server::run) ── places each on the less loaded of two ──┐
//!                                                                                              ▼
//!        loop 0                      loop 1                     one thread per core, edge-triggered
//!   connections, queues         connections, queues             mailboxes carry new connections and
//!         │      ▲──── mailbox ────▲      │                     published messages between them
//!         ▼                               ▼
//!   command::dispatch, memcached::dispatch ──► handlers ──► engine's ByteStore, registries of clients and subscribers
//! ```
//!
//! [`Server::bind`] opens the listeners, [`Server::run`] serves until a [`StopHandle`] stops it.

mod arriving;
mod clients;
mod command;
mod config;
mod connection;
mod dialect;
mod error;
mod event_loop;
mod input;
mod listener;
mod mailbox;
mod memcached;
mod output;
mod process;
mod pubsub;
mod scheduled_flush;
mod server;
mod session;
mod share;
mod shared;
pub mod slices;
mod socket;
mod turn;

pub use config::{Config, MAX_ITEM_BYTES, Password, Protocol};
pub use error::ServerError;
pub use server::{Server, StopHandle};
