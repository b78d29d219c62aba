//! The session in the README, made again and compared.
//!
//! Invariant: what the README shows is what the chapter does; `cargo x session s02 --write` brings it up to date.

use testkit::Class;

#[test]
fn the_readme_shows_a_session() {
    let class = Class::new(env!("CARGO_BIN_EXE_s02_tools"))
        .file("README.md", "# Demo\n")
        .file("Cargo.toml", "[package]\n");
    let lines = [
        "Read both README.md and Cargo.toml, then create a summary file",
        "Write hello into ../outside.txt",
    ];
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    class.session(&lines).is_shown_in(readme);
}
