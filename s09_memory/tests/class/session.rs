//! The session in the README, made again and compared.
//!
//! Invariant: what the README shows is what the chapter does; `cargo x session s09 --write` brings it up to date.

use testkit::Class;

#[test]
fn the_readme_shows_a_session() {
    let class = Class::new(env!("CARGO_BIN_EXE_s09_memory"));
    let lines = [
        "I prefer using tabs for indentation, not spaces.",
        "Create a Python file called test.py",
        "What did I tell you about my preferences?",
    ];
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    class.session(&lines).is_shown_in(readme);
}
