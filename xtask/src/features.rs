//! `cargo x features`: whether going from one chapter to the next compiles a dependency again.
//!
//! Cargo builds a crate anew when its set of features changes. In class that is half a minute of waiting between two
//! lessons, for nothing. Invariant: a dependency has the same features in every chapter that has it.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;

/// Asks cargo for the features of every chapter's dependencies and names those that differ.
///
/// # Errors
/// When cargo cannot tell.
pub fn findings(ws: &Workspace) -> Result<Vec<String>> {
    let trees = ws
        .chapters
        .iter()
        .map(|chapter| Ok((chapter.name.as_str(), tree(ws, &chapter.name)?)));
    Ok(differences(&trees.collect::<Result<Vec<_>>>()?))
}

/// One line a dependency: `name version|its,features`.
fn tree(ws: &Workspace, chapter: &str) -> Result<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--locked", "--edges", "normal", "--prefix", "none"])
        .args(["--format", "{p}|{f}", "--package", chapter])
        .current_dir(&ws.root)
        .output()
        .context("starting cargo tree")?;
    ensure!(
        output.status.success(),
        "cargo tree of {chapter}: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The dependencies whose features are not what they were in the first chapter that has them.
fn differences(trees: &[(&str, String)]) -> Vec<String> {
    let mut first: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    let mut found = Vec::new();
    for (chapter, tree) in trees {
        for line in tree.lines() {
            // A dependency that was listed before is repeated with a star.
            let Some((package, features)) = line.trim_end_matches(" (*)").split_once('|') else {
                continue;
            };
            let (origin, known) = *first.entry(package).or_insert((chapter, features));
            if known != features {
                found.push(format!(
                    "{package} has the features [{features}] in {chapter} and [{known}] in {origin}; \
                     ask for the same ones in {origin}"
                ));
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_that_gains_a_feature_on_the_way_is_named() {
        let trees = [
            (
                "s01_loop",
                "s01_loop v0.1.0|\nbitflags v2.1.0|\nlog v0.4.0|std\n".to_owned(),
            ),
            (
                "s02_tools",
                "s02_tools v0.1.0|\nbitflags v2.1.0|std\nlog v0.4.0|std (*)\n".to_owned(),
            ),
        ];
        assert_eq!(
            differences(&trees),
            [
                "bitflags v2.1.0 has the features [std] in s02_tools and [] in s01_loop; ask for the same ones in s01_loop"
            ]
        );
    }

    #[test]
    fn a_dependency_that_is_new_is_no_finding() {
        let trees = [
            ("s01_loop", "log v0.4.0|std\n".to_owned()),
            (
                "s02_tools",
                "log v0.4.0|std\nglobset v0.4.0|log\n".to_owned(),
            ),
        ];
        assert_eq!(differences(&trees), Vec::<String>::new());
    }
}
