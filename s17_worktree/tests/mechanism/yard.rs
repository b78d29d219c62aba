//! A yard: a repository of its own with a board, mail and worktrees in it.
//!
//! The chapter's tests and its exercises work in one. Invariant: no setting of the machine leaks into it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use s01_loop::{Output, ToolCall};
use s02_tools::{Toolbox, Workspace};
use s12_tasks::{Board, NewTask, Task};
use s15_mailbox::Mailboxes;
use s17_worktree::Worktrees;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A repository with worktrees.
pub struct Yard {
    pub dir: TempDir,
    pub ws: Workspace,
    pub board: Board,
    pub mail: Mailboxes,
    pub worktrees: Worktrees,
    pub tools: Toolbox,
}

impl Yard {
    /// A repository with one commit, which holds `src/lib.rs`.
    pub fn new() -> Self {
        Self::begun(|dir| {
            git(dir, &["init", "--quiet", "--initial-branch=main"]);
            std::fs::create_dir(dir.join("src")).unwrap();
            std::fs::write(dir.join("src/lib.rs"), "// lib\n").unwrap();
            commit(dir, "Begin");
        })
    }

    pub fn begun(begin: impl FnOnce(&Path)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        begin(dir.path());
        let ws = Workspace::at(dir.path()).unwrap();
        Self::of(dir, ws)
    }

    pub fn of(dir: TempDir, ws: Workspace) -> Self {
        let board = Board::open(&ws);
        let mail = Mailboxes::open(&ws, board.session());
        let worktrees = Worktrees::open(&ws, &board, &mail);
        let tools = Toolbox::new().with_all(worktrees.tools());
        Self {
            dir,
            ws,
            board,
            mail,
            worktrees,
            tools,
        }
    }

    /// The same repository with one of its folders as the workspace.
    pub fn in_folder(self, folder: &str) -> Self {
        let ws = Workspace::at(self.dir.path().join(folder)).unwrap();
        Self::of(self.dir, ws)
    }

    pub async fn call(&self, name: &str, input: Value) -> Output {
        let call = ToolCall::new("toolu_1", name, input);
        self.tools.call(call).await
    }

    #[track_caller]
    pub fn done(output: Output) -> String {
        assert!(!output.is_error, "{}", output.text);
        output.text
    }

    #[track_caller]
    pub fn refused(output: Output) -> String {
        assert!(output.is_error, "{}", output.text);
        output.text
    }

    /// Creates a worktree and returns its directory.
    pub async fn create(&self, name: &str) -> PathBuf {
        Self::done(self.call("create_worktree", json!({"name": name})).await);
        self.directory(name)
    }

    pub async fn create_for(&self, name: &str, task: &Task) -> Output {
        let input = json!({"name": name, "task_id": task.id});
        self.call("create_worktree", input).await
    }

    pub async fn remove(&self, name: &str) -> Output {
        self.call("remove_worktree", json!({"name": name})).await
    }

    pub async fn discard(&self, name: &str) -> Output {
        let input = json!({"name": name, "discard_changes": true});
        self.call("remove_worktree", input).await
    }

    pub fn directory(&self, name: &str) -> PathBuf {
        self.ws.state("worktrees").join(name)
    }

    pub fn task(&self, subject: &str) -> Task {
        let new = NewTask {
            subject: subject.into(),
            ..NewTask::default()
        };
        self.board.create(new).unwrap()
    }

    pub fn has_branch(&self, name: &str) -> bool {
        !git(self.ws.root(), &["branch", "--list", name]).is_empty()
    }

    /// The events so far, without their times.
    pub fn events(&self) -> Vec<(String, String)> {
        let file = self.ws.state("worktrees").join("events.jsonl");
        let text = std::fs::read_to_string(file).unwrap();
        let events = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let field = |event: &Value, name: &str| event[name].as_str().unwrap().to_owned();
        events
            .map(|event| (field(&event, "event"), field(&event, "name")))
            .collect()
    }
}

/// Runs git for the test itself.
#[track_caller]
pub fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
        .args([
            "-c",
            "commit.gpgSign=false",
            "-c",
            "core.hooksPath=/dev/null",
        ])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        // A git hook that runs these tests points at its own repository.
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .stdin(Stdio::null())
        .output()
        .expect("git is installed");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {args:?}: {stderr}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Commits all that lies in this directory.
#[track_caller]
pub fn commit(dir: &Path, message: &str) {
    git(dir, &["add", "--all"]);
    git(dir, &["commit", "--quiet", "--message", message]);
}

pub fn write(path: impl AsRef<Path>) {
    std::fs::write(path, "text\n").unwrap();
}
