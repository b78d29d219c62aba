//! The exercises of this chapter; `cargo x check s13` runs them.
//!
//! Each file is one task and the tests that tell whether it is done. Invariant: a job of an exercise waits at a named
//! pipe and goes on when the test lets it; nothing waits for a clock.

mod ex1_how_long_it_took;
mod ex2_four_at_a_time;
mod ex3_stop_a_job;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use s01_loop::{Repl, ToolCall};
use s02_tools::{Tool, Workspace, bash};
use s13_background::{Jobs, Notices};
use serde_json::json;
use tempfile::TempDir;
use tokio::task::yield_now;

/// Longer than any job here takes; only a failure waits so long.
const PATIENCE: Duration = Duration::from_secs(10);

/// A bash that can run in the background, in the folder `ws` beside its pipes.
struct Desk {
    dir: TempDir,
    bash: Tool,
    notices: Notices,
}

impl Desk {
    /// A desk with these pipes: `cat ../one` waits until `one` is opened.
    fn new(pipes: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("ws")).unwrap();
        for pipe in pipes {
            make_pipe(&dir.path().join(pipe));
        }
        let ws = Workspace::at(dir.path().join("ws")).unwrap();
        let notices = Notices::default();
        let jobs = Jobs::new(&ws, &notices, &Repl::once("test", ""));
        Self {
            bash: jobs.around(bash(&ws)),
            dir,
            notices,
        }
    }

    fn ws(&self) -> PathBuf {
        self.dir.path().join("ws")
    }

    /// Starts a job and returns what the model is told at once. Wants paused time.
    async fn start(&self, command: &str) -> String {
        let call = ToolCall::new(
            "toolu_1",
            "bash",
            json!({"command": command, "run_in_background": true}),
        );
        let answer = tokio::time::timeout(Duration::from_secs(1), self.bash.call(call)).await;
        let answer = answer.unwrap_or_else(|_| {
            panic!("the call that starts `{command}` is not answered at once: the turn waits")
        });
        assert!(!answer.is_error, "`{command}`: {}", answer.text);
        answer.text
    }

    /// Waits until a job reads this pipe, and holds it open: the job goes on when the file is dropped.
    async fn hold(&self, pipe: &str) -> File {
        let path = self.dir.path().join(pipe);
        let opened = tokio::task::spawn_blocking(|| File::options().write(true).open(path));
        opened.await.unwrap().unwrap()
    }

    /// The next notices, this many, in order of arrival.
    async fn notices(&self, count: usize) -> Vec<String> {
        let (began, mut taken) = (Instant::now(), Vec::new());
        while taken.len() < count {
            taken.extend(self.notices.take());
            assert!(
                began.elapsed() < PATIENCE,
                "{count} notices were to come; these came: {taken:#?}"
            );
            yield_now().await;
        }
        taken
    }
}

fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
}
