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
use std::sync::{Arc, Mutex};

use kit::BoxFuture;
use s01_loop::{Answer, Refusal, ToolCall};
use s02_tools::{Toolbox, Workspace, bash};
use s03_permission::{Approver, Policy};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Says no to everything and counts the questions.
#[derive(Clone, Default)]
struct Naysayer(Arc<Mutex<usize>>);

impl Approver for Naysayer {
    fn ask<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Answer> {
        *self.0.lock().unwrap() += 1;
        Box::pin(async { Answer::No(Refusal::User) })
    }

    fn tell(&self, _: &str) {}
}

/// A workspace with a secret and rules about it.
struct Guard {
    dir: TempDir,
    policy: Policy,
    tools: Toolbox,
    asked: Naysayer,
}

impl Guard {
    fn new(permissions: Value) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in [".harness", "src"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        for file in [".env", ".env.example", "notes.txt"] {
            fs::write(dir.path().join(file), "KEY=1\n").unwrap();
        }
        symlink(".env", dir.path().join("innocent.txt")).unwrap();
        let settings = json!({ "permissions": permissions }).to_string();
        fs::write(dir.path().join(".harness/settings.json"), settings).unwrap();
        let ws = Workspace::at(dir.path()).unwrap();
        let asked = Naysayer::default();
        let policy = Policy::open(&ws, asked.clone());
        Self {
            dir,
            policy,
            tools: Toolbox::new().with(bash(&ws)),
            asked,
        }
    }

    async fn check(&self, command: &str) -> Result<(), String> {
        let call = ToolCall::new("toolu_1", "bash", json!({ "command": command }));
        self.policy.check(&self.tools, &call).await
    }

    async fn assert_denied(&self, command: &str) {
        let verdict = self.check(command).await;
        assert!(
            matches!(&verdict, Err(why) if why.contains("read_file(.env)")),
            "`{command}` should be denied, with the rule read_file(.env) as the reason. The policy says {verdict:?}"
        );
        let asked = *self.asked.0.lock().unwrap();
        assert!(
            asked == 0,
            "`{command}` should be denied without a question"
        );
    }

    async fn assert_allowed(&self, command: &str) {
        let verdict = self.check(command).await;
        assert!(
            verdict.is_ok(),
            "`{command}` has nothing to do with the rule and should be allowed. The policy says {verdict:?}"
        );
    }
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn a_command_that_names_the_file_is_denied() {
    let guard = Guard::new(json!({"deny": ["read_file(.env)"]}));
    for command in [
        "cat .env",
        "head -1 notes.txt .env",
        "cp .env copy.txt",
        "grep KEY < .env",
    ] {
        guard.assert_denied(command).await;
    }
    for command in ["cat .env.example", "ls", "grep KEY notes.txt", "echo hello"] {
        guard.assert_allowed(command).await;
    }
}

/// The first trap: a path and a command have many spellings.
#[tokio::test]
#[ignore = "exercise 2"]
async fn no_spelling_helps() {
    let guard = Guard::new(json!({"deny": ["read_file(.env)"]}));
    let absolute = format!("cat {}/.env", guard.dir.path().display());
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
        guard.assert_denied(command).await;
    }
}

/// The second trap: which rules speak of reading, and in which order they are heard.
#[tokio::test]
#[ignore = "exercise 2"]
async fn other_rules_stay_what_they_are() {
    let guard = Guard::new(json!({
        "deny": ["write_file(notes.txt)", "read_file(.env)"],
        "allow": ["bash(cat:*)"],
        "ask": ["read_file(.env.example)"],
    }));
    guard.assert_denied("cat .env").await;
    guard.assert_allowed("cat notes.txt").await;
    guard.assert_allowed("cat .env.example").await;
    let verdict = guard.check("rm notes.txt").await;
    let asked = *guard.asked.0.lock().unwrap();
    assert!(
        asked == 1 && verdict.is_err(),
        "`rm notes.txt` should ask as before. The policy says {verdict:?} after {asked} questions"
    );
}
