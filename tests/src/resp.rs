//! A blocking RESP2 and RESP3 client that shares no code with the server's codec and checks every byte.

mod client;
mod reply;

pub use client::{Address, Client, ClientError, Protocol};
pub use reply::Reply;
