//! The session in the README, made again and compared.
//!
//! Invariant: what the README shows is what the chapter does; `cargo x session s20 --write` brings it up to date.

use testkit::Class;

#[test]
fn the_readme_shows_a_session() {
    let class =
        Class::new(env!("CARGO_BIN_EXE_s20_full")).file("hello.py", "print('hello')\n").git();
    let lines = [
        "Create a todo list for inspecting this repo, then list Python files",
        "/tasks",
        "Connect to the docs MCP server",
        "/cost",
    ];
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    class.session(&lines).is_shown_in(readme);
}
