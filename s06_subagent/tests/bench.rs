//! The tool task of a lead, and the workspace it works in; the exercises use it, too.

use std::sync::Arc;

use mock_servers::model::MockModel;
use s01_loop::{Client, Credentials, Output, Repl, Settings, ToolCall, Unobserved};
use s02_tools::{Toolbox, Workspace, bash, edit_file, glob, read_file, write_file};
use s03_permission::Policy;
use s04_hooks::{Hooks, log, permission};
use s06_subagent::Subagents;
use serde_json::Value;
use tempfile::TempDir;

pub struct Bench {
    pub dir: TempDir,
    pub lead: Toolbox,
}

impl Bench {
    /// A lead whose subagents ask this model. `change` may add tools and hooks.
    pub fn new(model: &MockModel, change: impl FnOnce(Toolbox, Hooks) -> (Toolbox, Hooks)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let ws = Workspace::at(dir.path()).unwrap();
        let repl = Repl::typed("s06_subagent").quiet().unattended();
        let policy = Policy::open(&ws, repl.clone());
        let hooks = Hooks::new().on_pre_tool(permission(&policy)).on_pre_tool(log(&ws));
        let tools = Toolbox::new()
            .with(bash(&ws))
            .with(read_file(&ws))
            .with(write_file(&ws))
            .with(edit_file(&ws))
            .with(glob(&ws));
        let (tools, hooks) = change(tools, hooks);
        let settings = Settings {
            credentials: Credentials::ApiKey("sk-test".into()),
            base_url: Some(model.url().to_owned()),
            ..Settings::default()
        };
        let client = Client::new(settings, Arc::new(Unobserved)).unwrap();
        let subagents = Subagents::new(&client, &tools, &hooks, &policy, &repl);
        let lead = Toolbox::new().with(subagents.tool());
        Self { dir, lead }
    }

    /// What the lead reads when it calls `task` with this input.
    pub async fn task(&self, input: Value) -> Output {
        self.lead.call(ToolCall::new("toolu_1", "task", input)).await
    }
}
