//! The shape of the code: which crate may use which, and where `unsafe` is, as `docs/architecture.md` shows it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};
use hotcopy_tests::locate::repository;

type Edges = BTreeSet<(String, String)>;

/// What each of the six crates may use of the others.
const ALLOWED: &[(&str, &[&str])] = &[
    ("engine", &[]),
    ("wire", &[]),
    ("hotcopy", &["engine"]),
    ("server", &["engine", "wire", "hotcopy"]),
    ("lab", &["hotcopy", "engine", "wire", "server"]),
    ("cli", &["server", "lab", "hotcopy"]),
];

/// What would bring I/O or an async runtime into a crate that promises to have none.
const INPUT_AND_OUTPUT: &[&str] = &["async-std", "mio", "polling", "smol", "socket2", "tokio"];

#[test]
fn the_six_crates_use_each_other_only_as_allowed() {
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.iter().copied().collect();
    for (user, used) in crate_edges(&metadata()) {
        assert!(
            allowed[user.as_str()].contains(&used.as_str()),
            "crate `{user}` must not depend on `{used}`"
        );
    }
}

#[test]
fn the_picture_in_the_docs_shows_exactly_the_dependencies_there_are() {
    let shown: Edges = architecture_page()
        .lines()
        .filter_map(|line| line.trim().split_once(" --> "))
        .map(|(user, used)| (user.to_owned(), used.to_owned()))
        .collect();
    assert_eq!(
        shown,
        crate_edges(&metadata()),
        "left: docs, right: Cargo.toml"
    );
}

#[test]
fn engine_and_wire_reach_no_io_and_no_async_runtime() {
    let metadata = metadata();
    for name in ["hotcopy-engine", "hotcopy-wire"] {
        let reached = reachable(&metadata, name);
        for forbidden in INPUT_AND_OUTPUT {
            assert!(!reached.contains(*forbidden), "{name} reaches {forbidden}");
        }
    }
}

#[test]
fn unsafe_code_is_allowed_exactly_in_the_modules_that_the_docs_list() {
    let shown: BTreeSet<String> = architecture_page()
        .split_once("## Where `unsafe` is")
        .expect("the page has the section")
        .1
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .filter_map(|row| row.split_once('`'))
        .map(|(path, _)| path.to_owned())
        .collect();
    // Spelled in two parts, so that this file is not one of them.
    let allowance = concat!("allow(", "unsafe_code");
    let actual: BTreeSet<String> = rust_files()
        .into_iter()
        .filter(|path| {
            let source = fs::read_to_string(path).expect("a source file is text");
            // An allowance with a long reason takes several lines.
            let in_one_line: String = source.split_whitespace().collect();
            in_one_line.contains(allowance)
        })
        .map(|path| {
            let path = path.strip_prefix(repository()).expect("inside");
            path.display().to_string()
        })
        .collect();
    assert_eq!(shown, actual, "left: docs, right: the code");
}

fn metadata() -> Metadata {
    MetadataCommand::new()
        .current_dir(repository())
        .exec()
        .expect("cargo metadata works in the repository")
}

fn architecture_page() -> String {
    fs::read_to_string(repository().join("docs/architecture.md")).expect("the page is there")
}

/// Dependencies between the folders of `crates/`, without those of tests and build scripts.
fn crate_edges(metadata: &Metadata) -> Edges {
    let folders: BTreeMap<&str, &str> = metadata
        .workspace_packages()
        .into_iter()
        .filter_map(|package| {
            let folder = package.manifest_path.parent()?;
            let inside = folder.parent()?.file_name() == Some("crates");
            inside.then_some((package.name.as_str(), folder.file_name()?))
        })
        .collect();
    metadata
        .workspace_packages()
        .into_iter()
        .filter_map(|package| Some((folders.get(package.name.as_str())?, &package.dependencies)))
        .flat_map(|(user, dependencies)| dependencies.iter().map(move |used| (user, used)))
        .filter(|(_, used)| used.kind == DependencyKind::Normal)
        .filter_map(|(user, used)| {
            let used = folders.get(used.name.as_str())?;
            Some(((*user).to_owned(), (*used).to_owned()))
        })
        .collect()
}

/// Names of all crates that end up in a program through `name`.
fn reachable(metadata: &Metadata, name: &str) -> BTreeSet<String> {
    let resolve = metadata.resolve.as_ref().expect("metadata resolves");
    let start = metadata
        .workspace_packages()
        .into_iter()
        .find(|package| package.name.as_str() == name)
        .expect("the crate is a member");
    let mut waiting = vec![&start.id];
    let mut reached = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        if !reached.insert(metadata[id].name.to_string()) {
            continue;
        }
        let node = resolve.nodes.iter().find(|node| node.id == *id);
        let dependencies = node.into_iter().flat_map(|node| &node.deps);
        waiting.extend(
            dependencies
                .filter(|used| {
                    let mut kinds = used.dep_kinds.iter();
                    kinds.any(|info| info.kind == DependencyKind::Normal)
                })
                .map(|used| &used.pkg),
        );
    }
    reached
}

fn rust_files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in ["crates", "bench", "tests", "xtask", "fuzz", "examples"] {
        collect_rust_files(&repository().join(folder), &mut files);
    }
    assert!(files.len() > 10, "the sources were not found");
    files
}

fn collect_rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.expect("the folder can be listed").path();
        if path.is_dir() && !path.ends_with("target") {
            collect_rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
