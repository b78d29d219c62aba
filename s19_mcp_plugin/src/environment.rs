//! The variables that `.mcp.json` may name.
//!
//! The environment is read here and nowhere else in this chapter. Invariant: the API key is not among them; a file that
//! came with a repository cannot hand it to a program.

use s01_loop::KEY_VARIABLES;

/// The value of a variable, unless it is not set, is no text, or holds the API key.
pub(crate) fn variable(name: &str) -> Option<String> {
    match KEY_VARIABLES.contains(&name) {
        true => None,
        false => std::env::var(name).ok(),
    }
}
