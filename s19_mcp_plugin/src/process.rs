//! A server on stdio: how it is started, its process, and its end.
//!
//! A server started with `npx` or `uv run` is a child of a child, and some ignore that their input has ended. Invariants:
//! whatever becomes of a [`Process`], ended, abandoned or dropped, nothing of its process group is left running; the API
//! key is not in its environment unless its configuration puts it there.

use std::collections::BTreeMap;
use std::future::pending;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use s01_loop::{End, KEY_VARIABLES};
use s02_tools::Workspace;
use tokio::io::{copy, sink};
use tokio::process::{Child, Command};
use tokio::sync::SetOnce;
use tokio::time::timeout;

use crate::connection::{Connection, GRACE, Outbox};
use crate::lines::StderrTail;

/// A server to start. It holds the values of variables, so it is never shown: the question shows the words of `.mcp.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StdioServerConfig {
    /// What the user calls the server.
    pub name: String,
    /// The program: a path, or a name that is looked up.
    pub command: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables added to the environment.
    pub env: BTreeMap<String, String>,
    /// What the program itself speaks to the server, such as http; empty when it is the server.
    pub through: String,
    /// The timeout of its calls, when it has one of its own.
    pub timeout: Option<Duration>,
}

/// A running server, the leader of a process group.
pub(crate) struct Process {
    child: Child,
    group: Pid,
}

impl Process {
    /// Starts the program in a process group of its own: `npx` and the server it starts must end together.
    ///
    /// # Errors
    /// When there is no such program.
    pub fn start(config: &StdioServerConfig, ws: &Workspace) -> Result<Self> {
        let mut command = Command::new(&config.command);
        command
            .args(&config.args)
            .current_dir(ws.root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        for variable in KEY_VARIABLES {
            command.env_remove(variable);
        }
        command.envs(&config.env);
        // Arguments and environment may hold passwords, so the error names the program alone.
        let starting = || format!("starting the program {}", config.command.display());
        let child = command.spawn().with_context(starting)?;
        let id = child.id().expect("nobody has waited for it");
        let group = Pid::from_raw(id.cast_signed());
        Ok(Self { child, group })
    }

    /// Serves the connection over the program's streams, then ends the program.
    pub async fn serve(
        mut self,
        connection: Connection,
        posted: Outbox,
        stderr: Arc<StderrTail>,
        patience: Duration,
    ) {
        let input = self.child.stdin.take().expect("it is piped");
        let mut output = self.child.stdout.take().expect("it is piped");
        let errors = self.child.stderr.take().expect("it is piped");
        let heard = SetOnce::new();
        let follow = async {
            stderr.follow(errors).await;
            let _ = heard.set(());
            pending().await
        };
        let work = async {
            let why = match connection.serve(posted, &mut output, input).await {
                Some(why) => why,
                None => self.how_it_ended(&heard).await,
            };
            connection.fail(&why);
            // Whatever it still writes is read, or it could not finish.
            let drain = async {
                let _ = copy(&mut output, &mut sink()).await;
                pending().await
            };
            tokio::select! {
                () = drain => {}
                () = self.end(patience) => {}
            }
        };
        tokio::select! {
            () = follow => {}
            () = work => {}
        }
    }

    /// How a program ended that has closed its output, once its standard error is read.
    async fn how_it_ended(&mut self, heard: &SetOnce<()>) -> String {
        match timeout(GRACE, self.ended()).await {
            Ok(Ok(end)) => {
                let _ = timeout(GRACE, heard.wait()).await;
                format!("it ended with {end}")
            }
            _ => "it closed the connection".to_owned(),
        }
    }

    async fn ended(&mut self) -> Result<End> {
        let status = self.child.wait().await;
        Ok(status.context("waiting for a server")?.into())
    }

    /// Ends it, once its input has been closed (`basic/lifecycle`, section Shutdown, stdio): waits, asks, kills.
    async fn end(&mut self, patience: Duration) {
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
