//! A small course for the tests: two chapters, and everything tidy.
//!
//! A test names only the files it is about; the rest is what a tidy course has.
//! Invariant: as it stands, no rule of `tidy` finds anything in it.

use std::path::PathBuf;

use crate::tree::Tree;
use crate::workspace::Workspace;

/// The small course with `changes` laid over it: the text of a file by its path.
pub fn course(changes: &[(&str, &str)]) -> Workspace {
    console::set_colors_enabled(false);
    workspace(tree(changes))
}

/// A tree as a workspace.
pub fn workspace(tree: Tree) -> Workspace {
    Workspace::new(PathBuf::from("."), tree).expect("the fixture's manifests are well formed")
}

/// The files of the small course with `changes` laid over them.
pub fn tree(changes: &[(&str, &str)]) -> Tree {
    let loop_manifest = manifest("s01_loop", "adds = \"the loop\"", "");
    let tools_manifest = manifest(
        "s02_tools",
        "adds = \"tools\"\nbase = \"s01_loop\"",
        "s01_loop.workspace = true\n",
    );
    let (loop_readme, tools_readme) = (readme("s01_loop", ""), readme("s02_tools", CHANGES));
    let course = [
        ("Cargo.toml", ROOT_MANIFEST),
        ("README.md", ROOT_README),
        ("ARCHITECTURE.md", ARCHITECTURE),
        ("CONTRIBUTING.md", CONTRIBUTING),
        ("s01_loop/Cargo.toml", &loop_manifest),
        ("s01_loop/README.md", &loop_readme),
        (
            "s01_loop/src/lib.rs",
            "#![doc = include_str!(\"../README.md\")]\n\npub mod bash;\npub use bash::run;\n",
        ),
        (
            "s01_loop/src/main.rs",
            "//! s01 · the loop. Start with README.md.\n\nuse s01_loop::bash;\n\nfn main() {}\n",
        ),
        (
            "s01_loop/src/bash.rs",
            "//! Bash: runs a command.\n\n/// Runs it.\npub fn run() {\n    go();\n}\n",
        ),
        ("s01_loop/tests/class.rs", CLASS),
        ("s02_tools/Cargo.toml", &tools_manifest),
        ("s02_tools/README.md", &tools_readme),
        ("s02_tools/src/lib.rs", "#![doc = include_str!(\"../README.md\")]\n\npub mod toolbox;\n"),
        (
            "s02_tools/src/main.rs",
            "//! s02 · tools. Start with README.md.\n\nuse s01_loop::bash;\nuse s02_tools::toolbox;\n\nfn main() {}\n",
        ),
        (
            "s02_tools/src/toolbox.rs",
            "//! A toolbox: tools by name.\n\n/// Tools.\n#[derive(Default)]\npub struct Toolbox;\n\n/// Runs it.\npub fn run() {\n    go();\n}\n",
        ),
        ("s02_tools/tests/class.rs", &CLASS.replace("s01", "s02")),
    ];
    let owned = |(path, text): (&str, &str)| (path.to_owned(), text.to_owned());
    let exercises = ["s01_loop", "s02_tools"].map(exercises).concat();
    let files = course.map(owned).into_iter().chain(exercises);
    Tree(files.chain(changes.iter().copied().map(owned)).collect())
}

/// Two exercises of a chapter.
fn exercises(name: &str) -> Vec<(String, String)> {
    let main = "//! The exercises.\n\nmod ex1_first;\nmod ex2_second;\n".to_owned();
    let files = [
        ("main.rs", main),
        ("ex1_first.rs", exercise(1)),
        ("ex1_first.patch", String::new()),
        ("ex2_second.rs", exercise(2)),
        ("ex2_second.patch", String::new()),
    ];
    files.map(|(file, text)| (format!("{name}/exercises/{file}"), text)).to_vec()
}

/// A chapter's manifest with more lines of metadata and more dependencies.
pub fn manifest(name: &str, course: &str, dependencies: &str) -> String {
    let file = if name == "s01_loop" { "bash" } else { "toolbox" };
    let mut start = format!("\nstart = [\"src/{file}.rs\"]");
    if course.contains("start = ") {
        start.clear();
    }
    format!(
        "[package]\nname = \"{name}\"\n\n[package.metadata.course]\n{course}\nrests = []\nminutes = 30{start}\n\n\
         [lib]\ntest = false\n\n[dependencies]\n{dependencies}\n[lints]\nworkspace = true\n"
    )
}

/// A chapter's README with all sections; `changes` stands in front of "Try it".
fn readme(name: &str, changes: &str) -> String {
    format!(
        "---\nminutes: 30\n---\n\n# {name}\n\nA chapter that shows how it is done.\n\n## In short\n\n- a\n- b\n- c\n\n\
         ```text\na -> b\n```\n\n## How it works\n\nSee [the loop](src/main.rs).\n\n{changes}## Try it\n\n\
         1. `List all files`: one call.\n\n## Predict, then run\n\nWhat will it do?\n\n## Exercises\n\n1. [First](exercises/ex1_first.rs)\n2. [Second](exercises/ex2_second.rs)\n\n\
         ## Left out on purpose\n\nNothing.\n\n## Next\n\nThe next chapter.\n"
    )
}

fn exercise(number: usize) -> String {
    format!(
        "//! Exercise {number} · more of it (10 minutes).\n//!\n//! Do it.\n//!\n//! Hint: begin.\n\n\
         #[test]\n#[ignore = \"exercise {number}\"]\nfn it_is_done() {{}}\n"
    )
}

/// The section of a README that says what changes from the first chapter.
const CHANGES: &str = "## Changes from s01_loop\n\n| file | change |\n|---|---|\n\
    | `main.rs` | <!-- step -->+2 −1<!-- /step --> |\n\n";

const CLASS: &str = "//! The class of s01: each prompt, typed in.\n\n#[test]\nfn the_tool_pool() {\n    \
    assert_eq!(typed(\"List all files\"), \"README.md\");\n}\n";

const ROOT_MANIFEST: &str = "[workspace]\nmembers = [\"s01_loop\", \"s02_tools\"]\n\n\
    [workspace.dependencies]\nanyhow = \"1\"\ns01_loop = { path = \"s01_loop\" }\n";

const ROOT_README: &str = "# A course\n\n```sh\ncargo x ci\n```\n\n| chapter | adds |\n|---|---|\n\
    | [s01_loop](s01_loop/README.md) | the loop |\n| [s02_tools](s02_tools/README.md) | tools |\n\nTogether 60 minutes.\n";

const ARCHITECTURE: &str = "# Architecture\n\n| where | what |\n|---|---|\n\
    | `s01_loop/` | bash |\n| `s02_tools/` | tools |\n";

const CONTRIBUTING: &str = "# Contributing\n\n<!-- budget -->\n\n\
    | chapter | base | main.rs | teammate.rs | changed | limit |\n|---|---|--:|--:|--:|--:|\n\
    | s02_tools | s01_loop | +2 −1 |  | 3 | 60 |\n\n<!-- /budget -->\n";
