//! Worktrees: a directory and a branch for each task.
//!
//! Two agents in one directory overwrite each other's files; a git worktree gives each its own checkout. Invariants: a
//! commit that is on no other branch, and an uncommitted file, are deleted only with `discard_changes`; a creation that
//! fails is rolled back.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use kit::{FolderLock, is_safe_name, make_state_folder, write_whole};
use s02_tools::Workspace;
use s12_tasks::Board;
use s15_mailbox::Mailboxes;
use serde_json::json;

use crate::git::git;
use crate::{binding, loss};

/// What the branches of worktrees begin with.
const BRANCH_PREFIX: &str = "wt/";

/// The longest name of a worktree.
const LONGEST_NAME: usize = 40;

/// The worktrees of a workspace. Clones share them.
#[derive(Clone)]
pub struct Worktrees {
    pub(crate) ws: Workspace,
    pub(crate) board: Board,
    folder: PathBuf,
}

impl Worktrees {
    /// The worktrees of this workspace. The tasks of an agent that leaves the mailboxes are released.
    pub fn open(ws: &Workspace, board: &Board, mail: &Mailboxes) -> Self {
        let released = board.clone();
        mail.on_leave(move |name| {
            // The next operation on the board reports that it cannot be written.
            let _ = released.release(name);
        });
        Self {
            ws: ws.clone(),
            board: board.clone(),
            folder: ws.state("worktrees"),
        }
    }

    pub(crate) async fn create(&self, name: &str, task_id: Option<&str>) -> Result<String> {
        ensure!(
            is_safe_name(name, LONGEST_NAME) && !name.starts_with('-'),
            "{name:?} is no name for a worktree; use 1 to {LONGEST_NAME} of a-z, 0-9, - and _"
        );
        let task_id = task_id.map(str::trim).filter(|id| !id.is_empty());
        self.check_repository().await?;
        let _lock = self.lock().await?;
        self.check_free(name).await?;
        self.hide_from_git()?;
        if let Err(error) = self.add(name, task_id).await {
            self.roll_back(name).await;
            return Err(error);
        }
        self.record("created", name, task_id)?;
        let bound = task_id.map_or(String::new(), |id| format!(", for task {id}"));
        Ok(format!(
            "created {} on branch {}{bound}",
            self.ws.shown(&self.directory(name)),
            branch(name)
        ))
    }

    pub(crate) async fn remove(&self, name: &str, discard_changes: bool) -> Result<String> {
        self.check_repository().await?;
        let _lock = self.lock().await?;
        let head = self.existing(name).await?;
        if !discard_changes {
            if let Some(worker) = binding::worker_in(&self.board, name)? {
                bail!("{worker} works in {name}; let it complete its task or leave first");
            }
            self.check_nothing_is_lost(name, head.as_deref()).await?;
        }
        if head.is_some() {
            let path = self.directory(name);
            self.git(&["worktree", "remove", "--force", &path.to_string_lossy()]).await?;
        }
        binding::unbind(&self.board, name)?;
        if self.has_branch(name).await {
            self.git(&["branch", "--quiet", "-D", &branch(name)]).await?;
        }
        self.record("removed", name, None)?;
        Ok(format!("removed the worktree {name} and its branch {}", branch(name)))
    }

    pub(crate) async fn keep(&self, name: &str) -> Result<String> {
        self.existing(name).await?;
        self.record("kept", name, None)?;
        Ok(format!(
            "kept {} on branch {}; merge it when it is reviewed",
            self.ws.shown(&self.directory(name)),
            branch(name)
        ))
    }

    /// Whether this worktree can be worked in.
    pub(crate) fn is_there(&self, name: &str) -> bool {
        let directory = self.directory(name);
        is_safe_name(name, LONGEST_NAME)
            && !directory.is_symlink()
            && directory.join(".git").is_file()
    }

