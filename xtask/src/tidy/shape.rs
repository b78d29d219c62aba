//! Rules for the shape of a Rust file: its header, its size, and what a library's root holds.
//!
//! A reader opens a file knowing nothing of it; the header must say what it is, and the rest must fit in the head.

use super::{Finding, Rule, RustFile, Subject, chapter_of};
use crate::workspace::{LAST, MAIN, chapter_number};
use crate::{header, imports};

pub(super) const RULES: [Rule; 5] = [headers, library_root, file_size, function_size, re_exports];

const LINES_OF_FILE: usize = 450;
const LINES_OF_FUNCTION: usize = 60;
/// The assembly of all mechanisms at once is one line after another; split, it could no longer be read downwards.
const LINES_OF_LAST_ASSEMBLY: usize = 100;
const ROOT_HEADER: &str = "#![doc = include_str!(\"../README.md\")]";

/// Every file opens with `//!` and a sentence; a chapter's library opens with its README.
fn headers(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &subject.rust {
        if is_chapter_root(file) {
            if !file.text.starts_with(ROOT_HEADER) {
                findings.push(Finding::file(
                    file.path,
                    format!("the library does not open with `{ROOT_HEADER}`; add it"),
                ));
            }
        } else if !file.text.starts_with("//!") {
            findings.push(Finding::file(
                file.path,
                "no header; open with `//!` and what the file is, in one sentence",
            ));
        } else if header::first_sentence(file.text).is_none() {
            let text = "the header's first paragraph has no sentence; say what the file is and end with a full stop";
            findings.push(Finding::file(file.path, text));
        }
    }
    findings
}

/// A chapter's `lib.rs` lists its modules and its own items.
fn library_root(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in subject.rust.iter().filter(|file| is_chapter_root(file)) {
        let uses = imports::uses(&file.source);
        let allowed = |code: &str| {
            ["mod ", "pub mod ", "#[", "#!["]
                .iter()
                .any(|start| code.starts_with(start))
        };
        let other = file.code().find(|(line, code)| {
            !code.trim().is_empty()
                && !allowed(code)
                && !uses.iter().any(|found| found.lines.contains(line))
        });
        findings.extend(other.map(|(line, _)| {
            Finding::at(
                file.path,
                line,
                "lib.rs holds code; move it into a module and export it from here",
            )
        }));
    }
    findings
}

/// Files stay short enough to be read in one go.
fn file_size(subject: &Subject<'_>) -> Vec<Finding> {
    let long = subject
        .rust
        .iter()
        .map(|file| (file.path, file.text.lines().count()));
    long.filter(|(_, lines)| *lines > LINES_OF_FILE)
        .map(|(path, lines)| {
            Finding::file(
                path,
                format!("{lines} lines; split it, {LINES_OF_FILE} is the limit"),
            )
        })
        .collect()
}

/// Functions stay short enough to be seen at once.
fn function_size(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &subject.rust {
        for function in file.source.functions() {
            let (lines, name) = (function.lines.len(), &function.name);
            let limit = if name == "new" && is_last_main(file) {
                LINES_OF_LAST_ASSEMBLY
            } else {
                LINES_OF_FUNCTION
            };
            if lines > limit {
                let text = format!("`{name}` has {lines} lines; split it, {limit} is the limit");
                findings.push(Finding::at(file.path, function.lines.start, text));
            }
        }
    }
    findings
}

/// An import names the lesson that teaches the item, so no lesson exports another's.
fn re_exports(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &subject.rust {
        for found in imports::uses(&file.source)
            .into_iter()
            .filter(|found| found.public)
        {
            let lessons = found
                .paths
                .iter()
                .filter_map(|path| path.split("::").next());
            let other = lessons
                .filter(|name| chapter_number(name).is_some())
                .find(|name| chapter_of(file.path) != Some(name));
            findings.extend(other.map(|name| {
                Finding::at(
                    file.path,
                    found.lines.start,
                    format!("re-exports an item of {name}; import it where it is used"),
                )
            }));
        }
    }
    findings
}

