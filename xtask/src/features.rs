//! `cargo x features`: whether going from one chapter to the next compiles a dependency again.
//!
//! Cargo builds a crate anew when its set of features changes. In class that is half a minute of waiting between two
//! lessons, for nothing. Where it cannot be helped, the root manifest says so.
//! Invariant: a dependency has the same features in every chapter that has it, but for those that
//! `rebuilt` in `[workspace.metadata]` names, and that list holds nothing else.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};

use crate::cargo::cargo;
use crate::git;
use crate::workspace::{Chapter, Workspace};

/// Asks cargo for the features of every chapter's dependencies and names those that differ.
///
/// # Errors
/// When cargo cannot tell.
pub fn findings(ws: &Workspace) -> Result<Vec<String>> {
    let mut trees = Vec::new();
    for Chapter { name, .. } in &ws.chapters {
        // One line a dependency: `name version|its,features`.
        let mut tree = cargo(&["tree", "--locked", "--edges", "normal", "--prefix", "none"]);
        tree.args(["--format", "{p}|{f}", "--package", name]).current_dir(&ws.root);
        let output = tree.output().context("starting cargo tree")?;
        let complaint = git::complaint(&output);
        ensure!(output.status.success(), "cargo tree of {name}: {complaint}");
        trees.push((name.as_str(), String::from_utf8_lossy(&output.stdout).into_owned()));
    }
    Ok(differences(&trees, &ws.metadata.rebuilt))
}

/// The dependencies whose features are not what they were in the first chapter that has them, and exceptions
/// (`schemars from s19_mcp_plugin`) that are none. Once a dependency was built again as allowed, its new features are what
/// later chapters must have.
fn differences(trees: &[(&str, String)], allowed: &[String]) -> Vec<String> {
    let mut first: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    let mut used = BTreeSet::new();
    let mut found = BTreeSet::new();
    for (chapter, tree) in trees {
        // A dependency that was listed before is repeated with a star.
        let lines = tree.lines().map(|line| line.trim_end_matches(" (*)"));
        for (package, features) in lines.filter_map(|line| line.split_once('|')) {
            let (origin, known) = *first.entry(package).or_insert((chapter, features));
            let name = package.split(' ').next().unwrap_or_default();
            let exception = format!("{name} from {chapter}");
            if known == features {
                continue;
            } else if allowed.contains(&exception) {
                used.insert(exception);
                first.insert(package, (chapter, features));
            } else {
                found.insert(format!(
                    "{package} has the features [{features}] in {chapter} and [{known}] in {origin}; \
                     ask for the same ones in {origin}"
                ));
            }
        }
    }
    let unused = allowed.iter().filter(|it| !used.contains(*it));
    let unused = unused
        .map(|it| format!("nothing is built again as rebuilt of Cargo.toml says: {it}; remove it"));
    found.into_iter().chain(unused).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_that_gains_a_feature_on_the_way_is_named_unless_it_may() {
        let chapters = ["s02_tools", "s03_permission", "s04_hooks"];
        let found = |features: [&str; 3], allowed: &[&str]| {
            let tree = |features: &str| format!("s0 v0.1.0|\nschemars v1.2.3|{features} (*)\n");
            let trees: Vec<_> = chapters.into_iter().zip(features.map(tree)).collect();
            differences(&trees, &allowed.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
        };
        let may = ["schemars from s03_permission"];
        let gains = "schemars v1.2.3 has the features [chrono,std] in s03_permission and [std] in s02_tools; ask for the same ones in s02_tools";
        let loses = "schemars v1.2.3 has the features [std] in s04_hooks and [chrono,std] in s03_permission; ask for the same ones in s03_permission";
        let unused = "nothing is built again as rebuilt of Cargo.toml says: schemars from s03_permission; remove it";

        assert_eq!(found(["std"; 3], &[]), [""; 0]);
        assert_eq!(found(["std", "chrono,std", "std"], &[]), [gains]);
        assert_eq!(found(["std", "chrono,std", "chrono,std"], &may), [""; 0]);
        assert_eq!(found(["std", "chrono,std", "std"], &may), [loses]);
        assert_eq!(found(["std"; 3], &may), [unused]);
    }
}
