//! The session in the README, made again and compared.
//!
//! Invariant: what the README shows is what the chapter does; `cargo x session s05 --write` brings it up to date.

use testkit::Class;

#[test]
fn the_readme_shows_a_session() {
    let class = Class::new(env!("CARGO_BIN_EXE_s05_todo"))
        .file("README.md", "# Demo\n\nA small project.\n")
        .file("hello.py", "print('hello')\n");
    let lines = [
        "Make a to-do list: read README.md, find all Python files, write a summary",
        "Read README.md",
        "Find all Python files",
    ];
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    class.session(&lines).is_shown_in(readme);
}
