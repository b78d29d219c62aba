//! Background jobs with real processes. They wait at a named pipe, not for a clock.
//!
//! Invariant: a job goes on exactly when the test lets it.

mod ends;
mod processes;
mod starts;

use std::fs::File;
use std::path::PathBuf;
use std::process::Command;

use s01_loop::{Output, Repl, ToolCall};
use s02_tools::{Tool, Workspace, bash};
use s13_background::{Jobs, Notices};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A bash that can run in the background, in a folder of its own.
struct Desk {
    dir: TempDir,
    ws: Workspace,
    bash: Tool,
    jobs: Jobs,
    notices: Notices,
    repl: Repl,
}

impl Desk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let made = Command::new("mkfifo").arg(dir.path().join("gate")).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo");
        let ws = Workspace::at(dir.path()).unwrap();
        let (notices, repl) = (Notices::default(), Repl::once("test", ""));
        let jobs = Jobs::new(&ws, &notices, &repl);
        let bash = jobs.around(bash(&ws));
        Self {
            dir,
            ws,
            bash,
            jobs,
            notices,
            repl,
        }
    }

    async fn call(&self, input: Value) -> Output {
        self.bash.call(call(input)).await
    }

    /// Starts a job and returns what the model is told.
    async fn start(&self, command: &str) -> String {
        let input = json!({"command": command, "run_in_background": true});
        let output = self.call(input).await;
        assert!(!output.is_error, "{}", output.text);
        output.text
    }

    /// The next notice, which comes by itself.
    async fn notice(&self) -> String {
        self.notices.next_input(&self.repl).await.unwrap()
    }

    /// Lets the command go on that reads the pipe `gate`.
    async fn open_gate(&self) {
        let gate = self.dir.path().join("gate");
        let opened = tokio::task::spawn_blocking(|| File::options().write(true).open(gate));
        opened.await.unwrap().unwrap();
    }

    /// The output file that a start or a notice names.
    fn output(&self, told: &str) -> PathBuf {
        let word = |word: &&str| word.starts_with(".harness/outputs/");
        let path = told.split_whitespace().find(word);
        self.dir.path().join(path.expect("a path in what is told"))
    }
}

fn call(input: Value) -> ToolCall {
    ToolCall::new("toolu_1", "bash", input)
}
