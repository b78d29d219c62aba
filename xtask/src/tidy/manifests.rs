//! Rules for the manifests: who may depend on whom, and that everything shared is said once.

use toml::{Table, Value};

use super::{Finding, Rule, Subject, line_of};
use crate::workspace::{Member, chapter_number};

pub(super) const RULES: [Rule; 4] = [order, versions, inheritance, members];

const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
const INDEPENDENT: [&str; 2] = ["mock_servers", "xtask"];

/// A chapter depends on earlier chapters; the examiner and the tool depend on none.
fn order(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in &subject.ws.members {
        for (name, _) in dependencies(&member.manifest) {
            let Some(number) = chapter_number(name) else {
                continue;
            };
            if chapter_number(&member.dir).is_some_and(|own| number >= own) {
                findings.push(in_manifest(
                    subject,
                    member,
                    name,
                    format!("depends on {name}, which is no earlier chapter; remove it"),
                ));
            } else if INDEPENDENT.contains(&member.dir.as_str()) {
                findings.push(in_manifest(
                    subject,
                    member,
                    name,
                    format!("depends on {name}; {} depends on no chapter", member.dir),
                ));
            }
        }
    }
    findings
}

/// A dependency's version and features stand in the workspace's manifest, so that nothing is compiled twice.
fn versions(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in &subject.ws.members {
        for (name, value) in dependencies(&member.manifest) {
            if value.get("workspace") != Some(&Value::Boolean(true)) {
                let text = format!(
                    "{name} is not taken from the workspace; write {name}.workspace = true"
                );
                findings.push(in_manifest(subject, member, name, text));
            }
        }
    }
    findings
}

/// Edition, licence and lints are said once.
fn inheritance(subject: &Subject<'_>) -> Vec<Finding> {
    let inherits = |value: Option<&Value>| {
        value.and_then(|value| value.get("workspace")) == Some(&Value::Boolean(true))
    };
    let mut findings = Vec::new();
    for member in &subject.ws.members {
        let package = member.manifest.get("package");
        for key in ["edition", "license", "rust-version"] {
            if !inherits(package.and_then(|package| package.get(key))) {
                findings.push(in_manifest(
                    subject,
                    member,
                    key,
                    format!("{key} is not inherited; write {key}.workspace = true"),
                ));
            }
        }
        if !inherits(
            member
                .manifest
                .get("lints")
                .map(|_| &member.manifest["lints"]),
        ) {
            findings.push(in_manifest(
                subject,
                member,
                "[lints",
                "lints are not inherited; write [lints] workspace = true".to_owned(),
            ));
        }
    }
    findings
}

/// Every chapter's folder is a member.
fn members(subject: &Subject<'_>) -> Vec<Finding> {
    let folders = subject
        .ws
        .tree
        .iter()
        .filter_map(|(path, _)| path.strip_suffix("/Cargo.toml"));
    let forgotten = folders.filter(|folder| {
        chapter_number(folder).is_some()
            && !subject
                .ws
                .members
                .iter()
                .any(|member| member.dir == *folder)
    });
    forgotten
        .map(|folder| {
            Finding::file(
                "Cargo.toml",
                format!("{folder} is no member; add it to members"),
            )
        })
        .collect()
}

/// All dependencies of a manifest, of every kind and for every target.
fn dependencies(manifest: &Table) -> impl Iterator<Item = (&str, &Value)> {
    let targets = manifest
        .get("target")
        .and_then(Value::as_table)
        .into_iter()
        .flat_map(Table::values);
    let tables = std::iter::once(manifest).chain(targets.filter_map(Value::as_table));
    tables
        .flat_map(|table| {
            KINDS
                .iter()
                .filter_map(|kind| table.get(*kind).and_then(Value::as_table))
        })
        .flatten()
        .map(|(name, value)| (name.as_str(), value))
}

fn in_manifest(subject: &Subject<'_>, member: &Member, key: &str, text: String) -> Finding {
    let path = format!("{}/Cargo.toml", member.dir);
    let line = line_of(subject.ws.tree.text(&path).unwrap_or_default(), key);
    Finding::at(&path, line, text)
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;
    use crate::fixture::manifest;

    const COURSE: &str = "adds = \"the loop\"";

    #[test]
    fn a_chapter_depends_on_earlier_chapters_only() {
        let text = manifest(
            "s01_loop",
            COURSE,
            "anyhow.workspace = true\ns02_tools.workspace = true\n",
        );

        assert_eq!(
            found(order, &[("s01_loop/Cargo.toml", &text)]),
            [
                "s01_loop/Cargo.toml:17: depends on s02_tools, which is no earlier chapter; remove it"
            ]
        );
        assert_eq!(found(order, &[]), [""; 0]);
    }

    #[test]
    fn the_examiner_depends_on_no_chapter() {
        let root = "[workspace]\nmembers = [\"mock_servers\"]\n";
        let text = "[dev-dependencies]\ns01_loop.workspace = true\n";

        assert_eq!(
            found(
                order,
                &[("Cargo.toml", root), ("mock_servers/Cargo.toml", text)]
            ),
            ["mock_servers/Cargo.toml:2: depends on s01_loop; mock_servers depends on no chapter"]
        );
    }

    #[test]
    fn versions_stand_in_the_workspace_only() {
        let text = manifest(
            "s01_loop",
            COURSE,
            "anyhow = \"1\"\nserde = { workspace = true, features = [\"rc\"] }\n",
        ) + "\n[target.'cfg(unix)'.dependencies]\nnix = { path = \"../nix\" }\n";

        assert_eq!(
            found(versions, &[("s01_loop/Cargo.toml", &text)]),
            [
                "s01_loop/Cargo.toml:16: anyhow is not taken from the workspace; write anyhow.workspace = true",
                "s01_loop/Cargo.toml:23: nix is not taken from the workspace; write nix.workspace = true",
            ]
        );
    }

    #[test]
    fn edition_licence_and_lints_are_inherited() {
        let text = manifest("s01_loop", COURSE, "")
            .replace("edition.workspace = true", "edition = \"2021\"")
            .replace("[lints]\nworkspace = true\n", "");

        assert_eq!(
            found(inheritance, &[("s01_loop/Cargo.toml", &text)]),
            [
                "s01_loop/Cargo.toml:4: edition is not inherited; write edition.workspace = true",
                "s01_loop/Cargo.toml:1: lints are not inherited; write [lints] workspace = true",
            ]
        );
        assert_eq!(found(inheritance, &[]), [""; 0]);
    }

    #[test]
    fn every_chapter_is_a_member() {
        let text = manifest("s03_permission", "base = \"s02_tools\"", "");

        assert_eq!(
            found(members, &[("s03_permission/Cargo.toml", &text)]),
            ["Cargo.toml:1: s03_permission is no member; add it to members"]
        );
    }
}
