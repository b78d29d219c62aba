//! Rules for Rust files that clippy does not have: headers, sizes, what a library leaves to others, how tests wait.
//!
//! A reader opens a file knowing nothing of it; the header must say what it is, and the rest must fit in the head.

use super::{Findings, Rule, chapter_of, files};
use crate::header;
use crate::rust::{self, has_word};
use crate::workspace::{MAIN, Workspace, chapter_number};

pub(super) const RULES: [Rule; 6] = [headers, file_size, library_root, outside, waiting, helpers];

const LINES: usize = 450;
const ROOT_HEADER: &str = "#![doc = include_str!(\"../README.md\")]";
/// What belongs to the terminal or to the environment, and what to do instead.
const OUTSIDE: [(&[&str], &str); 2] = [
    (
        &[
            "println!",
            "print!",
            "eprintln!",
            "eprint!",
            "stdin()",
            "stdout()",
            "stderr()",
        ],
        "give the text to Repl, or ask through it",
    ),
    (
        &["env::var", "env::var_os", "env::vars", "env::args"],
        "take the value as an argument",
    ),
];
/// The parts of libraries that own the terminal or the environment: where their paths begin.
const OWNERS: [&str; 3] = [
    // The terminal is Repl's, and what the environment says of it.
    "s01_loop/src/repl",
    // Reads the key, the address and the model, once, for `Client::from_env`.
    "s01_loop/src/settings.rs",
    // Reads the variables that `.mcp.json` names, when a server is started with them.
    "s19_mcp_plugin/src/environment.rs",
];
/// The rooms of `support/` that a program may use, and how large the one for helpers may get.
const FOR_PROGRAMS: [&str; 2] = ["kit", "terminal"];
const KIT: &str = "support/kit/src";
const KIT_LINES: usize = 400;
/// How it looks when a test waits; in two parts, for the test of this rule.
const SLEEP: &str = concat!("sle", "ep(");
/// A "test" that is a program: the other tests of the binary start it on a terminal.
const PROGRAM: &str = "s01_loop/tests/terminal/program.rs";

/// Every file opens with `//!` and a sentence; a chapter's library opens with its README.
fn headers(ws: &Workspace, found: &mut Findings) {
    for (path, text) in files(ws, ".rs") {
        let problem = if is_root(path) {
            (!text.starts_with(ROOT_HEADER))
                .then(|| format!("the library does not open with `{ROOT_HEADER}`; add it"))
        } else {
            let sentence = header::first_sentence(text);
            let advice = "no header; open with `//!` and what the file is, in one sentence that ends with a full stop";
            sentence.is_none().then(|| advice.to_owned())
        };
        if let Some(problem) = problem {
            found.file(path, problem);
        }
    }
}

/// Files stay short enough to be read in one go.
fn file_size(ws: &Workspace, found: &mut Findings) {
    for (path, text) in files(ws, ".rs") {
        let lines = text.lines().count();
        if lines > LINES {
            found.file(
                path,
                format!("{lines} lines; split it, {LINES} is the limit"),
            );
        }
    }
}

/// A chapter's `lib.rs` lists its modules and its own items; no lesson exports another's.
fn library_root(ws: &Workspace, found: &mut Findings) {
    for (path, text) in files(ws, "/src/lib.rs").filter(|(path, _)| is_root(path)) {
        const ITEMS: [&str; 7] = [
            "fn ", "struct ", "enum ", "trait ", "impl", "const ", "type ",
        ];
        for (number, line) in text.lines().enumerate() {
            let item = line.trim_start_matches("pub ");
            if ITEMS.iter().any(|start| item.starts_with(start)) {
                found.at(
                    path,
                    number,
                    "lib.rs holds code; move it into a module and export it from here",
                );
            }
        }
        let exported = rust::uses(text)
            .into_iter()
            .filter(|it| it.public)
            .flat_map(|it| it.paths);
        for item in exported {
            let lesson = item.split("::").next().unwrap_or_default();
            if chapter_number(lesson).is_some() && chapter_of(path) != Some(lesson) {
                found.file(
                    path,
                    format!("re-exports {item}; import it where it is used"),
                );
            }
        }
    }
}

