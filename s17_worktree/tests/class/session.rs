//! The session in the README, made again and compared.
//!
//! Invariant: what the README shows is what the chapter does; `cargo x session s17 --write` brings it up to date.

use testkit::Class;

#[test]
fn the_readme_shows_a_session() {
    let class =
        Class::new(env!("CARGO_BIN_EXE_s17_worktree")).git().env("MOCK_TOKENS_PER_SECOND", "100");
    let lines = [
        "Create a task to write notes/tools.md. Create a worktree for it, bound to the task. Spawn alice and give her the task.",
    ];
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    class.session(&lines).is_shown_in(readme);
}
