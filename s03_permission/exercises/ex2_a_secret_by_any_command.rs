//! Exercise 2 · a secret by any command (15 minutes).
//!
//! With the rule `read_file(.env)` under `deny`, read_file does not show `.env`, but `cat .env` does. Let a deny rule
//! with a pattern on read_file hold for bash, too: a command line that names such a file anywhere, as an argument or
//! behind a redirect, is denied with the rule's name, and nobody is asked. That goes for every way to write the path,
//! for a link to the file, and for a command that another one carries (`bash -c 'cat .env'`). An allow rule does not
//! help. Nothing else changes: rules about other tools say nothing about reading, and `cat .env.example` is none of
//! this rule's business.
//!
//! Hint: the text of the line is the wrong thing to search. `shell::Line::parse` gives you its commands, with words
//! after quote removal, and `fatal::may_run` looks into `bash -c`.
//!
//! Hint: `decide` in `src/policy.rs` is where a call is decided on, and a `Call` with a path is matched against the rules
//! for files. Which function says what file a path means?

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::place::Place;

/// A workspace with a secret and rules about it.
fn guarded(permissions: Value) -> Place {
    let place = Place::new(permissions, []);
    fs::create_dir(place.dir.path().join("src")).unwrap();
    for file in [".env", ".env.example", "notes.txt"] {
        fs::write(place.dir.path().join(file), "KEY=1\n").unwrap();
    }
    symlink(".env", place.dir.path().join("innocent.txt")).unwrap();
    place
}

async fn assert_denied(place: &Place, command: &str) {
    let said = place.runs(command).await;
    assert!(
        said.starts_with("permission denied: ") && said.contains("read_file(.env)"),
        "`{command}` should be denied without a question, with the rule read_file(.env) as the reason. The policy says {said:?}"
    );
}

async fn assert_allowed(place: &Place, command: &str) {
    let said = place.runs(command).await;
    assert_eq!(said, "", "`{command}` has nothing to do with the rule and should be allowed");
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn a_command_that_names_the_file_is_denied() {
    let place = guarded(json!({"deny": ["read_file(.env)"]}));
    for command in ["cat .env", "head -1 notes.txt .env", "cp .env copy.txt", "grep KEY < .env"] {
        assert_denied(&place, command).await;
    }
    for command in ["cat .env.example", "ls", "grep KEY notes.txt", "echo hello"] {
        assert_allowed(&place, command).await;
    }
}

/// The first trap: a path and a command have many spellings.
#[tokio::test]
#[ignore = "exercise 2"]
async fn no_spelling_helps() {
    let place = guarded(json!({"deny": ["read_file(.env)"]}));
    let absolute = format!("cat {}/.env", place.dir.path().display());
    for command in [
        "cat ./.env",
        "cat src/../.env",
        "cat '.e'nv",
        "ls; cat .env | wc",
        "echo $(cat .env)",
        "bash -c 'cat .env'",
        "find . -name x -exec cat .env ';'",
        "cat innocent.txt",
        &absolute,
    ] {
        assert_denied(&place, command).await;
    }
}

/// The second trap: which rules speak of reading, and in which order they are heard.
#[tokio::test]
#[ignore = "exercise 2"]
async fn other_rules_stay_what_they_are() {
    let place = guarded(json!({
        "deny": ["write_file(notes.txt)", "read_file(.env)"],
        "allow": ["bash(cat:*)"],
        "ask": ["read_file(.env.example)"],
    }));
    assert_denied(&place, "cat .env").await;
    assert_allowed(&place, "cat notes.txt").await;
    assert_allowed(&place, "cat .env.example").await;
    let said = place.runs("rm notes.txt").await;
    assert!(
        said.contains("needs permission"),
        "`rm notes.txt` should ask as before. The policy says {said:?}"
    );
}
