//! What the control groups of this process (containers, systemd slices) leave it to take.

use std::fs;
use std::path::Path;

/// Bytes left under the tightest memory limit above this process; `None` without a limit.
pub(super) fn available() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    available_under(Path::new("/sys/fs/cgroup"), &groups)
}

/// The names that one version of the interface uses.
struct Interface {
    limit: &'static str,
    usage: &'static str,
    /// Page cache that the kernel drops first: it counts as usage but can be taken.
    reclaimable: &'static str,
}

const V1: Interface = Interface {
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    reclaimable: "total_inactive_file",
};

const V2: Interface = Interface {
    limit: "memory.max",
    usage: "memory.current",
    reclaimable: "inactive_file",
};

fn available_under(mount: &Path, groups: &str) -> Option<u64> {
    groups
        .lines()
        .filter_map(|line| {
            // hierarchy-ID:controllers:/path; version 2 has no controllers.
            let mut fields = line.splitn(3, ':').skip(1);
            let (controllers, path) = (fields.next()?, fields.next()?);
            let path = Path::new(path.strip_prefix('/')?);
            if controllers.is_empty() {
                tightest(mount, path, &V2)
            } else if controllers.split(',').any(|name| name == "memory") {
                tightest(&mount.join("memory"), path, &V1)
            } else {
                None
            }
        })
        .min()
}

/// A limit of an ancestor holds for its descendants. In a container the path may be the host's while
/// the mount shows our group as its root: levels that do not exist here are passed over.
fn tightest(mount: &Path, path: &Path, interface: &Interface) -> Option<u64> {
    path.ancestors()
        .filter_map(|level| available_in(&mount.join(level), interface))
        .min()
}

fn available_in(group: &Path, interface: &Interface) -> Option<u64> {
    let number = |file: &str| -> Option<u64> {
        let text = fs::read_to_string(group.join(file)).ok()?;
        text.trim().parse().ok() // "max" is no number: no limit
    };
    let limit = number(interface.limit)?;
    let usage = number(interface.usage)?;
    let reclaimable = fs::read_to_string(group.join("memory.stat"))
        .ok()
        .and_then(|stat| {
            stat.lines().find_map(|line| {
                let (name, value) = line.split_once(' ')?;
                (name == interface.reclaimable).then(|| value.trim().parse().ok())?
            })
        })
        .unwrap_or(0);
    Some(limit.saturating_sub(usage.saturating_sub(reclaimable)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(root: &Path, path: &str, files: &[(&str, &str)]) {
        let group = root.join(path);
        fs::create_dir_all(&group).unwrap();
        for (name, text) in files {
            fs::write(group.join(name), text).unwrap();
        }
    }

    #[test]
    fn the_tightest_limit_above_the_process_counts_and_page_cache_can_be_taken() {
        let root = tempfile::tempdir().unwrap();
        group(
            root.path(),
            "slice",
            &[
                ("memory.max", "1000\n"),
                ("memory.current", "700\n"),
                ("memory.stat", "anon 1\ninactive_file 200\n"),
            ],
        );
        group(
            root.path(),
            "slice/job",
            &[("memory.max", "max\n"), ("memory.current", "500\n")],
        );
        assert_eq!(available_under(root.path(), "0::/slice/job\n"), Some(500));
    }

    #[test]
    fn version_1_is_read_from_the_memory_hierarchy() {
        let root = tempfile::tempdir().unwrap();
        group(
            root.path(),
            "memory/job",
            &[
                ("memory.limit_in_bytes", "4096"),
                ("memory.usage_in_bytes", "5000"),
                ("memory.stat", "total_inactive_file 1000\n"),
            ],
        );
        let groups = "5:cpu,cpuacct:/job\n4:memory:/job\n0::/\n";
        assert_eq!(available_under(root.path(), groups), Some(96));
    }

    #[test]
    fn no_group_with_a_limit_means_no_limit() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(available_under(root.path(), "0::/\n"), None);
        assert_eq!(available_under(root.path(), "nonsense\n\n0:\n"), None);
    }
}
