//! The rules, each broken once: one change of a tidy course, and what is found then.

use super::findings;
use crate::tests::fixture::{course, tree};

/// What is found when `old` becomes `new` in a file of the small course; without `old`, when the file is `new`.
fn found(path: &str, old: &str, new: &str) -> Vec<String> {
    let tree = tree(&[]);
    let text = tree.text(path).unwrap_or_default();
    assert!(text.contains(old), "{path} holds no {old:?}");
    let text = if old.is_empty() { new.to_owned() } else { text.replacen(old, new, 1) };
    findings(&course(&[(path, &text)]))
}

/// A file, what becomes what in it, and how a finding goes that this has.
#[rustfmt::skip]
const BROKEN: &[(&str, &str, &str, &str)] = &[
    // Manifests.
    ("s02_tools/Cargo.toml", "rests = []", "rests = [\"s01_loop\"]", "s02_tools/src/main.rs:1: `s01_loop` rests, but is imported; take it out of one of them"),
    ("s02_tools/src/main.rs", "use s01_loop::bash;\n", "", "`s01_loop` is neither imported nor does it rest; add it to rests"),
    ("s01_loop/Cargo.toml", "[lints]\nworkspace = true", "", "1: lints are not inherited; write [lints] workspace = true"),
    ("s01_loop/Cargo.toml", "[dependencies]\n", "[dependencies]\ntestkit.workspace = true\n", "1: depends on testkit, which is for tests; make it a dev-dependency"),
    ("s01_loop/src/bash.rs", "/// Runs it.", "#[test]", "s01_loop/Cargo.toml:1: src/ has tests that do not run; take `test = false` out of [lib]"),
    // Carried files.
    ("s02_tools/src/main.rs", "//! s02 · tools.", "//! s02: tools.", "1: the header is not one line of the usual form; write `//! s02 · the lesson. Start with README.md.`"),
    ("s02_tools/src/main.rs", "fn main() {}", "struct Helper;", "main.rs declares `Helper`; it holds Agent, new, turn and main only, move it into the chapter's library"),
    ("s02_tools/src/main.rs", "fn main() {}", "    pub async fn help(&self) {}", "main.rs declares `help`; it holds Agent, new, turn and main only, move it into the chapter's library"),
    ("s02_tools/src/main.rs", "fn main() {}", "fn main() { println!(); }", "a carried file holds `println!`; print through Repl or a hook"),
    ("s02_tools/src/main.rs", "fn main() {}", concat!("fn main() { sle", "ep(); }"), "a carried file holds `sleep`; move it into the chapter's library"),
    ("s02_tools/src/main.rs", "fn main() {}", "const SYSTEM: &str = \"You \\\n", "a text of several lines in a carried file; move it into the chapter's library"),
    ("s02_tools/src/main.rs", "fn main() {}", "fn main() { s01_loop::run(); }", "`s01_loop` names a chapter in the code; import the item with `use`, or take the name from env!(\"CARGO_PKG_NAME\")"),
    // Rust files.
    ("s01_loop/src/bash.rs", "//! Bash: runs a command.\n", "// Bash.\n", "1: no header; open with `//!` and one sentence that says what the file is"),
    ("s01_loop/src/lib.rs", "#![doc", "#[doc", "1: the library does not open with `#![doc = include_str!(\"../README.md\")]`; add it"),
    ("s02_tools/src/lib.rs", "pub mod toolbox;", "pub use s01_loop::{bash};", "3: re-exports from s01_loop; import it where it is used"),
    ("s01_loop/tests/waits.rs", "", concat!("//! A test.\n\nfn a() { sle", "ep(second); }\n"), "3: a test sleeps; pause the time and advance it, or wait for the event itself"),
    ("s01_loop/tests/class.rs", "#[test]", "#[test]\n#[ignore]", "only exercises are switched off; run the test or delete it"),
    // What leads through the course.
    ("ARCHITECTURE.md", "`s02_tools/`", "`s02_tools/src/gone.rs`", "6: the map names s02_tools/src/gone.rs, which is not there; mend the map"),
    ("ARCHITECTURE.md", "| `s01_loop/` | bash |\n", "", "s01_loop/Cargo.toml:1: the crate has no line in the map of ARCHITECTURE.md; add it"),
    ("README.md", "](s01_loop/README.md)", "]", "1: the table of chapters has no row that begins with | [s01_loop](s01_loop/README.md) |; add it"),
    ("CONTRIBUTING.md", "+2 −1", "+2 −2", "1: the numbers are out of date; run cargo x budget --write"),
    ("CONTRIBUTING.md", "<!-- budget -->", "", "1: has no markers for the numbers; add those of the other files; run cargo x budget --write"),
    ("notes.txt", "", concat!("see /ho", "me/ada\n"), concat!("1: holds /ho", "me/…, a path of one machine; use a relative or temporary one")),
    ("notes.txt", "", concat!("TO", "DO: later\n"), concat!("1: holds TO", "DO:…, a note to oneself; do it or file an issue")),
    ("docs/NOTES.md", "", "# Here\n\n[a](LESS.md)\n", "3: the link LESS.md leads nowhere; there is no docs/LESS.md"),
    ("docs/NOTES.md", "", "[a]\n\n[a]: LESS.md\n", "1: the link LESS.md leads nowhere; there is no docs/LESS.md"),
    ("docs/NOTES.md", "", "[a](../../x.md)\n", "1: the link ../../x.md leads out of the repository; link to a file in it"),
    ("docs/NOTES.md", "", "# Here\n\n[a](#there)\n", "3: the link #there leads nowhere; docs/NOTES.md has no heading #there"),
    // Lessons.
    ("s02_tools/README.md", "minutes: 30", "minutes: 3", "1: the minutes are not those of Cargo.toml; open with a front matter that says minutes: 30"),
    ("s02_tools/README.md", "- c\n", "", "the short version is not three bullets and a diagram; write problem, mechanism and invariant, and draw it in a code block"),
    ("s02_tools/README.md", "## Next", "## Later", "1: the sections are not those of a lesson: In short, How it works, Changes from s01_loop, Try it, Predict, then run, Exercises, Left out on purpose, Next"),
    ("s02_tools/README.md", "List all files", "List no\n  files", "the prompt `List no files` is not in tests/class.rs; type it in a class test"),
    ("s02_tools/README.md", "1. `List all files`", "List", "no prompts to try; write each as a list item that opens with the prompt in backticks"),
    ("s02_tools/README.md", "Nothing.", "See `a_stale_answer_is_not_taken`.", "names the test a_stale_answer_is_not_taken, which is not there; name another"),
    ("s02_tools/tests/class.rs", "the_tool_pool", "a_pool", "README.md:1: no class test names the_tool_pool; write one that ends in assert_pool, for cargo x pool"),
    // Exercises.
    ("s01_loop/exercises/ex1_first.rs", "Exercise 1 ·", "Exercise 1:", "1: opens with another line than `Exercise N · title (M minutes).`"),
    ("s01_loop/README.md", "(exercises/ex1_first.rs)", "(README.md)", "ex1_first.rs:1: the README does not name it; link (exercises/ex1_first.rs)"),
];

