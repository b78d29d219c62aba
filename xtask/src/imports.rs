//! Which lessons a file's imports point back to.
//!
//! The `use` lines of a carried file are the chapter's table of contents: `use s03_permission::Policy` names the lesson.
//! Invariant: an import is known by the lesson and the path in it, whatever local name it is given.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::source::{Source, find_word};
use crate::workspace::chapter_number;

/// What a file imports, by lesson: `s01_loop` → {`Client`, `Repl`}.
pub type Imports = BTreeMap<String, BTreeSet<String>>;

/// One `use` declaration.
#[derive(Debug, PartialEq)]
pub struct Use {
    /// Its lines, counted from 0.
    pub lines: Range<usize>,
    /// Whether it re-exports: `pub use`, `pub(crate) use`.
    pub public: bool,
    /// The full paths it names, local names left out.
    pub paths: Vec<String>,
}

/// The lessons that the `use` lines of a file of the chapter `own` name. `crate` is the chapter itself.
pub fn lessons(source: &Source, own: &str) -> Imports {
    let mut imports = Imports::new();
    for path in uses(source).into_iter().flat_map(|found| found.paths) {
        let (krate, item) = path.split_once("::").unwrap_or((&path, "self"));
        let lesson = if krate == "crate" { own } else { krate };
        if chapter_number(lesson).is_some() {
            imports
                .entry(lesson.to_owned())
                .or_default()
                .insert(item.to_owned());
        }
    }
    imports
}

/// All `use` declarations of a file.
pub fn uses(source: &Source) -> Vec<Use> {
    let mut found = Vec::new();
    for (line, code) in source.code.iter().enumerate() {
        let start = code.trim_start();
        let public = start.starts_with("pub");
        let Some(at) = find_word(code, "use").filter(|_| public || start.starts_with("use "))
        else {
            continue;
        };
        let tail = source.code[line + 1..].iter().map(String::as_str);
        let text = std::iter::once(&code[at + 3..])
            .chain(tail)
            .collect::<Vec<_>>()
            .join("\n");
        let tree = text.split(';').next().unwrap_or_default();
        let end = line + tree.matches('\n').count() + 1;
        let mut paths = Vec::new();
        flatten("", tree, &mut paths);
        found.push(Use {
            lines: line..end,
            public,
            paths,
        });
    }
    found
}

/// Spells out a use tree: `a::{b, c::d as e}` is `a::b` and `a::c::d`.
fn flatten(prefix: &str, tree: &str, paths: &mut Vec<String>) {
    let tree = tree.trim().trim_start_matches("::");
    match tree.split_once('{') {
        Some((head, group)) => {
            let group = group.trim_end().strip_suffix('}').unwrap_or(group);
            let prefix = format!("{prefix}{}", head.trim());
            split_group(group).for_each(|branch| flatten(&prefix, branch, paths));
        }
        None if tree.is_empty() => {}
        None => {
            let path = tree
                .split_once(" as ")
                .map_or(tree, |(path, _)| path.trim());
            let path = format!("{prefix}{path}");
            paths.push(path.strip_suffix("::self").unwrap_or(&path).to_owned());
        }
    }
}

/// Splits at the commas that stand in no inner group.
fn split_group(group: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    group.split(move |c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_tree_is_spelled_out() {
        let source = Source::scan(
            "use anyhow::Result;\nuse s02_tools::{\n    Toolbox, // a comment\n    files::{edit_file, glob as find},\n};\npub use s01_loop::Client;\nlet user = 1;\n",
        );

        let declared = |lines, public, paths: &[&str]| Use {
            lines,
            public,
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        };
        assert_eq!(
            uses(&source),
            [
                declared(0..1, false, &["anyhow::Result"]),
                declared(
                    1..5,
                    false,
                    &[
                        "s02_tools::Toolbox",
                        "s02_tools::files::edit_file",
                        "s02_tools::files::glob"
                    ]
                ),
                declared(5..6, true, &["s01_loop::Client"]),
            ]
        );
    }

    #[test]
    fn only_lessons_count_and_crate_is_the_chapter_itself() {
        let source = Source::scan(
            "use crate::Protocol;\nuse s01_loop::{Client, bash::{self, run}};\nuse serde_json::Value;\nuse s16_protocol;\n",
        );

        let found = lessons(&source, "s16_protocol");

        let items = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let expected: Imports = [
            (
                "s01_loop".to_owned(),
                items(&["Client", "bash", "bash::run"]),
            ),
            ("s16_protocol".to_owned(), items(&["Protocol", "self"])),
        ]
        .into();
        assert_eq!(found, expected);
    }
}
