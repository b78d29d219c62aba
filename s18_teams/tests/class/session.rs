//! The session in the README, made again and compared.
//!
//! Invariant: what the README shows is what the chapter does; `cargo x session s18 --write` brings it up to date.

use testkit::Class;

/// A task that nobody has claimed.
const TASK: &str = r#"{"version": 1, "id": "0001-0123abcd", "subject": "write notes/tools.md", "status": "pending", "blockedBy": []}"#;

#[test]
fn the_readme_shows_a_session() {
    let class = Class::new(env!("CARGO_BIN_EXE_s18_teams"))
        .file("README.md", "# Demo\n")
        .file(".harness/tasks/0001-0123abcd.json", TASK)
        .git()
        .env("MOCK_TOKENS_PER_SECOND", "100");
    let lines = ["Spawn alice as a developer. Ask her to read README.md."];
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    class.session(&lines).is_shown_in(readme);
}