fn is_chapter_root(file: &RustFile<'_>) -> bool {
    chapter_of(file.path).is_some_and(|name| file.path == format!("{name}/src/lib.rs"))
}

fn is_last_main(file: &RustFile<'_>) -> bool {
    chapter_of(file.path).is_some_and(|name| {
        chapter_number(name) == Some(LAST) && file.path == format!("{name}/{MAIN}")
    })
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    const PATH: &str = "s02_tools/src/tool.rs";

    /// What `rule` finds in a library file of a chapter that holds `body`.
    fn in_library(rule: Rule, body: &str) -> Vec<String> {
        found(rule, &[(PATH, &format!("//! A tool: a value.\n{body}"))])
    }

    #[test]
    fn a_file_opens_with_what_it_is() {
        assert_eq!(
            found(
                headers,
                &[(PATH, "// A tool.\n"), ("xtask/src/main.rs", "//! Tool\n")]
            ),
            [
                "s02_tools/src/tool.rs:1: no header; open with `//!` and what the file is, in one sentence",
                "xtask/src/main.rs:1: the header's first paragraph has no sentence; \
                 say what the file is and end with a full stop",
            ]
        );
        assert_eq!(
            found(headers, &[("s02_tools/src/lib.rs", "//! Tools.\n")]),
            [
                "s02_tools/src/lib.rs:1: the library does not open with `#![doc = include_str!(\"../README.md\")]`; add it"
            ]
        );
    }

    #[test]
    fn a_library_root_lists_modules_and_exports() {
        let list =
            format!("{ROOT_HEADER}\n\n#[cfg(unix)]\nmod bash;\npub use bash::{{\n    run,\n}};\n");

        assert_eq!(
            found(library_root, &[("s02_tools/src/lib.rs", &list)]),
            [""; 0]
        );
        assert_eq!(
            found(
                library_root,
                &[("s02_tools/src/lib.rs", &format!("{list}fn run() {{}}\n"))]
            ),
            [
                "s02_tools/src/lib.rs:8: lib.rs holds code; move it into a module and export it from here"
            ]
        );
    }

    #[test]
    fn a_file_and_a_function_have_their_limits() {
        let lines = |count| "let a = 1;\n".repeat(count);

        assert_eq!(in_library(file_size, &lines(449)), [""; 0]);
        assert_eq!(
            in_library(file_size, &lines(450)),
            ["s02_tools/src/tool.rs:1: 451 lines; split it, 450 is the limit"]
        );
        assert_eq!(
            in_library(function_size, &format!("fn run() {{\n{}}}\n", lines(58))),
            [""; 0]
        );
        assert_eq!(
            in_library(function_size, &format!("fn run() {{\n{}}}\n", lines(59))),
            ["s02_tools/src/tool.rs:2: `run` has 61 lines; split it, 60 is the limit"]
        );
    }

    #[test]
    fn only_the_last_chapter_may_assemble_more() {
        let assembly = |name: &str, lines: usize| {
            format!(
                "//! It runs.\nfn {name}() {{\n{}}}\n",
                "    step();\n".repeat(lines)
            )
        };
        let in_last =
            |text: String| found(function_size, &[("s20_full/src/main.rs", text.as_str())]);

        assert_eq!(in_last(assembly("new", 98)), [""; 0]);
        assert_eq!(
            in_last(assembly("new", 99)),
            ["s20_full/src/main.rs:2: `new` has 101 lines; split it, 100 is the limit"]
        );
        assert_eq!(
            in_last(assembly("turn", 59)),
            ["s20_full/src/main.rs:2: `turn` has 61 lines; split it, 60 is the limit"]
        );
    }

    #[test]
    fn no_lesson_exports_the_item_of_another() {
        assert_eq!(
            in_library(
                re_exports,
                "pub use s02_tools::Tool;\nuse s01_loop::Client;\n"
            ),
            [""; 0]
        );
        assert_eq!(
            in_library(re_exports, "pub use s01_loop::Client;\n"),
            ["s02_tools/src/tool.rs:2: re-exports an item of s01_loop; import it where it is used"]
        );
    }
}