/// A library of a chapter neither prints nor reads the terminal or the environment.
fn outside(ws: &Workspace, found: &mut Findings) {
    for (path, text) in files(ws, ".rs") {
        let owns = OWNERS.iter().any(|owner| path.starts_with(owner));
        if owns || !chapter_of(path).is_some_and(|it| path.starts_with(&format!("{it}/src/"))) {
            continue;
        }
        if path.ends_with(MAIN) || path.ends_with("tests.rs") || path.contains("/tests/") {
            continue;
        }
        for (number, code) in code(text).take_while(|(_, code)| code.trim() != "#[cfg(test)]") {
            for (words, advice) in OUTSIDE {
                if let Some(word) = words.iter().find(|word| has_word(code, word)) {
                    found.at(path, number, format!("a library holds `{word}`; {advice}"));
                }
            }
        }
    }
}

/// A test advances time by hand, and no test is switched off, except in the exercises.
fn waiting(ws: &Workspace, found: &mut Findings) {
    for (path, text) in files(ws, ".rs").filter(|(path, _)| *path != PROGRAM) {
        let only_tests = ["/tests/", "/tests.rs", "/benches/", "/exercises/"];
        let mut in_tests = only_tests.iter().any(|part| path.contains(part));
        for (number, code) in code(text) {
            in_tests |= code == "#[cfg(test)]";
            if in_tests && has_word(code, SLEEP) {
                found.at(
                    path,
                    number,
                    "a test sleeps; pause the time and advance it, or wait for the event itself",
                );
            }
            if code.trim().starts_with("#[ignore") && !path.contains("/exercises/") {
                found.at(
                    path,
                    number,
                    "only exercises are switched off; run the test or delete it",
                );
            }
        }
    }
}

/// Helpers are few, and a program takes nothing else from `support/`; what is there for tests stays in tests.
fn helpers(ws: &Workspace, found: &mut Findings) {
    let source = |text: &str| text.split("\n#[cfg(test)]\n").next().map(str::to_owned);
    let kit = ws
        .tree
        .below(KIT)
        .filter_map(|(_, file)| source(&file.text));
    let lines: usize = kit.map(|text| text.lines().count()).sum();
    if lines > KIT_LINES {
        let text =
            format!("{lines} lines; {KIT_LINES} is the limit, a mechanism belongs to its lesson");
        found.file(&format!("{KIT}/lib.rs"), text);
    }
    let rooms = ws
        .members
        .iter()
        .filter_map(|member| member.dir.strip_prefix("support/"));
    let others: Vec<_> = rooms.filter(|room| !FOR_PROGRAMS.contains(room)).collect();
    for chapter in &ws.chapters {
        for (path, file) in ws.tree.below(&chapter.path("src")) {
            let Some(text) = source(&file.text).filter(|_| path.ends_with(".rs")) else {
                continue;
            };
            let used = rust::uses(&text).into_iter().flat_map(|it| it.paths);
            for item in used.filter(|item| {
                others
                    .iter()
                    .any(|room| item.split("::").next() == Some(room))
            }) {
                let rooms = FOR_PROGRAMS.join(" and ");
                found.file(
                    path,
                    format!("imports {item}; of support/ a program has {rooms} only"),
                );
            }
        }
    }
}

/// The lines without comments and without most literals, with their numbers.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let code = |line: &'_ str| line.find("//").map_or(line.len(), |end| end);
    text.lines()
        .map(move |line| &line[..code(line)])
        .enumerate()
}

