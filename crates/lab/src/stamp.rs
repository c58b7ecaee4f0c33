//! Reads the machine stamp: on what a result was measured.

#![allow(unsafe_code)] // The C library tells its version only by a C string.

use std::fs;
use std::path::Path;

use crate::meters::memory;
use crate::results::MachineStamp;

/// The machine and the build that this process runs on. What cannot be read is `None`.
///
/// Reads some small files (on macOS it starts `sysctl` and `sw_vers`): take it outside of measuring.
#[must_use]
pub fn machine_stamp() -> MachineStamp {
    let root = Path::new("/");
    MachineStamp {
        cpu: sysctl("machdep.cpu.brand_string").or_else(|| cpu_model(root)),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        memory_bytes: memory::total(),
        governor: governor(root),
        hypervisor: hypervisor(root),
        os: os_name(root),
        kernel: sysctl("kern.osrelease").or_else(|| line(root, "proc/sys/kernel/osrelease")),
        clocksource: line(
            root,
            "sys/devices/system/clocksource/clocksource0/current_clocksource",
        ),
        allocator: allocator(),
        rustc: env!("HOTCOPY_RUSTC").to_owned(),
        profile: env!("HOTCOPY_PROFILE").to_owned(),
    }
}

/// The text of a small file without surrounding white space; `None` if there is none.
fn line(root: &Path, path: &str) -> Option<String> {
    let text = fs::read_to_string(root.join(path)).ok()?;
    // Texts from the device tree end with a NUL.
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

fn cpu_model(root: &Path) -> Option<String> {
    let info = fs::read_to_string(root.join("proc/cpuinfo")).unwrap_or_default();
    // ARM kernels name no model per core; a board's device tree names the board.
    cpuinfo_field(&info, "model name")
        .map(str::to_owned)
        .or_else(|| line(root, "proc/device-tree/model"))
}

fn cpuinfo_field<'a>(info: &'a str, field: &str) -> Option<&'a str> {
    info.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim_end() == field && !value.trim().is_empty()).then(|| value.trim())
    })
}

