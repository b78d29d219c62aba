//! The exercises of this chapter; `cargo x check s16` runs them.
//!
//! Each file is one task and the tests that tell whether it is done. Invariant: nobody waits for ever: what does not come
//! is said in words.

mod ex1_everybody_leaves;
mod ex2_a_plan_that_binds;
mod ex3_a_plan_that_expires;

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mock_servers::model::MockModel;
use s01_loop::{Client, Credentials, Output, Repl, Settings, ToolCall, Unobserved};
use s02_tools::{Toolbox, Workspace};
use s03_permission::Policy;
use s04_hooks::{Hooks, permission};
use s12_tasks::Session;
use s13_background::Notices;
use s15_mailbox::{LEAD, Mailboxes, Team, Teammate, send_message};
use s16_protocol::Protocol;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::yield_now;

/// Longer than anything here takes; only a failure waits so long.
const PATIENCE: Duration = Duration::from_secs(10);

/// The lead's side of a team.
struct Desk {
    _dir: TempDir,
    ws: Workspace,
    mail: Mailboxes,
    notices: Notices,
    /// Mail that nobody has waited for yet.
    unread: RefCell<Vec<String>>,
    protocol: Protocol,
    tools: Toolbox,
}

impl Desk {
    fn new<W: Teammate>(model: &MockModel, worker: impl FnOnce(Protocol) -> W) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let ws = Workspace::at(dir.path()).unwrap();
        let repl = Repl::typed("s16_protocol").quiet();
        let notices = Notices::default();
        let mail = Mailboxes::open(&ws, &Session::new(&ws));
        mail.deliver_to(&notices, &repl);
        let protocol = Protocol::new(&mail, &repl);
        let policy = Policy::open(&ws, repl.clone());
        let hooks = Hooks::new()
            .on_pre_tool(permission(&policy))
            .on_pre_tool_first(protocol.gate());
        let settings = Settings {
            credentials: Credentials::api_key("sk-test"),
            base_url: Some(model.url().to_owned()),
            ..Settings::default()
        };
        let client = Client::new(settings, Arc::new(Unobserved)).unwrap();
        let (rules, worker) = ((&hooks, &policy), worker(protocol.clone()));
        let team = Team::new(&client, &ws, rules, &mail, &notices, &repl, worker);
        let tools = Toolbox::new()
            .with(team.spawn_tool())
            .with(send_message(&mail, LEAD))
            .with_all(protocol.tools());
        Self {
            _dir: dir,
            ws,
            mail,
            notices,
            unread: RefCell::default(),
            protocol,
            tools,
        }
    }

    async fn call(&self, name: &str, input: Value) -> Output {
        call(&self.tools, name, input).await
    }

    async fn spawn(&self, name: &str) {
        let input = json!({"name": name, "role": "developer", "prompt": "Work."});
        let output = self.call("spawn_teammate", input).await;
        assert!(!output.is_error, "{}", output.text);
    }

    async fn review(&self, id: &str, approve: bool) -> Output {
        let input = json!({"request_id": id, "approve": approve});
        self.call("review_plan", input).await
    }

    /// Waits for mail to the lead that holds this text.
    async fn mail_with(&self, text: &str) -> String {
        let began = Instant::now();
        loop {
            if let Some(mail) = self.read(text) {
                return mail;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "the lead was to get mail with {text:?}; it got {:#?}",
                self.unread.borrow()
            );
            yield_now().await;
        }
    }

    /// The first mail that holds this text. What came before it is kept for who waits for that.
    fn read(&self, text: &str) -> Option<String> {
        let mut unread = self.unread.borrow_mut();
        unread.extend(self.notices.take());
        let at = unread.iter().position(|mail| mail.contains(text))?;
        Some(unread.remove(at))
    }

    /// The id of the next plan that comes.
    async fn plan(&self) -> String {
        let plan = self.mail_with("request_id ").await;
        let (_, id) = plan.split_once("request_id ").unwrap();
        id.trim_end_matches('.').to_owned()
    }
}

async fn call(tools: &Toolbox, name: &str, input: Value) -> Output {
    let call = ToolCall::new("toolu_1", name, input);
    tools.call(call).await
}
