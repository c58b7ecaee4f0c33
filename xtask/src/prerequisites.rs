//! What the checks need beyond cargo: real servers, their clients, caches in JavaScript, a nightly toolchain and cargo-fuzz.
//! System packages are installed where that is allowed (as root, with apt); everything else goes under the target directory.

use std::fs;
use std::path::PathBuf;

use crate::Result;
use crate::command::CommandLine;
use crate::workspace::Workspace;

/// A program and the Debian package that brings it.
struct SystemProgram {
    probe: &'static [&'static str],
    package: &'static str,
}

const SYSTEM_PROGRAMS: &[SystemProgram] = &[
    SystemProgram {
        probe: &["redis-server", "--version"],
        package: "redis-server",
    },
    SystemProgram {
        probe: &["redis-cli", "--version"],
        package: "redis-tools",
    },
    SystemProgram {
        probe: &["memcached", "--version"],
        package: "memcached",
    },
    SystemProgram {
        probe: &["memccapable", "-V"],
        package: "libmemcached-tools",
    },
    SystemProgram {
        probe: &["openssl", "version"],
        package: "openssl",
    },
    SystemProgram {
        probe: &["valgrind", "--version"],
        package: "valgrind",
    },
    SystemProgram {
        probe: &["python3", "-m", "pip", "--version"],
        package: "python3-pip",
    },
    SystemProgram {
        probe: &["node", "--version"],
        package: "nodejs",
    },
    SystemProgram {
        probe: &["npm", "--version"],
        package: "npm",
    },
];

/// Python packages with their exact versions, because two of them are the servers that cases are held to.
const PYTHON_REQUIREMENTS: &str = "tests/requirements.txt";

const JAVA_SCRIPT_PEERS: &str = "peers/js";

/// Installs what is missing, or says exactly what to install.
pub(crate) fn ensure(workspace: &Workspace) -> Result<()> {
    fs::create_dir_all(workspace.prerequisites())?;
    ensure_system_programs(workspace)?;
    ensure_python_packages(workspace)?;
    ensure_java_script_peers(workspace)?;
    ensure_nightly(workspace)?;
    ensure_cargo_fuzz(workspace)
}

/// cargo-fuzz: the one that [`ensure`] installed, else the one in `PATH`.
pub(crate) fn cargo_fuzz(workspace: &Workspace) -> PathBuf {
    let ours = cargo_root(workspace).join("bin/cargo-fuzz");
    if ours.exists() {
        ours
    } else {
        PathBuf::from("cargo-fuzz")
    }
}

fn cargo_root(workspace: &Workspace) -> PathBuf {
    workspace.prerequisites().join("cargo")
}

fn ensure_system_programs(workspace: &Workspace) -> Result<()> {
    let missing: Vec<&str> = SYSTEM_PROGRAMS
        .iter()
        .filter(|program| !starts(workspace, program.probe))
        .map(|program| program.package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let install = format!("apt-get install {}", missing.join(" "));
    if !is_root(workspace) || !starts(workspace, &["apt-get", "--version"]) {
        return Err(format!(
            "missing on this machine: {0}; as root: `{install}` (or what your system calls these packages)",
            missing.join(" ")
        )
        .into());
    }
    let apt = || CommandLine::new("apt-get", workspace).env("DEBIAN_FRONTEND", "noninteractive");
    apt().args(["update"]).run()?;
    apt()
        .args(["install", "--yes", "--no-install-recommends"])
        .args(&missing)
        .run()
}

/// Packages go into a directory of their own (`pip --target`), which needs neither the `venv` module nor a system-wide change.
fn ensure_python_packages(workspace: &Workspace) -> Result<()> {
    let wanted = fs::read_to_string(workspace.root.join(PYTHON_REQUIREMENTS))?;
    let packages = workspace.prerequisites().join("python");
    let stamp = packages.join("requirements.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    if packages.exists() {
        fs::remove_dir_all(&packages)?;
    }
    CommandLine::new("python3", workspace)
        .args(["-m", "pip", "install", "--disable-pip-version-check"])
        .args(["--quiet", "--root-user-action=ignore"])
        .args(["--requirement", PYTHON_REQUIREMENTS])
        .args(["--target".as_ref(), packages.as_os_str()])
        .run()?;
    // Written last, so that a broken installation is repeated.
    fs::write(stamp, wanted)?;
    Ok(())
}

/// The caches in JavaScript that `hotcopy modes` measures, exactly as their lock file has them.
fn ensure_java_script_peers(workspace: &Workspace) -> Result<()> {
    let folder = workspace.root.join(JAVA_SCRIPT_PEERS);
    let wanted = fs::read_to_string(folder.join("package-lock.json"))?;
    let stamp = workspace.prerequisites().join("java-script-peers.json");
    let is_installed = folder.join("node_modules").is_dir();
    if is_installed && fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    CommandLine::new("npm", workspace)
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .current_dir(&folder)
        .run()?;
    fs::write(stamp, wanted)?;
    Ok(())
}

fn ensure_nightly(workspace: &Workspace) -> Result<()> {
    if starts(workspace, &["rustup", "run", "nightly", "rustc", "-V"]) {
        return Ok(());
    }
    CommandLine::new("rustup", workspace)
        .args(["toolchain", "install", "nightly", "--profile", "minimal"])
        .run()
        .map_err(|error| format!("fuzzing needs a nightly toolchain: {error}").into())
}

fn ensure_cargo_fuzz(workspace: &Workspace) -> Result<()> {
    let installed = CommandLine::new(cargo_fuzz(workspace), workspace).args(["--version"]);
    if installed.succeeds() {
        return Ok(());
    }
    CommandLine::cargo(workspace)
        .args(["install", "cargo-fuzz", "--locked", "--root"])
        .args([cargo_root(workspace)])
        .run()
}

fn starts(workspace: &Workspace, probe: &[&str]) -> bool {
    CommandLine::new(probe[0], workspace)
        .args(&probe[1..])
        .succeeds()
}

fn is_root(workspace: &Workspace) -> bool {
    CommandLine::new("sh", workspace)
        .args(["-c", "test \"$(id -u)\" = 0"])
        .succeeds()
}