    pub(crate) fn directory(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Allows one change at a time, also among processes: two gits that write to one repository conflict, and a rollback
    /// must not hit the other's worktree. The lock is held while git runs, so it is awaited on a blocking thread.
    async fn lock(&self) -> Result<FolderLock> {
        let folder = self.folder.clone();
        let waiting = tokio::task::spawn_blocking(move || FolderLock::wait(&folder));
        waiting.await.context("waiting for other worktrees")?
    }

    async fn add(&self, name: &str, task_id: Option<&str>) -> Result<()> {
        let (path, branch) = (self.directory(name), branch(name));
        let path = path.to_string_lossy();
        self.git(&["worktree", "add", "--quiet", "-b", &branch, &path, "HEAD"]).await?;
        match task_id {
            Some(id) => binding::bind(&self.board, id, name),
            None => Ok(()),
        }
    }

    /// Removes what a failed creation has left; the name was free before.
    async fn roll_back(&self, name: &str) {
        let path = self.directory(name);
        // Errors are ignored: part of it may not exist, and the error that matters is the first one.
        let _ = self.git(&["worktree", "remove", "--force", &path.to_string_lossy()]).await;
        let _ = self.git(&["branch", "--quiet", "-D", &branch(name)]).await;
    }

    /// Fails if the removal would lose something.
    async fn check_nothing_is_lost(&self, name: &str, head: Option<&str>) -> Result<()> {
        if self.is_there(name) {
            loss::check_files(name, &self.directory(name)).await?;
        }
        // git lists zeros for a branch without a commit.
        let head = head.filter(|head| head.contains(|digit| digit != '0'));
        let mut from: Vec<String> = head.map(str::to_owned).into_iter().collect();
        if self.has_branch(name).await {
            from.push(full_branch(name));
        }
        loss::check_commits(name, self.ws.root(), &from, &branch(name)).await
    }

    async fn check_repository(&self) -> Result<()> {
        let here = self.ws.root().display();
        match self.git(&["rev-parse", "--is-inside-work-tree"]).await {
            Ok(answer) if answer == "true" => {}
            Ok(_) => {
                bail!("{here} is inside the files of git itself; start in a working directory")
            }
            Err(error) if error.to_string().contains("not a git repository") => {
                bail!("{here} is in no git repository; run `git init` and make a first commit")
            }
            Err(error) => return Err(error),
        }
        let head = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        if self.git(&head).await.is_err() {
            bail!("the repository has no commit yet, and a worktree begins with one; commit first");
        }
        Ok(())
    }

    async fn check_free(&self, name: &str) -> Result<()> {
        let is_listed = self.listed().await?.iter().any(|(other, _)| other == name);
        ensure!(
            !is_listed && !self.directory(name).exists(),
            "there is a worktree {name} already; choose another name, or remove it first"
        );
        ensure!(
            !self.has_branch(name).await,
            "there is a branch {} already; choose another name",
            branch(name)
        );
        Ok(())
    }

    /// The commit that a worktree is at; none when only its branch is left.
    async fn existing(&self, name: &str) -> Result<Option<String>> {
        let listed = self.listed().await?;
        match listed.iter().find(|(other, _)| other == name) {
            Some((_, head)) => Ok(Some(head.clone())),
            None if is_safe_name(name, LONGEST_NAME) && self.has_branch(name).await => Ok(None),
            None if listed.is_empty() => bail!("there is no worktree {name:?}; there are none"),
            None => {
                let names: Vec<&str> = listed.iter().map(|(name, _)| name.as_str()).collect();
                bail!("there is no worktree {name:?}; there are {}", names.join(", "))
            }
        }
    }

    /// Our worktrees as git lists them: name and commit, also of one whose folder was deleted by hand.
    async fn listed(&self) -> Result<Vec<(String, String)>> {
        let text = self.git(&["worktree", "list", "--porcelain"]).await?;
        let folder = fs::canonicalize(&self.folder).unwrap_or_else(|_| self.folder.clone());
        let mut listed = Vec::new();
        for entry in text.split("\n\n") {
            let field = |name| entry.lines().find_map(|line| line.strip_prefix(name));
            let (Some(path), Some(head)) = (field("worktree "), field("HEAD ")) else {
                continue;
            };
            let Ok(name) = PathBuf::from(path).strip_prefix(&folder).map(PathBuf::from) else {
                continue;
            };
            listed.push((name.to_string_lossy().into_owned(), head.to_owned()));
        }
        Ok(listed)
    }

    async fn has_branch(&self, name: &str) -> bool {
        let branch = full_branch(name);
        self.git(&["rev-parse", "--verify", "--quiet", &branch]).await.is_ok()
    }

    async fn git(&self, args: &[&str]) -> Result<String> {
        git(self.ws.root(), args).await
    }

    /// Keeps the outer checkout from committing the worktrees.
    fn hide_from_git(&self) -> Result<()> {
        let ignore = self.ws.state(".gitignore");
        if ignore.exists() {
            return Ok(());
        }
        write_whole(&ignore, b"*\n").context("writing .harness/.gitignore")
    }

    /// Writes what was done to events.jsonl.
    fn record(&self, event: &str, name: &str, task_id: Option<&str>) -> Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let ts = now.as_millis() as u64;
        let entry = json!({ "ts": ts, "event": event, "name": name, "task_id": task_id });
        let writing = "writing .harness/worktrees/events.jsonl";
        make_state_folder(&self.folder).context(writing)?;
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.folder.join("events.jsonl"))
            .context(writing)?;
        file.write_all(format!("{entry}\n").as_bytes()).context(writing)
    }
}

fn branch(name: &str) -> String {
    format!("{BRANCH_PREFIX}{name}")
}

fn full_branch(name: &str) -> String {
    format!("refs/heads/{BRANCH_PREFIX}{name}")
}
