//! Exercise 3 · one writer a worktree (15 minutes).
//!
//! alice cannot leave her worktree, but the worktrees lie inside the lead's directory: the lead, and bob who holds no
//! task, can write into hers while she works. Let [`Worktrees::gate`](s17_worktree::Worktrees::gate) refuse that for
//! the tools that write a file, with a sentence that names her and the worktree. Reading stays free, however the path
//! is spelled, and as soon as she has completed her task or left, anybody may write again. Nothing is stored for it.
//!
//! Hint: a tool says what it touches; the file tools name their file in the argument `path`. `binding.rs` knows who
//! works in a worktree.
//!
//! Hint: a path is relative to the workspace of the caller, and who has no caller is the lead. `Workspace::resolve`
//! turns all spellings into one.

use s15_mailbox::LEAD;
use serde_json::{Value, json};

use crate::yard::Yard;

/// The API's task in the worktree api, and alice at work on it.
async fn yard_with_alice() -> (Yard, String) {
    let yard = Yard::new();
    let task = yard.task_of("alice", "api").await;
    (yard, task.id)
}

/// Makes a call as this agent would, under the gate.
async fn call(yard: &Yard, agent: &str, name: &str, input: Value) -> Result<String, String> {
    let ws = yard.work_dir(agent);
    let output = yard.call_as(agent, &ws, name, input).await;
    match output.is_error {
        false => Ok(output.text),
        true => Err(output.text),
    }
}

async fn write(yard: &Yard, agent: &str, path: &str) -> Result<String, String> {
    let input = json!({"path": path, "content": "mine"});
    call(yard, agent, "write_file", input).await
}

const HERS: &str = ".harness/worktrees/api/src/lib.rs";

#[tokio::test]
#[ignore = "exercise 3"]
async fn nobody_else_writes_where_alice_works() {
    let (yard, _) = yard_with_alice().await;
    for agent in [LEAD, "bob"] {
        let written = write(&yard, agent, HERS).await;
        let Err(why) = written else {
            panic!("{agent} should not write into the worktree in which alice works");
        };
        assert!(
            why.contains("alice") && why.contains("api"),
            "the refusal should name alice and her worktree; it was {why:?}"
        );
    }
    let file = std::fs::read_to_string(yard.directory("api").join("src/lib.rs")).unwrap();
    assert_eq!(file, "// lib\n", "nothing was written");
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn a_path_has_many_spellings() {
    let (yard, _) = yard_with_alice().await;
    std::os::unix::fs::symlink(yard.directory("api"), yard.ws.root().join("link")).unwrap();
    let absolute = yard.directory("api").join("new.txt");
    for path in [
        absolute.to_str().unwrap(),
        "src/../.harness/worktrees/api/new.txt",
        "./.harness//worktrees/api/new.txt",
        "link/new.txt",
    ] {
        let written = write(&yard, LEAD, path).await;
        assert!(
            written.is_err(),
            "the lead should not write {path}, which lies in the worktree of alice"
        );
    }
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn all_else_stays_as_it_was() {
    let (yard, task) = yard_with_alice().await;
    let refused = write(&yard, LEAD, HERS).await;
    assert!(refused.is_err(), "the lead should not write {HERS} while alice works there");
    let read = call(&yard, LEAD, "read_file", json!({"path": HERS})).await;
    read.expect("anybody may read it");
    yard.create("ui").await;
    let free = ".harness/worktrees/ui/new.txt";
    let written = write(&yard, LEAD, free).await;
    written.expect("nobody works in ui");
    let written = write(&yard, LEAD, "api.txt").await;
    written.expect("this lies in no worktree");
    let written = write(&yard, "alice", "src/lib.rs").await;
    written.expect("alice writes in her own worktree");
    yard.board.complete(&task, "alice").unwrap();
    let written = write(&yard, LEAD, HERS).await;
    written.expect("alice has completed her task, so her worktree is free");
}
