//! The server from outside: a client's bytes in, the server's bytes out.

mod bounds;
mod commands;
mod harness;
mod large_values;
mod lifecycle;
mod memcached;
mod pubsub;
mod robustness;
