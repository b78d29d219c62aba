//! A yard: a repository of its own, with worktrees in it.
//!
//! The chapter's tests and its exercises work in one. Invariant: no setting of the machine leaks into it.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use s01_loop::{Output, Repl, ToolCall};
use s02_tools::{Toolbox, Workspace, bash, read_file, write_file};
use s03_permission::Policy;
use s04_hooks::{Hooks, permission};
use s12_tasks::Task;
use s15_mailbox::LEAD;
use s17_worktree::Worktrees;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::scene::{Scene, call, done};

/// A repository with worktrees.
pub struct Yard {
    scene: Scene,
    pub worktrees: Worktrees,
    pub tools: Toolbox,
}

impl Deref for Yard {
    type Target = Scene;

    fn deref(&self) -> &Scene {
        &self.scene
    }
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
        Self::of(dir, "")
    }

    fn of(dir: TempDir, folder: &str) -> Self {
        let scene = Scene::within(dir, folder);
        let worktrees = Worktrees::open(&scene.ws, &scene.board, &scene.mail);
        let tools = Toolbox::new().with_all(worktrees.tools());
        Self {
            scene,
            worktrees,
            tools,
        }
    }

    /// The same repository with one of its folders as the workspace.
    pub fn in_folder(self, folder: &str) -> Self {
        Self::of(self.scene.dir, folder)
    }

    pub async fn call(&self, name: &str, input: Value) -> Output {
        call(&self.tools, name, input).await
    }

    /// Where an agent works.
    pub fn work_dir(&self, agent: &str) -> Workspace {
        self.worktrees.work_dir(agent, &self.ws).unwrap()
    }

    /// Makes one call as this agent would in this workspace, under the gate, and a teammate's under the policy.
    pub async fn call_as(&self, agent: &str, ws: &Workspace, name: &str, input: Value) -> Output {
        let policy = Policy::open(&self.ws, Repl::once("test", "")).within(ws);
        let hooks = Hooks::default().on_pre_tool(self.worktrees.gate());
        let hooks = match agent {
            LEAD => hooks,
            name => hooks.on_pre_tool(permission(&policy)).for_agent(name, policy),
        };
        let tools = Toolbox::new().with(bash(ws)).with(read_file(ws)).with(write_file(ws));
        let call = ToolCall::new("toolu_1", name, input);
        let step = hooks.pre_tool(&tools, call).await;
        tools.run([step]).next().await.unwrap().1
    }

    /// Creates a worktree and returns its directory.
    pub async fn create(&self, name: &str) -> PathBuf {
        done(self.call("create_worktree", json!({"name": name})).await);
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

    /// A task with a worktree of its own, which this agent has claimed.
    pub async fn task_of(&self, agent: &str, worktree: &str) -> Task {
        let task = self.task("Write the API", &[]);
        done(self.create_for(worktree, &task).await);
        self.board.claim(&task.id, agent).unwrap()
    }

    pub fn has_branch(&self, name: &str) -> bool {
        !git(self.ws.root(), &["branch", "--list", name]).is_empty()
    }

    /// The events so far, without their times.
    pub fn events(&self) -> Vec<String> {
        let file = self.ws.state("worktrees").join("events.jsonl");
        let text = std::fs::read_to_string(file).unwrap();
        let event = |line: &str| {
            let event: Value = serde_json::from_str(line).unwrap();
            format!("{} {}", event["event"], event["name"]).replace('"', "")
        };
        text.lines().map(event).collect()
    }
}

/// Runs git for the test itself. A git hook that runs these tests points at its own repository.
#[track_caller]
pub fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
        .args(args)
        .current_dir(dir)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("GIT_CONFIG_NOSYSTEM", "1")
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
