//! The session in the README, made again and compared.
//!
//! Invariant: what the README shows is what the chapter does; `cargo x session s16 --write` brings it up to date.

use testkit::Class;

#[test]
fn the_readme_shows_a_session() {
    let class = Class::new(env!("CARGO_BIN_EXE_s16_protocol")).env("MOCK_TOKENS_PER_SECOND", "30");
    let lines = [
        "Spawn bob as a tester. Ask him to check if schema.sql exists and list its contents. Have him submit a plan first. Then review and approve it.",
    ];
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    class.session(&lines).is_shown_in(readme);
}
