//! The session in the README, made again and compared.
//!
//! Invariant: what the README shows is what the chapter does; `cargo x session s04 --write` brings it up to date.

use testkit::Class;

/// The hook of *Try it*.
const HOOK: &str = r#"{"hooks": {"PreToolUse": [{"matcher": "write_file|edit_file", "hooks": [
  {"type": "command", "command": "grep -q '\\.txt' && { echo 'no text files today' >&2; exit 2; } || exit 0"}]}]}}"#;

#[test]
fn the_readme_shows_a_session() {
    let class = Class::new(env!("CARGO_BIN_EXE_s04_hooks"))
        .file("README.md", "# Demo\n")
        .file(".harness/settings.json", HOOK);
    let lines = ["Read the file README.md", "Create a file called test.txt"];
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    class.session(&lines).is_shown_in(readme);
}
