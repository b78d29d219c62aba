//! The exercises of this chapter; `cargo x check s15` runs them.
//!
//! Each file is one task and the tests that tell whether it is done. Invariant: no teammate of an exercise works for
//! ever, and nothing here waits for a clock.

mod ex1_a_message_to_all;
mod ex2_the_last_round;
mod ex3_unread;

use std::sync::Arc;

use mock_servers::model::MockModel;
use s01_loop::{Client, Credentials, Output, Repl, Settings, ToolCall, Unobserved};
use s02_tools::{Tool, Toolbox, Workspace};
use s03_permission::Policy;
use s04_hooks::Hooks;
use s12_tasks::Session;
use s13_background::Notices;
use s15_mailbox::{Mailboxes, Team, Teammate};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// A workspace with mailboxes and a team.
struct Crew<W> {
    _dir: TempDir,
    ws: Workspace,
    mail: Mailboxes,
    team: Team<W>,
}

impl<W: Teammate> Crew<W> {
    fn new(model: &MockModel, worker: W) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let ws = Workspace::at(dir.path()).unwrap();
        let repl = Repl::typed("s15_mailbox").quiet();
        let mail = Mailboxes::open(&ws, &Session::new(&ws));
        let policy = Policy::open(&ws, repl.clone());
        let settings = Settings {
            credentials: Credentials::api_key("sk-test"),
            base_url: Some(model.url().to_owned()),
            ..Settings::default()
        };
        let client = Client::new(settings, Arc::new(Unobserved)).unwrap();
        let (rules, notices) = ((&Hooks::new(), &policy), Notices::default());
        let team = Team::new(&client, &ws, rules, &mail, &notices, &repl, worker);
        Self {
            _dir: dir,
            ws,
            mail,
            team,
        }
    }

    async fn spawn(&self, name: &str) {
        let input = json!({"name": name, "role": "tester", "prompt": "Look around."});
        let output = call(self.team.spawn_tool(), input).await;
        assert!(!output.is_error, "{}", output.text);
    }
}

/// Calls a tool.
async fn call(tool: Tool, input: Value) -> Output {
    let call = ToolCall {
        id: "toolu_1".into(),
        name: tool.name().to_owned(),
        input,
        extra: Map::new(),
    };
    Toolbox::new().with(tool).call(call).await
}

/// What lies in a mailbox, in order; it is empty afterwards.
fn contents(mail: &Mailboxes, name: &str) -> Vec<String> {
    let drained = mail.drain(name).unwrap();
    drained.mail.into_iter().map(|mail| mail.content).collect()
}
