//! Everything a system prompt is made of, read before it is written.
//!
//! Reading (which directory, what day, which tools) and writing are apart, so that writing is a pure function and two
//! contexts can be compared. Invariant: a context holds nothing that differs between two requests for no reason; the time
//! is a day.

use std::path::{Path, PathBuf};

use jiff::Zoned;
use jiff::civil::Date;
use s01_loop::ToolSpec;
use s02_tools::{Tool, Toolbox, Workspace};

/// Who the lead agent is.
pub const IDENTITY: &str = "You are a coding agent. Use tools to solve tasks. Act, don't explain. \
    Look before you change something, check afterwards, and end with one or two sentences on what came of it.";

/// What the sections of a prompt are made of.
#[derive(Clone, Debug)]
pub struct Context {
    pub(crate) identity: String,
    pub(crate) tools: Vec<ToolSpec>,
    /// The names of those whose calls may run beside others.
    pub(crate) side_by_side: Vec<String>,
    pub(crate) root: PathBuf,
    pub(crate) is_git: bool,
    pub(crate) servers: String,
    pub(crate) skills: String,
    pub(crate) memory: String,
    pub(crate) today: Date,
}

impl Context {
    /// Reads what every prompt has: who the agent is, its tools, where it works, what day it is.
    pub fn read(ws: &Workspace, tools: &Toolbox) -> Self {
        let root = ws.root();
        let beside = |name: &&str| tools.get(name).is_some_and(Tool::runs_beside_others);
        let side_by_side = tools.names().into_iter().filter(beside);
        Self {
            identity: IDENTITY.to_owned(),
            tools: tools.specs(),
            side_by_side: side_by_side.map(str::to_owned).collect(),
            root: root.to_owned(),
            is_git: is_git(root),
            servers: String::new(),
            skills: String::new(),
            memory: String::new(),
            today: Zoned::now().date(),
        }
    }

    /// With another identity, such as a teammate's.
    pub fn identity(mut self, identity: impl Into<String>) -> Self {
        self.identity = identity.into();
        self
    }

    /// With a section on servers that the agent is connected to; the agent of this chapter has none.
    pub fn servers(mut self, servers: impl Into<String>) -> Self {
        self.servers = servers.into();
        self
    }

    /// With the catalogue of skills.
    pub fn skills(mut self, catalogue: impl Into<String>) -> Self {
        self.skills = catalogue.into();
        self
    }

    /// With the index of the memory.
    pub fn memory(mut self, index: impl Into<String>) -> Self {
        self.memory = index.into();
        self
    }

    /// With the date of this moment.
    pub fn at(mut self, moment: &Zoned) -> Self {
        self.today = moment.date();
        self
    }
}

/// Whether the directory belongs to a git repository. A worktree has a file `.git` where a clone has a directory.
fn is_git(directory: &Path) -> bool {
    directory.ancestors().any(|ancestor| ancestor.join(".git").exists())
}
