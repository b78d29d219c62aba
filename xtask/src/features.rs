//! `cargo x features`: whether going from one chapter to the next compiles a dependency again.
//!
//! Cargo builds a crate anew when its set of features changes. In class that is half a minute of waiting between two
//! lessons, for nothing. Where it cannot be helped, the root manifest says so.
//! Invariant: a dependency has the same features in every chapter that has it, but for those that
//! `rebuilt` in `[workspace.metadata]` names, and that list holds nothing else.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};

use crate::cargo::cargo;
use crate::workspace::Workspace;

/// A dependency that a chapter may build again, and that chapter.
type Rebuilt = (String, String);

/// Asks cargo for the features of every chapter's dependencies and names those that differ.
///
/// # Errors
/// When cargo cannot tell, or an exception in the root manifest is not complete.
pub fn findings(ws: &Workspace) -> Result<Vec<String>> {
    let trees = ws
        .chapters
        .iter()
        .map(|chapter| Ok((chapter.name.as_str(), tree(ws, &chapter.name)?)));
    Ok(differences(
        &trees.collect::<Result<Vec<_>>>()?,
        &exceptions(&ws.metadata.rebuilt)?,
    ))
}

/// What `rebuilt` in `[workspace.metadata]` allows: `schemars from s19_mcp_plugin`.
fn exceptions(listed: &[String]) -> Result<Vec<Rebuilt>> {
    let exception = |entry: &String| {
        let (package, from) = entry.split_once(" from ").with_context(|| {
            format!("rebuilt of workspace.metadata names {entry:?}; write PACKAGE from CHAPTER")
        })?;
        Ok((package.to_owned(), from.to_owned()))
    };
    listed.iter().map(exception).collect()
}

/// One line a dependency: `name version|its,features`.
fn tree(ws: &Workspace, chapter: &str) -> Result<String> {
    let output = cargo(&["tree", "--locked", "--edges", "normal", "--prefix", "none"])
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

/// The dependencies whose features are not what they were in the first chapter that has them, and exceptions that are
/// none. Once a dependency was built again as allowed, its new features are what later chapters must have.
fn differences(trees: &[(&str, String)], allowed: &[Rebuilt]) -> Vec<String> {
    let mut first: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    let mut used = BTreeSet::new();
    let mut found = Vec::new();
    for (chapter, tree) in trees {
        for line in tree.lines() {
            // A dependency that was listed before is repeated with a star.
            let Some((package, features)) = line.trim_end_matches(" (*)").split_once('|') else {
                continue;
            };
            let (origin, known) = *first.entry(package).or_insert((chapter, features));
            if known == features {
                continue;
            }
            let name = package.split(' ').next().unwrap_or_default();
            let mut exceptions = allowed.iter();
            let exception = exceptions.find(|(it, from)| it == name && from == chapter);
            if let Some(exception) = exception {
                used.insert(exception);
                first.insert(package, (chapter, features));
                continue;
            }
            found.push(format!(
                "{package} has the features [{features}] in {chapter} and [{known}] in {origin}; \
                 ask for the same ones in {origin}"
            ));
        }
    }
    found.sort();
    found.dedup();
    let unused = allowed.iter().filter(|it| !used.contains(it));
    found.extend(unused.map(|(package, from)| {
        format!(
            "Cargo.toml allows {package} to be built again in {from}, which does not happen so; \
             remove it from rebuilt"
        )
    }));
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
            differences(&trees, &[]),
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
        assert_eq!(differences(&trees, &[]), Vec::<String>::new());
    }

    fn allowed(entry: &str) -> Result<Vec<Rebuilt>> {
        exceptions(&[entry.to_owned()])
    }

    /// schemars in three chapters, with these features in each.
    fn schemars(features: [&str; 3]) -> [(&'static str, String); 3] {
        let chapters = ["s02_tools", "s03_permission", "s04_hooks"];
        std::array::from_fn(|index| {
            (
                chapters[index],
                format!("schemars v1.2.3|{}\n", features[index]),
            )
        })
    }

    #[test]
    fn a_declared_exception_is_allowed_from_its_chapter_on() {
        let allowed = allowed("schemars from s03_permission").unwrap();
        let found = |features| differences(&schemars(features), &allowed);

        assert_eq!(found(["std", "chrono04,std", "chrono04,std"]), [""; 0]);
        assert_eq!(
            found(["std", "chrono04,std", "std"]),
            [
                "schemars v1.2.3 has the features [std] in s04_hooks and [chrono04,std] in s03_permission; \
                 ask for the same ones in s03_permission"
            ]
        );
    }

    #[test]
    fn an_exception_must_be_needed() {
        let allowed = allowed("schemars from s03_permission").unwrap();
        let unused = "Cargo.toml allows schemars to be built again in s03_permission, which does not happen so; \
             remove it from rebuilt";

        assert_eq!(differences(&schemars(["std"; 3]), &allowed), [unused]);
    }

    #[test]
    fn an_exception_names_a_package_and_a_chapter() {
        assert_eq!(
            allowed("schemars").unwrap_err().to_string(),
            "rebuilt of workspace.metadata names \"schemars\"; write PACKAGE from CHAPTER"
        );
    }
}
