//! glob: which files are there?
//!
//! A listing full of `target/` and `node_modules/` would drown the model, so what git ignores is left out. Invariant:
//! the result is sorted and bounded, so that the same tree gives the same answer.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use globset::GlobBuilder;
use ignore::WalkBuilder;
use kit::STATE_DIR;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::place::Place;
use crate::tool::{Access, Tool};
use crate::workspace::Workspace;

/// The most paths that one call returns.
pub const MAX_PATHS: usize = 1_000;

/// The input of glob.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Glob {
    /// The pattern, relative to the workspace: `*.md`, `src/**/*.rs`, `**/*.{py,pyi}`.
    pub pattern: String,
}

/// The tool glob.
pub fn glob(ws: &Workspace) -> Tool {
    let ws = ws.clone();
    let description = "List the files whose path matches a pattern. `**` matches any directories. Ignored files are left out.";
    Tool::blocking("glob", description, move |input: Glob| find(&ws, &input.pattern))
        .touching(Access::Nothing)
}

fn find(ws: &Workspace, pattern: &str) -> Result<String> {
    let pattern = pattern.trim().trim_start_matches("./");
    if pattern.is_empty() || pattern.starts_with('/') || pattern.split('/').any(|part| part == "..")
    {
        bail!("glob: the pattern must stay inside the workspace; use one like **/*.py");
    }
    let matcher = GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .with_context(|| format!("glob: the pattern {pattern:?} cannot be read"))?
        .compile_matcher();
    let files = WalkBuilder::new(ws.root())
        .hidden(false)
        // A worktree lies in the state folder, which the repository around it ignores.
        .parents(!ws.root().iter().any(|part| part == STATE_DIR))
        .require_git(false)
        .filter_entry(|entry| entry.file_name() != ".git" && entry.file_name() != STATE_DIR)
        .build()
        .flatten()
        .filter(|entry| entry.file_type().is_some_and(|kind| !kind.is_dir()));
    let mut found: Vec<PathBuf> = files
        .filter_map(|entry| Some(entry.path().strip_prefix(ws.root()).ok()?.to_owned()))
        .filter(|path| matcher.is_match(path))
        .collect();
    found.sort_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    let left = found.len().saturating_sub(MAX_PATHS);
    // Not what the walk has met behind a link that took a directory's place.
    let stands = |path: &&PathBuf| Place::find(&ws.root().join(path)).is_ok_and(|it| it.exists());
    let shown = found.iter().take(MAX_PATHS).filter(stands);
    let mut paths: Vec<String> = shown.map(|path| path.display().to_string()).collect();
    if paths.is_empty() {
        return Ok(format!("no file matches {pattern}"));
    }
    if left > 0 {
        paths.push(format!("(and {left} more; use a narrower pattern)"));
    }
    Ok(paths.join("\n"))
}
