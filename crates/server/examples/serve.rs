//! A server with default settings on a free port, for trying clients out:
//! `cargo run --release -p hotcopy-server --example serve`.

use hotcopy_server::{Config, Server, ServerError};

fn main() -> Result<(), ServerError> {
    let server = Server::bind(Config {
        port: Some(0),
        ..Config::default()
    })?;
    if let Some(address) = server.tcp_addr() {
        println!("{address}");
    }
    server.run()
}
