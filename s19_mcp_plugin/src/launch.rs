//! How an MCP server is started: a command line, its environment, its directory.
//!
//! The values of `.mcp.json`'s variables are in it, so it is given to the system and shown to nobody: the user is asked
//! with the words of [the file](crate::catalog). Invariant: the API key is not in the environment unless the
//! description itself puts it there.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use s01_loop::KEY_VARIABLES;
use s02_tools::Workspace;
use tokio::process::Command;

/// A server to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// What the user calls the server.
    pub name: String,
    /// The program: a path, or a name that is looked up.
    pub command: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables added to the environment.
    pub env: BTreeMap<String, String>,
    /// How long a call of one of its tools may take, when that is its own.
    pub timeout: Option<Duration>,
    /// Where it runs, from the workspace; the workspace itself when nothing is said.
    pub cwd: Option<PathBuf>,
}

impl Launch {
    /// The command, in a process group of its own: `npx` starts the server as a child, and both must end together.
    pub(crate) fn command(&self, ws: &Workspace) -> Command {
        let cwd = self.cwd.as_deref().unwrap_or(ws.root());
        let mut command = Command::new(&self.command);
        command
            .args(&self.args)
            .current_dir(ws.root().join(cwd))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        for variable in KEY_VARIABLES {
            command.env_remove(variable);
        }
        command.envs(&self.env);
        command
    }
}
