//! `hotcopy serve`: the cache server.

use std::io::Write as _;
use std::process::ExitCode;

use hotcopy_server::{Config, MAX_ITEM_BYTES, Server};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::args::{ServeArgs, Size};
use crate::exit::Failure;

pub(crate) fn run(args: ServeArgs) -> Result<ExitCode, Failure> {
    check_password(&args)?;
    let mut config = Config {
        bind: args.bind,
        port: Some(args.port),
        unix: args.unix,
        protocol: args.protocol.into(),
        ..Config::default()
    };
    if let Some(threads) = args.threads {
        config.threads = threads.get();
    }
    if let Some(max_clients) = args.max_clients {
        config.max_clients = max_clients.get();
    }
    config.max_memory = args.max_memory.map(|size| size.0);
    config.max_item_bytes = max_item_bytes(args.max_item_size)?;
    config.idle_timeout = args.idle_timeout.map(|it| it.0);
    config.write_timeout = args.write_timeout.0;
    config.stop_grace = args.stop_grace.0;
    config.password = args.password.map(Into::into);
    let threads = config.threads;

    let mut signals = Signals::new([SIGINT, SIGTERM])
        .map_err(|error| Failure::run(format_args!("catching signals: {error}")))?;
    let server = Server::bind(config).map_err(Failure::run)?;
    let stop = server.stop_handle();
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            stop.stop();
        }
    });
    announce(&server, threads)?;
    server.run().map_err(Failure::run)?;
    Ok(ExitCode::SUCCESS)
}

fn max_item_bytes(size: Size) -> Result<usize, Failure> {
    let bytes = usize::try_from(size.0).unwrap_or(usize::MAX);
    if bytes > MAX_ITEM_BYTES {
        return Err(Failure::usage(
            "--max-item-size is more than the 512mb that a request can carry",
        ));
    }
    Ok(bytes)
}

/// A server that others can reach and write to shall not be the result of an omission.
fn check_password(args: &ServeArgs) -> Result<(), Failure> {
    let is_local = args.bind.to_canonical().is_loopback();
    match args.password.as_deref() {
        Some("") => Err(Failure::usage(
            "the password is empty: give --password or HOTCOPY_PASSWORD a value, or leave both out",
        )),
        None if !is_local && !args.allow_no_password => Err(Failure::usage(format_args!(
            "other machines can reach --bind {}: set a password with HOTCOPY_PASSWORD or --password, \
             or serve without one with --allow-no-password",
            args.bind
        ))),
        _ => Ok(()),
    }
}

/// One line that a person and a supervisor can read: clients may connect from now on.
fn announce(server: &Server, threads: usize) -> Result<(), Failure> {
    let mut line = format!("hotcopy {} ready:", env!("CARGO_PKG_VERSION"));
    if let Some(address) = server.tcp_addr() {
        line.push_str(&format!(" tcp {address},"));
    }
    if let Some(path) = server.unix_path() {
        line.push_str(&format!(" unix {},", path.display()));
    }
    line.push_str(&format!(" {threads} loops\n"));
    let mut stdout = std::io::stdout().lock();
    stdout
        .write_all(line.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(|error| Failure::run(format_args!("writing the ready line: {error}")))
}
