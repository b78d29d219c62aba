//! The session in the README, made again and compared.
//!
//! Invariant: what the README shows is what the chapter does; `cargo x session s08 --write` brings it up to date.

use testkit::Class;

/// A file that fills a part of the window.
fn text(name: &str) -> String {
    (1..=100).map(|line| format!("line {line} of file {name}\n")).collect()
}

#[test]
fn the_readme_shows_a_session() {
    let class = Class::new(env!("CARGO_BIN_EXE_s08_compact"))
        .env("MOCK_CONTEXT_TOKENS", "4000")
        .file("one.txt", text("one"))
        .file("two.txt", text("two"));
    let lines = ["Read every file in this directory", "What did I ask you first?"];
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    class.session(&lines).is_shown_in(readme);
}
