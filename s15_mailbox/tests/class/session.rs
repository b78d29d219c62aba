//! The session in the README, made again and compared.
//!
//! Invariant: what the README shows is what the chapter does; `cargo x session s15 --write` brings it up to date.

use testkit::Class;

#[test]
fn the_readme_shows_a_session() {
    let class = Class::new(env!("CARGO_BIN_EXE_s15_mailbox")).env("MOCK_TOKENS_PER_SECOND", "100");
    let lines = [
        "Spawn alice as a backend developer. Ask her to create a file called schema.sql with a users table.",
    ];
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    class.session(&lines).is_shown_in(readme);
}
