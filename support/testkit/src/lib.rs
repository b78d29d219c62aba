//! Drives a chapter's binary in a test, as a student would: typed lines, an argument, or a real terminal.
//!
//! The student meets the binary, so the tests do. Each run has a workspace and a home of its own and a clean environment:
//! `Class::new(env!("CARGO_BIN_EXE_s01_loop"))`, then `.file(…)`, `.git()`, `.model(&model)`, and `.types(&[…])` over a pipe,
//! `.asks("…")` with an argument, or `.terminal(80, 24)` on a pseudo-terminal.
//! Invariant: nothing of the machine leaks in but `PATH`, and no process outlives its test.

mod gate;
mod pool;
mod ran;
mod session;
pub mod team;
mod terminal;
mod traces;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use mock_servers::model::MockModel;
use tempfile::TempDir;

pub use gate::{Gate, Watch};
pub use pool::assert_pool;
pub use ran::Ran;
pub use session::Session;
pub use terminal::{Key, Terminal};
pub use traces::leaves_no_trace;

/// A binary and the workspace it runs in.
pub struct Class {
    exe: PathBuf,
    /// Holds the workspace and, beside it, the home; a terminal keeps it, so that no child loses its directory.
    root: Arc<TempDir>,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
}

impl Class {
    /// A fresh, empty workspace for `env!("CARGO_BIN_EXE_…")`.
    pub fn new(exe: impl AsRef<Path>) -> Self {
        let root = TempDir::with_prefix("class-").expect("a temporary directory");
        for name in [WORKSPACE, HOME] {
            fs::create_dir(root.path().join(name)).expect("a fresh directory");
        }
        Self {
            exe: exe.as_ref().to_owned(),
            root: Arc::new(root),
            args: Vec::new(),
            env: Vec::new(),
        }
    }

    /// Writes a file of the workspace, and the directories it needs.
    pub fn file(self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Self {
        let path = self.dir().join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("directories in the workspace");
        }
        fs::write(&path, content).expect("a file in the workspace");
        self
    }

    /// Sets a variable of the child's environment.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Makes the workspace a git repository with all its files in one commit.
    pub fn git(self) -> Self {
        self.run_git(&["init", "--quiet", "--initial-branch=main"]);
        self.run_git(&["config", "user.name", "Ada"]);
        self.run_git(&["config", "user.email", "ada@example.org"]);
        self.run_git(&["add", "--all"]);
        self.run_git(&["commit", "--quiet", "--allow-empty", "--message=Begin"]);
        self
    }

    /// Points the child at this model. Without it the child sees no key and starts its own.
    pub fn model(self, model: &MockModel) -> Self {
        self.env("ANTHROPIC_BASE_URL", model.url()).env("ANTHROPIC_API_KEY", "test-key")
    }

    /// The workspace: the directory the child runs in.
    pub fn dir(&self) -> PathBuf {
        self.root.path().join(WORKSPACE)
    }

    /// Reads a file of the workspace.
    ///
    /// # Panics
    /// When it is not there.
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        let path = self.dir().join(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Starts the binary, types these lines into a pipe, closes it, and waits for the end.
    pub fn types(&self, lines: &[&str]) -> Ran {
        let typed = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        ran::run(self.command(&[]), typed)
    }

    /// Starts the binary with this prompt as its last argument, and waits for the end.
    pub fn asks(&self, prompt: &str) -> Ran {
        ran::run(self.command(&[prompt]), String::new())
    }

    /// Starts the binary with these arguments behind its own and this piped in, and waits for the end.
    pub fn runs(&self, args: &[&str], piped: &str) -> Ran {
        ran::run(self.command(args), piped.to_owned())
    }

    /// Starts the binary on a terminal of this size.
    pub fn terminal(&self, cols: u16, rows: u16) -> Terminal {
        Terminal::start(
            &self.exe,
            &self.args,
            &self.environment(),
            (&self.dir(), Arc::clone(&self.root)),
            (cols, rows),
        )
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = Command::new(&self.exe);
        command.args(&self.args).args(more).current_dir(self.dir());
        command.env_clear().envs(self.environment());
        command
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let fixed = [
            ("PATH", path),
            ("HOME", self.root.path().join(HOME).into()),
            ("TERM", "xterm-256color".into()),
            // Neither the machine's git settings nor its pager belong to the story.
            ("GIT_CONFIG_NOSYSTEM", "1".into()),
            ("GIT_PAGER", "cat".into()),
        ];
        let fixed = fixed.map(|(name, value)| (OsString::from(name), value));
        fixed.into_iter().chain(self.env.iter().cloned()).collect()
    }

    fn run_git(&self, args: &[&str]) {
        let mut git = Command::new("git");
        git.args(args).current_dir(self.dir()).env_clear().envs(self.environment());
        let output = git.stdin(Stdio::null()).output().expect("git is installed");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {stderr}");
    }
}

const WORKSPACE: &str = "workspace";
const HOME: &str = "home";

/// Ends a child and everything it started in its process group.
fn kill_group(leader: u32) {
    // The kill command, because signals need either unsafe code or one more dependency.
    let mut kill = Command::new("kill");
    kill.args(["-KILL", "--", &format!("-{leader}")]).stderr(Stdio::null());
    // An empty group is what this is for.
    let _ = kill.status();
}

#[cfg(test)]
mod tests;
