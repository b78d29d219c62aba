//! A bash that can run in the background, in a folder `ws` beside its pipes.
//!
//! The chapter's tests and its exercises work at one. Invariant: a job that waits at a pipe goes on when the test lets it.

use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use s01_loop::{Output, Repl, ToolCall};
use s02_tools::{Tool, Workspace, bash};
use s13_background::{Jobs, Notices};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::Gate;
use tokio::task::{spawn_blocking, yield_now};
use tokio::time::timeout;

/// Longer than any job here takes; only a failure waits so long.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Desk {
    dir: TempDir,
    pub ws: Workspace,
    pub bash: Tool,
    pub notices: Notices,
}

impl Desk {
    /// A desk with these pipes: `cat ../one` waits until `one` is opened.
    pub fn new(pipes: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("ws")).unwrap();
        for pipe in pipes {
            Gate::make(&dir.path().join(pipe));
        }
        let ws = Workspace::at(dir.path().join("ws")).unwrap();
        let notices = Notices::default();
        let jobs = Jobs::new(&ws, &notices, &Repl::once("test", ""));
        Self {
            dir,
            bash: jobs.around(bash(&ws)),
            ws,
            notices,
        }
    }

    pub async fn call(&self, input: Value) -> Output {
        self.bash.call(ToolCall::new("toolu_1", "bash", input)).await
    }

    /// Starts a job and returns what the model is told at once.
    pub async fn start(&self, command: &str) -> String {
        let input = json!({"command": command, "run_in_background": true});
        let Ok(output) = timeout(PATIENCE, self.call(input)).await else {
            panic!("the call that starts `{command}` is not answered at once: the turn waits");
        };
        assert!(!output.is_error, "`{command}`: {}", output.text);
        output.text
    }

    /// The next notices, this many, in order of arrival.
    pub async fn notices(&self, count: usize) -> Vec<String> {
        let (began, mut taken) = (Instant::now(), Vec::new());
        while taken.len() < count {
            taken.extend(self.notices.take());
            let is_late = began.elapsed() > PATIENCE;
            assert!(!is_late, "{count} notices were to come; these came: {taken:#?}");
            yield_now().await;
        }
        taken
    }

    /// The next notice, which comes by itself.
    pub async fn notice(&self) -> String {
        self.notices(1).await.remove(0)
    }

    /// Waits until a job reads this pipe, and holds it open: the job goes on when the file is dropped.
    pub async fn hold(&self, pipe: &str) -> File {
        let path = self.dir.path().join(pipe);
        let opened = spawn_blocking(|| File::options().write(true).open(path));
        opened.await.unwrap().unwrap()
    }

    /// The output file that a start or a notice names.
    pub fn output(&self, told: &str) -> PathBuf {
        let word = |word: &&str| word.starts_with(".harness/outputs/");
        let path = told.split_whitespace().find(word);
        self.ws.root().join(path.expect("a path in what is told"))
    }
}
