//! Exercise 3 · changed by somebody else (15 minutes).
//!
//! The model reads a file and thinks; meanwhile you save the same file in your editor; then the model writes, and
//! your work is gone. Let write_file and edit_file refuse a file that has changed since this agent last read or wrote
//! it. The error holds the words `has changed since` and says what to do: read it again. After that the write goes
//! through. What the agent wrote itself is no change by somebody else, what a command of bash wrote is one. A file
//! that the agent has never seen is written as before.
//!
//! Hint: the tools are closures over one `Workspace`, and its clones share what stands in an `Arc`. Something must be
//! remembered for each file; size and time of change will do.
//!
//! Hint: a file has many names. Under which one do you remember it? `src/workspace.rs` has the answer already.

use std::fs;
use std::os::unix::fs::symlink;

use s01_loop::{Output, ToolCall};
use s02_tools::{Toolbox, Workspace, bash, edit_file, read_file, write_file};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A workspace with one file and the tools that one agent has.
struct Desk {
    dir: TempDir,
    tools: Toolbox,
}

impl Desk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let ws = Workspace::at(dir.path()).unwrap();
        let tools = Toolbox::new()
            .with(bash(&ws))
            .with(read_file(&ws))
            .with(write_file(&ws))
            .with(edit_file(&ws));
        let desk = Self { dir, tools };
        desk.save("one two\n");
        desk
    }

    /// Somebody else saves the file.
    fn save(&self, content: &str) {
        fs::write(self.dir.path().join("a.txt"), content).unwrap();
    }

    fn content(&self) -> String {
        fs::read_to_string(self.dir.path().join("a.txt")).unwrap()
    }

    async fn call(&self, tool: &str, input: Value) -> Output {
        self.tools.call(ToolCall::new("toolu_1", tool, input)).await
    }

    async fn read(&self) {
        let output = self.call("read_file", json!({"path": "a.txt"})).await;
        assert!(!output.is_error, "reading should work: {}", output.text);
    }

    async fn edit(&self, path: &str, old: &str, new: &str) -> Output {
        let input = json!({"path": path, "old_text": old, "new_text": new});
        self.call("edit_file", input).await
    }

    /// Asserts that a tool would not touch the file, which holds this.
    #[track_caller]
    fn assert_refused(&self, what: &str, output: &Output, content: &str) {
        assert!(
            output.is_error && output.text.contains("has changed since"),
            "{what} should be an error with the words `has changed since`; it was answered: {}",
            output.text
        );
        let found = self.content();
        assert!(found == content, "{what} should leave {content:?}; the file holds {found:?}");
    }
}

#[tokio::test]
#[ignore = "exercise 3"]
async fn what_somebody_else_saved_is_not_overwritten() {
    let desk = Desk::new();
    desk.read().await;
    desk.save("one two, and my own work\n");
    let edited = desk.edit("a.txt", "one", "1").await;
    desk.assert_refused(
        "an edit of a file that you saved meanwhile",
        &edited,
        "one two, and my own work\n",
    );
    let written = desk.call("write_file", json!({"path": "a.txt", "content": "all new\n"})).await;
    desk.assert_refused(
        "a write over a file that you saved meanwhile",
        &written,
        "one two, and my own work\n",
    );

    desk.read().await;
    let edited = desk.edit("a.txt", "one", "1").await;
    assert!(!edited.is_error, "having read it again, the edit should work: {}", edited.text);
    assert_eq!(desk.content(), "1 two, and my own work\n");
}

/// The first trap: who is somebody else?
#[tokio::test]
#[ignore = "exercise 3"]
async fn the_agent_does_not_stumble_over_its_own_work_but_over_that_of_bash() {
    let desk = Desk::new();
    desk.read().await;
    for (old, new) in [("one", "1, one"), ("two", "2, two"), ("1, one", "1")] {
        let edited = desk.edit("a.txt", old, new).await;
        assert!(!edited.is_error, "edits in a row should work: {}", edited.text);
    }
    let input = json!({"path": "a.txt", "content": "all new\n"});
    let written = desk.call("write_file", input).await;
    assert!(!written.is_error, "a write behind an edit should work: {}", written.text);
    desk.call("bash", json!({"command": "echo from bash >> a.txt"})).await;
    let edited = desk.edit("a.txt", "all", "some").await;
    desk.assert_refused("an edit behind a command that wrote", &edited, "all new\nfrom bash\n");
}

/// The second trap: the name that was read need not be the name that is written.
#[tokio::test]
#[ignore = "exercise 3"]
async fn a_file_is_the_same_file_under_every_name() {
    for name in ["./a.txt", "no/../a.txt", "link.txt"] {
        let desk = Desk::new();
        symlink(desk.dir.path().join("a.txt"), desk.dir.path().join("link.txt")).unwrap();
        desk.read().await;
        desk.save("one two three\n");
        let edited = desk.edit(name, "one", "1").await;
        desk.assert_refused(
            &format!("an edit of {name}, which is a.txt,"),
            &edited,
            "one two three\n",
        );
    }
}
