//! Licences and bans of every crate in the lock file, by the rules in `deny.toml`.
//! The file is cargo-deny's own format, so that cargo-deny can be run by whoever has it;
//! `docs/decisions/licence-check.md` says why it is not what runs here.

use std::collections::BTreeMap;
use std::fs;

use cargo_metadata::{Metadata, MetadataCommand, Package};
use serde::Deserialize;
use spdx::{Expression, LicenseReq, ParseMode};

use crate::Result;
use crate::workspace::Workspace;

#[derive(Deserialize)]
struct Rules {
    graph: Graph,
    licenses: Licences,
    bans: Bans,
}

#[derive(Deserialize)]
struct Graph {
    /// Only what is built for these platforms is looked at.
    targets: Vec<String>,
}

#[derive(Deserialize)]
struct Licences {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

/// Licences that one crate may have and others may not.
#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Ban>,
}

#[derive(Deserialize)]
struct Ban {
    #[serde(rename = "crate")]
    name: String,
    reason: String,
}

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let rules: Rules = toml::from_str(&fs::read_to_string(workspace.root.join("deny.toml"))?)?;
    let platforms = rules.graph.targets.iter();
    let metadata = MetadataCommand::new()
        .current_dir(&workspace.root)
        .other_options(
            platforms
                .flat_map(|target| ["--filter-platform".to_owned(), target.clone()])
                .collect::<Vec<_>>(),
        )
        .exec()?;
    let packages = resolved(&metadata);
    for (name, versions) in several_versions(&packages) {
        eprintln!(
            "warning: {name} in several versions: {}",
            versions.join(", ")
        );
    }
    let offences: Vec<String> = packages
        .iter()
        .flat_map(|package| offences(&rules, package))
        .collect();
    if offences.is_empty() {
        eprintln!("{} crates keep the rules of deny.toml", packages.len());
        Ok(())
    } else {
        Err(offences.join("\n").into())
    }
}

/// What the resolver chose for our platforms; `packages` also lists crates of other platforms.
fn resolved(metadata: &Metadata) -> Vec<&Package> {
    metadata
        .resolve
        .iter()
        .flat_map(|resolve| &resolve.nodes)
        .map(|node| &metadata[&node.id])
        .collect()
}

fn several_versions<'m>(packages: &[&'m Package]) -> BTreeMap<&'m str, Vec<String>> {
    let mut versions: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for package in packages {
        versions
            .entry(package.name.as_str())
            .or_default()
            .push(package.version.to_string());
    }
    versions.retain(|_, versions| versions.len() > 1);
    versions
}

fn offences(rules: &Rules, package: &Package) -> Vec<String> {
    let name = package.name.as_str();
    let ban = rules.bans.deny.iter().find(|ban| ban.name == name);
    let banned = ban.map(|ban| format!("{name} is banned: {}", ban.reason));
    let allowed = allowed_licences(rules, name);
    let licence = match &package.license {
        None => Some(format!("{name} {} states no licence", package.version)),
        Some(expression) => match is_allowed(expression, &allowed) {
            Ok(true) => None,
            Ok(false) => Some(format!(
                "{name} {}: licence `{expression}` is not allowed",
                package.version
            )),
            Err(error) => Some(format!("{name} {}: {error}", package.version)),
        },
    };
    banned.into_iter().chain(licence).collect()
}

fn allowed_licences<'r>(rules: &'r Rules, name: &str) -> Vec<&'r str> {
    let exceptions = rules.licenses.exceptions.iter();
    exceptions
        .filter(|exception| exception.name == name)
        .flat_map(|exception| &exception.allow)
        .chain(&rules.licenses.allow)
        .map(String::as_str)
        .collect()
}

/// Whether the expression can be met with allowed licences alone: one side of each OR, both sides of each AND.
fn is_allowed(expression: &str, allowed: &[&str]) -> Result<bool> {
    // Older crates separate alternatives by a slash.
    let expression = Expression::parse_mode(expression, ParseMode::LAX)?;
    Ok(expression
        .evaluate(|requirement: &LicenseReq| allowed.contains(&requirement.to_string().as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_allowed_alternative_is_enough() {
        assert!(is_allowed("LGPL-2.1-or-later OR MIT", &["MIT"]).expect("valid"));
        assert!(is_allowed("Unlicense/MIT", &["MIT"]).expect("valid"));
        assert!(!is_allowed("LGPL-2.1-or-later", &["MIT"]).expect("valid"));
    }

    #[test]
    fn every_licence_of_a_conjunction_must_be_allowed() {
        assert!(!is_allowed("Apache-2.0 AND ISC", &["Apache-2.0"]).expect("valid"));
        assert!(is_allowed("Apache-2.0 AND ISC", &["Apache-2.0", "ISC"]).expect("valid"));
    }

    #[test]
    fn an_exception_holds_for_its_crate_only() {
        let rules: Rules = toml::from_str(
            r#"
            graph.targets = []
            licenses.allow = ["MIT"]
            licenses.exceptions = [{ crate = "a", allow = ["MPL-2.0"] }]
            bans.deny = []
            "#,
        )
        .expect("well-formed rules");
        assert_eq!(allowed_licences(&rules, "a"), ["MPL-2.0", "MIT"]);
        assert_eq!(allowed_licences(&rules, "b"), ["MIT"]);
    }
}