#[test]
fn each_rule_finds_what_breaks_it() {
    for (path, old, new, wanted) in BROKEN {
        let found = found(path, old, new);
        assert!(
            found.iter().any(|it| it.contains(wanted)),
            "{path}: {new:?} gives {found:#?}, not {wanted}"
        );
    }
}

#[test]
fn sizes_have_limits() {
    for (path, lines, wanted) in [
        ("s01_loop/src/long.rs", 450, "451 lines; split it, 450 is the limit"),
        ("s01_loop/README.md", 150, "151 lines; shorten the lesson, 150 is the limit"),
    ] {
        let header = "//! A file: long.\n";
        let fits = header.to_owned() + &"let a = 1;\n".repeat(lines - 1);
        let is_long =
            |text: &str| found(path, "", text).iter().any(|it| it.contains("is the limit"));
        assert!(!is_long(&fits), "{path}");
        let found = found(path, "", &(fits + "\n"));
        assert!(found.iter().any(|it| it.contains(wanted)), "{found:#?}");
    }
}

/// What looks broken and is not.
#[test]
fn a_tidy_course_has_no_findings() {
    assert_eq!(findings(&course(&[])), [""; 0]);
    let more = "# More\n\n## What's `left`, and why\n\n## More\n\n[a](#more-1) [b](https://x.org) [c](crate::X) `[d](no.md)`\n";
    #[rustfmt::skip]
    let fine = [
        ("docs/MORE.md", "", more),
        ("docs/NOTES.md", "", "[a](../s01_loop) [`b`](../s01_loop/src/bash.rs)\n"),
        ("s02_tools/src/main.rs", "use s01_loop::bash;", "use s01_loop::{\n    bash, // s01 sleeps\n};"),
        ("s02_tools/src/main.rs", "fn main() {}\n", "fn main() {}\n\n#[cfg(test)]\nmod story;\n"),
        ("s02_tools/README.md", "1. `List all files`", "- `cargo run`\n1. `List all files`"),
        ("s02_tools/README.md", "Nothing.", "`mcp__docs__search`, `bash`, <https://x.org/ho"),
        ("s02_tools/tests/more.rs", "", "//! Tests: more.\n\nfn a_fresh_answer_is_taken() {}\n"),
    ];
    for (path, old, new) in fine {
        let mut found = found(path, old, new);
        found.retain(|it| !it.ends_with("run cargo x budget --write"));
        assert_eq!(found, [""; 0], "{path} {new:?}");
    }
}
