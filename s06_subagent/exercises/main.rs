//! The exercises of this chapter; `cargo x check s06` runs them.
//!
//! Each file is a task with its tests, and beside it lies one way to solve it, as a patch. Invariant: a test compiles
//! before its exercise is solved, fails then, and passes afterwards.

mod ex1_the_last_round;
mod ex2_only_reading;
mod ex3_what_it_had_said;

use std::sync::Arc;

use mock_servers::model::MockModel;
use s01_loop::{Client, Credentials, Output, Repl, Settings, ToolCall, Unobserved};
use s02_tools::{Toolbox, Workspace, bash, edit_file, glob, read_file, write_file};
use s03_permission::Policy;
use s04_hooks::{Hooks, permission};
use s06_subagent::Subagents;
use serde_json::Value;
use tempfile::TempDir;

/// The tool task of a lead, and the directory it works in.
struct Bench {
    /// Here, so that it is there as long as the bench.
    _dir: TempDir,
    lead: Toolbox,
}

impl Bench {
    /// A lead whose subagents ask this model. `change` may add tools and hooks.
    fn new(model: &MockModel, change: impl FnOnce(Toolbox, Hooks) -> (Toolbox, Hooks)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let ws = Workspace::at(dir.path()).unwrap();
        let repl = Repl::typed("s06_subagent").quiet().unattended();
        let policy = Policy::open(&ws, repl.clone());
        let hooks = Hooks::new().on_pre_tool(permission(&policy));
        let tools = Toolbox::new()
            .with(bash(&ws))
            .with(read_file(&ws))
            .with(write_file(&ws))
            .with(edit_file(&ws))
            .with(glob(&ws));
        let (tools, hooks) = change(tools, hooks);
        let subagents = Subagents::new(&client(model), &tools, &hooks, &policy, &repl);
        let lead = Toolbox::new().with(subagents.tool());
        Self { _dir: dir, lead }
    }

    /// What the lead reads when it calls `task` with this input.
    async fn task(&self, input: Value) -> Output {
        let call = ToolCall::new("toolu_1", "task", input);
        self.lead.call(call).await
    }
}

fn client(model: &MockModel) -> Client {
    let settings = Settings {
        credentials: Credentials::api_key("sk-test"),
        base_url: Some(model.url().to_owned()),
        ..Settings::default()
    };
    Client::new(settings, Arc::new(Unobserved)).unwrap()
}
