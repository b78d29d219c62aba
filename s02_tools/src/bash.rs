//! bash as a tool among tools: the first chapter's command, run in the workspace.

use s01_loop::bash as shell;

use crate::tool::{Access, Tool};
use crate::workspace::Workspace;

/// The tool bash.
pub fn bash(ws: &Workspace) -> Tool {
    let ws = ws.clone();
    Tool::new(shell::spec(), move |call| {
        let ws = ws.clone();
        async move { shell::run(ws.root(), &call).await }
    })
    .touching(Access::Command)
}
