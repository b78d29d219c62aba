//! The process of a server, and its end.
//!
//! A server started with `npx` or `uv run` is a child of a child, and some ignore that their input has ended. Invariant:
//! whatever becomes of a [`Process`], finished, given up or dropped, nothing of its process group is left running.

use std::time::Duration;

use anyhow::{Context, Result};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use s01_loop::End;
use s02_tools::Workspace;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::time::timeout;

use crate::launch::Launch;

/// A running server, the leader of a process group.
pub struct Process {
    child: Child,
    group: Pid,
}

/// Our ends of its three pipes.
pub struct Streams {
    /// What it reads.
    pub stdin: ChildStdin,
    /// What it answers.
    pub stdout: ChildStdout,
    /// What it has to say beside.
    pub stderr: ChildStderr,
}

impl Process {
    /// Starts the program.
    ///
    /// # Errors
    /// When there is no such program or directory.
    pub fn start(launch: &Launch, ws: &Workspace) -> Result<(Self, Streams)> {
        // Arguments and environment may hold passwords.
        let starting = || format!("starting the program {}", launch.command.display());
        let mut child = launch.command(ws).spawn().with_context(starting)?;
        let streams = Streams {
            stdin: child.stdin.take().expect("it is piped"),
            stdout: child.stdout.take().expect("it is piped"),
            stderr: child.stderr.take().expect("it is piped"),
        };
        let id = child.id().expect("nobody has waited for it");
        let group = Pid::from_raw(id.cast_signed());
        Ok((Self { child, group }, streams))
    }

    /// Waits for the program to end.
    pub async fn ended(&mut self) -> Result<End> {
        let status = self.child.wait().await;
        Ok(status.context("waiting for a server")?.into())
    }

    /// Ends it, once its input has been closed (`basic/lifecycle`, section Shutdown, stdio): waits, asks, kills.
    pub async fn end(mut self, patience: Duration) {
        if timeout(patience, self.ended()).await.is_err() {
            self.signal(Signal::SIGTERM);
            let _ = timeout(patience, self.ended()).await;
        }
        // Also when it has ended: what it started may not have.
        self.signal(Signal::SIGKILL);
        let _ = self.ended().await;
    }

    /// To the whole group. Its number stays taken as long as one member lives; when none does, nobody is found.
    fn signal(&self, signal: Signal) {
        let _ = killpg(self.group, signal);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::SIGKILL);
    }
}
