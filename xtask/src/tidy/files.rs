//! Rules for the checkout: what a clone must hold, and what it must not.

use super::{Finding, Rule, Subject, line_of, words};
use crate::{budget, markers};

pub(super) const RULES: [Rule; 6] = [
    symlinks,
    machine_paths,
    leftovers,
    ignored,
    one_test_command,
    generated,
];

/// Written in two parts, so that this file holds none of them.
const MACHINE_PATHS: [&str; 3] = [
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("/wo", "rk/"),
];
const LEFTOVERS: [(&str, &str); 2] = [
    (concat!("TO", "DO"), "do it or file an issue"),
    (concat!("FIX", "ME"), "do it or file an issue"),
];
const NOTES: [(&str, &str); 2] = [
    (concat!("TO", "DO:"), "do it or file an issue"),
    (concat!("FIX", "ME:"), "do it or file an issue"),
];

/// Symbolic links do not survive every system.
fn symlinks(subject: &Subject<'_>) -> Vec<Finding> {
    let links = subject.ws.tree.iter().filter(|(_, file)| file.symlink);
    links
        .map(|(path, _)| Finding::file(path, "a symbolic link; put the file itself here"))
        .collect()
}

/// No path of one machine.
fn machine_paths(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, file) in subject.ws.tree.iter() {
        for (line, text) in file.text.lines().enumerate() {
            let found = MACHINE_PATHS.iter().find(|needle| {
                text.match_indices(*needle).any(|(at, _)| {
                    !text[..at].ends_with(|c: char| c.is_alphanumeric() || "._-~}>)".contains(c))
                })
            });
            findings.extend(found.map(|needle| {
                Finding::at(
                    path,
                    line,
                    format!(
                        "holds {needle}…, a path of one machine; use a relative or temporary one"
                    ),
                )
            }));
        }
    }
    findings
}

/// No note to oneself. In Rust it is a comment; in Markdown the word without a colon may be the subject.
fn leftovers(subject: &Subject<'_>) -> Vec<Finding> {
    let others = |end: &'static str| {
        subject
            .ws
            .tree
            .iter()
            .filter(move |(path, _)| path.ends_with(end))
    };
    let rust = subject
        .rust
        .iter()
        .flat_map(|file| words(file.path, file.comments(), "holds", &LEFTOVERS));
    let toml = others(".toml")
        .flat_map(|(path, file)| words(path, file.text.lines().enumerate(), "holds", &LEFTOVERS));
    let markdown = others(".md")
        .flat_map(|(path, file)| words(path, file.text.lines().enumerate(), "holds", &NOTES));
    rust.chain(toml).chain(markdown).collect()
}

/// Build output and the agents' state stay out of the repository; the lock file is in it.
fn ignored(subject: &Subject<'_>) -> Vec<Finding> {
    let tree = &subject.ws.tree;
    let lines: Vec<_> = tree
        .text(".gitignore")
        .unwrap_or_default()
        .lines()
        .map(|line| line.trim_matches('/'))
        .collect();
    let mut findings: Vec<_> = ["target", ".harness"]
        .into_iter()
        .filter(|name| !lines.contains(name))
        .map(|name| Finding::file(".gitignore", format!("does not name {name}; add it")))
        .collect();
    if !tree.file("Cargo.lock").is_some_and(|file| file.tracked) {
        findings.push(Finding::file(
            "Cargo.lock",
            "is not committed; every student must get the same dependencies",
        ));
    }
    findings
}

/// CI runs what the README tells a newcomer to run, and nothing else.
fn one_test_command(subject: &Subject<'_>) -> Vec<Finding> {
    let tree = &subject.ws.tree;
    let Some(script) = tree.text(".ci/run") else {
        return vec![Finding::file(
            ".ci/run",
            "there is no script for CI; write one that runs the README's test command",
        )];
    };
    let readme = tree.text("README.md").unwrap_or_default();
    let commands: Vec<_> = script
        .lines()
        .map(|line| line.trim().trim_start_matches("exec "))
        .filter(|line| line.starts_with("cargo "))
        .collect();
    match commands[..] {
        [command] if readme.lines().any(|line| line.trim() == command) => Vec::new(),
        [command] => vec![Finding::at(
            ".ci/run",
            line_of(script, command),
            format!("runs `{command}`, which README.md does not give; run its test command"),
        )],
        _ => vec![Finding::file(
            ".ci/run",
            "does not run exactly one cargo command; run the README's test command",
        )],
    }
}