fn is_root(path: &str) -> bool {
    chapter_of(path).is_some_and(|name| path == format!("{name}/src/lib.rs"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{finds, found};
    use super::*;
    use crate::tests::fixture;

    const PATH: &str = "s02_tools/src/tool.rs";
    const ROOT: &str = "s02_tools/src/lib.rs";

    #[test]
    fn a_file_opens_with_what_it_is_and_is_short() {
        let none = "1: no header; open with `//!` and what the file is, in one sentence that ends with a full stop";
        let root =
            "1: the library does not open with `#![doc = include_str!(\"../README.md\")]`; add it";
        finds(
            headers,
            &[
                (PATH, "// A tool.\n", &[none]),
                ("xtask/src/main.rs", "//! Tool\n", &[none]),
                (ROOT, "//! Tools.\n", &[root]),
            ],
        );
        let lines = |count| "let a = 1;\n".repeat(count);
        let long = "1: 451 lines; split it, 450 is the limit";
        finds(
            file_size,
            &[(PATH, &lines(450), &[]), (PATH, &lines(451), &[long])],
        );
    }

    #[test]
    fn a_library_root_lists_modules_and_its_own_items() {
        let text = format!(
            "{ROOT_HEADER}\n\n#[cfg(unix)]\nmod bash;\npub use bash::{{\n    run,\n}};\nuse s01_loop::Client;\n"
        );
        let code = format!("{text}pub fn run() {{}}\npub use s01_loop::{{Client}};\n");
        let wanted: &[&str] = &[
            "9: lib.rs holds code; move it into a module and export it from here",
            "1: re-exports s01_loop::Client; import it where it is used",
        ];
        finds(library_root, &[(ROOT, &text, &[]), (ROOT, &code, wanted)]);
    }

    #[test]
    fn a_library_leaves_terminal_and_environment_to_others() {
        for (words, advice) in OUTSIDE {
            for word in words {
                let wanted = format!("1: a library holds `{word}`; {advice}");
                let text = format!("fn run() {{ {word} }}\n");
                finds(
                    outside,
                    &[
                        (PATH, &text, &[&wanted]),
                        ("s02_tools/src/main.rs", &text, &[]),
                    ],
                );
                finds(outside, &[("s01_loop/src/repl/screen.rs", &text, &[])]);
            }
        }
        let harmless = "// println! is for Repl\nfn a() { command.stdin(null) }\n#[cfg(test)]\nmod tests {\n    fn b() { println!(); }\n}\n";
        finds(outside, &[(PATH, harmless, &[])]);
    }

    #[test]
    fn helpers_are_few_and_what_tests_have_stays_in_tests() {
        let root = "[workspace]\nmembers = [\"s02_tools\", \"support/kit\", \"support/testkit\"]\n";
        let manifest = |name| fixture::manifest(name, "", "");
        let (kit, testkit) = (manifest("kit"), manifest("testkit"));
        let course = |path: &str, text: &str| {
            let own = [("Cargo.toml", root), ("support/kit/Cargo.toml", &kit)];
            let own = [
                own,
                [("support/testkit/Cargo.toml", &testkit), (path, text)],
            ]
            .concat();
            found(helpers, &own)
        };
        let lines = |count| "let a = 1;\n".repeat(count);
        let (full, long) = (lines(400), lines(401));
        let full = full + "\n#[cfg(test)]\nmod tests {}\n";
        assert_eq!(course("support/kit/src/lib.rs", &full), [""; 0]);
        assert_eq!(
            course("support/kit/src/text.rs", &long),
            [
                "support/kit/src/lib.rs:1: 401 lines; 400 is the limit, a mechanism belongs to its lesson"
            ]
        );
        assert_eq!(course(PATH, "use kit::{cut, grouped};\n"), [""; 0]);
        let tests = "\n#[cfg(test)]\nmod tests {\n    use testkit::Class;\n}\n";
        assert_eq!(course(PATH, tests), [""; 0]);
        assert_eq!(
            course(PATH, "use testkit::Class;\n"),
            [
                "s02_tools/src/tool.rs:1: imports testkit::Class; of support/ a program has kit and terminal only"
            ]
        );
    }

    #[test]
    fn a_test_neither_sleeps_nor_is_switched_off() {
        let text = format!(
            "fn a() {{ tokio::time::{}second).await }}\n{}]\n",
            SLEEP, "#[ignore"
        );
        let sleeps =
            "1: a test sleeps; pause the time and advance it, or wait for the event itself";
        let off = "2: only exercises are switched off; run the test or delete it";
        finds(
            waiting,
            &[
                ("s02_tools/tests/waits.rs", &text, &[sleeps, off]),
                ("s02_tools/src/waits.rs", &text, &[off]),
                ("s02_tools/exercises/ex1.rs", &text, &[sleeps]),
            ],
        );
    }
}