fn governor(root: &Path) -> Option<String> {
    line(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
}

/// Xen names itself; others only show in the board's vendor; and x86 processors tell at least
/// whether there is one.
fn hypervisor(root: &Path) -> Option<String> {
    if let Some(kind) = line(root, "sys/hypervisor/type") {
        return Some(kind);
    }
    let info = fs::read_to_string(root.join("proc/cpuinfo")).ok()?;
    let flags = cpuinfo_field(&info, "flags")?;
    if !flags.split(' ').any(|flag| flag == "hypervisor") {
        return Some("none".to_owned());
    }
    let board: Vec<String> = ["sys_vendor", "product_name"]
        .iter()
        .filter_map(|file| line(root, &format!("sys/class/dmi/id/{file}")))
        .collect();
    Some(if board.is_empty() {
        processor_vendor_of_hypervisor().unwrap_or_else(|| "present, unnamed".to_owned())
    } else {
        board.join(" ")
    })
}

/// The signature that a hypervisor leaves in the `CPUID` leaf kept for it.
#[cfg(target_arch = "x86_64")]
fn processor_vendor_of_hypervisor() -> Option<String> {
    let leaf = std::arch::x86_64::__cpuid(0x4000_0000);
    let bytes: Vec<u8> = [leaf.ebx, leaf.ecx, leaf.edx]
        .iter()
        .flat_map(|register| register.to_le_bytes())
        .collect();
    let name = match bytes.as_slice() {
        b"KVMKVMKVM\0\0\0" => "KVM",
        b"Microsoft Hv" => "Hyper-V",
        b"VMwareVMware" => "VMware",
        b"XenVMMXenVMM" => "Xen",
        b"TCGTCGTCGTCG" => "QEMU without acceleration",
        _ => return None,
    };
    Some(name.to_owned())
}

#[cfg(not(target_arch = "x86_64"))]
fn processor_vendor_of_hypervisor() -> Option<String> {
    None
}

fn os_name(root: &Path) -> String {
    let named = ["etc/os-release", "usr/lib/os-release"]
        .iter()
        .find_map(|path| {
            let text = fs::read_to_string(root.join(path)).ok()?;
            let name = text
                .lines()
                .find_map(|line| line.strip_prefix("PRETTY_NAME="))?
                .trim_matches(['"', '\'']);
            (!name.is_empty()).then(|| name.to_owned())
        });
    named
        .or_else(mac_os_name)
        .unwrap_or_else(|| std::env::consts::OS.to_owned())
}

fn mac_os_name() -> Option<String> {
    cfg!(target_os = "macos").then_some(())?;
    let version = output("sw_vers", &["-productVersion"])?;
    Some(format!("macOS {version}"))
}

/// A kernel variable of macOS; `None` elsewhere.
pub(crate) fn sysctl(name: &str) -> Option<String> {
    cfg!(target_os = "macos").then_some(())?;
    output("sysctl", &["-n", name])
}

fn output(program: &str, args: &[&str]) -> Option<String> {
    let output = std::process::Command::new(program)
        .args(args)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let text = text.trim();
    (output.status.success() && !text.is_empty()).then(|| text.to_owned())
}

/// The binary installs no allocator of another library: its counting one forwards to the system's.
fn allocator() -> String {
    match libc_version() {
        Some(version) => format!("system (glibc {version})"),
        None if cfg!(target_env = "musl") => "system (musl)".to_owned(),
        None => format!("system ({})", std::env::consts::OS),
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn libc_version() -> Option<String> {
    // SAFETY: the function takes nothing and returns a NUL-terminated string that lives for ever.
    let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
    version.to_str().ok().map(str::to_owned)
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn libc_version() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn this_machine_has_a_stamp() {
        let stamp = machine_stamp();
        assert!(stamp.cores >= 1);
        assert!(stamp.memory_bytes.is_some_and(|bytes| bytes > 64 << 20));
        assert!(stamp.rustc.starts_with("rustc 1."), "{}", stamp.rustc);
        assert!(["debug", "release"].contains(&stamp.profile.as_str()));
        assert!(stamp.allocator.starts_with("system ("));
        assert!(stamp.kernel.is_some_and(|kernel| !kernel.contains('\n')));
    }

    #[test]
    fn a_virtual_machine_is_named_by_its_board() {
        let root = machine(&[
            (
                "proc/cpuinfo",
                "processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\nflags\t\t: fpu hypervisor sse\n",
            ),
            ("sys/class/dmi/id/sys_vendor", "Amazon EC2\n"),
            ("sys/class/dmi/id/product_name", "m7i.large\n"),
        ]);
        assert_eq!(cpu_model(root.path()).as_deref(), Some("Some CPU @ 3 GHz"));
        assert_eq!(
            hypervisor(root.path()).as_deref(),
            Some("Amazon EC2 m7i.large")
        );
    }

    #[test]
    fn a_processor_without_the_hypervisor_flag_is_bare_metal() {
        let root = machine(&[("proc/cpuinfo", "model name\t: X\nflags\t\t: fpu sse\n")]);
        assert_eq!(hypervisor(root.path()).as_deref(), Some("none"));
    }

    #[test]
    fn xen_names_itself() {
        let root = machine(&[("sys/hypervisor/type", "xen\n")]);
        assert_eq!(hypervisor(root.path()).as_deref(), Some("xen"));
    }

    #[test]
    fn an_arm_board_has_a_model_and_an_unknown_hypervisor() {
        let root = machine(&[
            ("proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\n"),
            ("proc/device-tree/model", "Board 5\0"),
        ]);
        assert_eq!(cpu_model(root.path()).as_deref(), Some("Board 5"));
        assert_eq!(hypervisor(root.path()), None);
    }

    #[test]
    fn a_machine_that_tells_nothing_is_unknown() {
        let root = machine(&[]);
        assert_eq!(cpu_model(root.path()), None);
        assert_eq!(governor(root.path()), None);
        assert_eq!(hypervisor(root.path()), None);
        assert_eq!(line(root.path(), "absent"), None);
    }

    #[cfg(not(target_os = "macos"))]
    #[test]
    fn the_system_is_called_by_its_pretty_name() {
        let root = machine(&[("usr/lib/os-release", "ID=x\nPRETTY_NAME=\"Some OS 12\"\n")]);
        assert_eq!(os_name(root.path()), "Some OS 12");
        assert_eq!(os_name(machine(&[]).path()), std::env::consts::OS);
    }
}
