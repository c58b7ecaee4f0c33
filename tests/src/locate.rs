//! Where the programs under test and the programs to test with are.

use std::net::{IpAddr, UdpSocket};
use std::path::{Path, PathBuf};

/// What this machine lacks, with the way to get it.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Missing {
    #[error("{program} is not on this machine; `cargo xtask prerequisites` installs it")]
    Program { program: &'static str },
    #[error("this machine has no address but loopback: give it a network interface with a route")]
    NetworkAddress,
}

/// The `hotcopy` binary: `HOTCOPY_BIN`, else the one that cargo built beside the running test.
///
/// # Panics
///
/// When there is no binary: then there is nothing to test.
#[must_use]
pub fn hotcopy() -> PathBuf {
    let path = match std::env::var_os("HOTCOPY_BIN") {
        Some(path) => PathBuf::from(path),
        None => profile_directory().join("hotcopy"),
    };
    assert!(
        path.is_file(),
        "no binary at {}: run `cargo build --bin hotcopy`, or name one in HOTCOPY_BIN",
        path.display()
    );
    path
}

/// The root of the repository.
///
/// # Panics
///
/// Never: this crate lies in a folder of the repository.
#[must_use]
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the tests lie in a folder of the repository")
}

/// A program found in `PATH`.
///
/// # Errors
///
/// When no directory of `PATH` has it.
pub fn in_path(program: &'static str) -> Result<PathBuf, Missing> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|directory| directory.join(program))
        .find(|candidate| candidate.is_file())
        .ok_or(Missing::Program { program })
}

/// A server binary out of a Python package that `cargo xtask prerequisites` installed.
///
/// # Errors
///
/// When the package is not installed.
pub fn in_python_packages(program: &'static str, path: &str) -> Result<PathBuf, Missing> {
    let candidate = python_packages()?.join(path);
    if candidate.is_file() {
        Ok(candidate)
    } else {
        Err(Missing::Program { program })
    }
}

/// The directory for `PYTHONPATH` that holds redis-py.
///
/// # Errors
///
/// When the packages are not installed.
pub fn python_packages() -> Result<PathBuf, Missing> {
    let packages = target_directory().join("prerequisites/python");
    // The stamp is the installation's last act.
    if packages.join("requirements.txt").is_file() {
        Ok(packages)
    } else {
        Err(Missing::Program {
            program: "the Python packages of tests/requirements.txt",
        })
    }
}

/// The caches in JavaScript, installed.
///
/// # Errors
///
/// When they are not installed.
pub fn java_script_peers() -> Result<PathBuf, Missing> {
    let folder = repository().join("peers/js");
    if folder.join("node_modules").is_dir() {
        Ok(folder)
    } else {
        Err(Missing::Program {
            program: "what peers/js/package.json names",
        })
    }
}

/// An address of this machine that others could reach.
///
/// # Errors
///
/// When it has none.
pub fn network_address() -> Result<IpAddr, Missing> {
    // Nothing is sent: the kernel only chooses the address that it would send from.
    let socket = UdpSocket::bind("0.0.0.0:0");
    let address = socket.and_then(|socket| {
        socket.connect("192.0.2.1:9")?;
        socket.local_addr()
    });
    match address {
        Ok(address) if !address.ip().is_loopback() => Ok(address.ip()),
        _ => Err(Missing::NetworkAddress),
    }
}

fn target_directory() -> PathBuf {
    let profile = profile_directory();
    profile.parent().map_or(profile.clone(), Path::to_owned)
}

/// The directory of the running test's profile: its executable lies in `target/PROFILE/deps/`.
fn profile_directory() -> PathBuf {
    let executable = std::env::current_exe().expect("a running program has a path");
    let mut directory = executable.parent().expect("a program lies in a folder");
    // Tests lie one deeper than other programs.
    if directory.ends_with("deps") {
        directory = directory.parent().expect("cargo makes it in the profile's");
    }
    directory.to_owned()
}