/// Generated passages are there and up to date.
fn generated(subject: &Subject<'_>) -> Vec<Finding> {
    let ws = subject.ws;
    let counted = budget::rows(ws)
        .into_iter()
        .map(|row| (format!("{}/README.md", row.chapter), budget::STEP));
    let missing = std::iter::once((budget::TABLE_FILE.to_owned(), budget::TABLE))
        .chain(counted)
        .filter(|(path, name)| ws.tree.text(path).is_some_and(|text| markers::inside(text, name).is_none()))
        .map(|(path, name)| {
            let advice = "add them and run cargo x budget --write";
            Finding::file(&path, format!("has no markers <!-- {name} --><!-- /{name} --> for the measured counts; {advice}"))
        });
    let stale = budget::stale(ws).into_iter().map(|(path, _)| {
        Finding::file(
            &path,
            "the numbers are out of date; run cargo x budget --write",
        )
    });
    missing.chain(stale).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Finding, Subject, found};
    use super::*;
    use crate::fixture;
    use crate::tree::File;

    fn found_in(rule: Rule, path: &str, file: File) -> Vec<String> {
        let mut tree = fixture::tree(&[]);
        tree.insert(path, file);
        let ws = fixture::workspace(tree);
        rule(&Subject::new(&ws))
            .iter()
            .map(Finding::to_string)
            .collect()
    }

    #[test]
    fn a_symbolic_link_is_no_file_of_ours() {
        let link = File {
            text: String::new(),
            tracked: true,
            symlink: true,
        };

        assert_eq!(
            found_in(symlinks, "s02_tools/bash.rs", link),
            ["s02_tools/bash.rs:1: a symbolic link; put the file itself here"]
        );
        assert_eq!(found(symlinks, &[]), [""; 0]);
    }

    #[test]
    fn a_path_of_one_machine_is_found_and_a_longer_path_is_not() {
        let of_ada = format!("cd {}ada\n", MACHINE_PATHS[0]);
        let of_nobody = format!(
            "see target{0}x and https://example.com{1}x\n",
            MACHINE_PATHS[2], MACHINE_PATHS[0]
        );

        assert_eq!(
            found(machine_paths, &[("NOTES.md", &of_ada)]),
            [format!(
                "NOTES.md:1: holds {}…, a path of one machine; use a relative or temporary one",
                MACHINE_PATHS[0]
            )]
        );
        assert_eq!(found(machine_paths, &[("NOTES.md", &of_nobody)]), [""; 0]);
    }

    #[test]
    fn a_note_to_oneself_is_found_and_a_list_of_that_name_is_not() {
        let [(todo, _), (fixme, _)] = LEFTOVERS;

        for (path, text) in [
            ("a.rs", format!("// {todo} later\n")),
            ("a.md", format!("{todo}: later\n")),
            ("a.toml", format!("# {fixme}\n")),
        ] {
            let findings = found(leftovers, &[(path, &text)]);
            assert_eq!(findings.len(), 1, "{path}: {findings:?}");
            assert!(
                findings[0].ends_with("; do it or file an issue"),
                "{findings:?}"
            );
        }
        assert_eq!(
            found(
                leftovers,
                &[
                    ("a.md", &format!("The {todo} list.\n")),
                    ("a.rs", &format!("let a = \"{todo}\"; // the todo list\n"))
                ]
            ),
            [""; 0]
        );
    }

    #[test]
    fn the_repository_holds_the_lock_file_and_no_output() {
        let untracked = File {
            text: String::new(),
            tracked: false,
            symlink: false,
        };

        assert_eq!(
            found(ignored, &[(".gitignore", "target/\n")]),
            [".gitignore:1: does not name .harness; add it"]
        );
        assert_eq!(
            found_in(ignored, "Cargo.lock", untracked),
            ["Cargo.lock:1: is not committed; every student must get the same dependencies"]
        );
    }

    #[test]
    fn ci_runs_the_test_command_of_the_readme() {
        assert_eq!(
            found(one_test_command, &[(".ci/run", "set -e\ncargo test\n")]),
            [".ci/run:2: runs `cargo test`, which README.md does not give; run its test command"]
        );
        assert_eq!(
            found(one_test_command, &[(".ci/run", "cargo x ci\ncargo test\n")]),
            [".ci/run:1: does not run exactly one cargo command; run the README's test command"]
        );
        assert_eq!(found(one_test_command, &[]), [""; 0]);
    }

    #[test]
    fn measured_counts_are_there_and_up_to_date() {
        let readme = fixture::readme("s02_tools", &fixture::CHANGES.replace("+2 −1", "+9 −9"));
        assert_eq!(
            found(generated, &[("s02_tools/README.md", &readme)]),
            ["s02_tools/README.md:1: the numbers are out of date; run cargo x budget --write"]
        );
        assert_eq!(
            found(generated, &[("CONTRIBUTING.md", "# Contributing\n")]),
            [
                "CONTRIBUTING.md:1: has no markers <!-- budget --><!-- /budget --> for the measured counts; \
              add them and run cargo x budget --write"
            ]
        );
    }
}
