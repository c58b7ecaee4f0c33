//! Records the compiler and the profile for the machine stamp of every result.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC");
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .unwrap_or_default();
    let version = match version.trim() {
        "" => "unknown",
        version => version,
    };
    println!("cargo::rustc-env=HOTCOPY_RUSTC={version}");
    let profile = env::var("PROFILE").expect("cargo sets PROFILE");
    println!("cargo::rustc-env=HOTCOPY_PROFILE={profile}");
}
