//! The protocol through its tools and the teammate's loop, with a real client and a model that checks every request.

mod leaving;
mod plans;

use std::sync::Arc;
use std::time::Duration;

use mock_servers::model::{MockModel, Reply, Request, calls};
use s01_loop::{Client, Credentials, Output, Repl, Settings, ToolCall, Unobserved};
use s02_tools::{Toolbox, Workspace};
use s03_permission::Policy;
use s04_hooks::{Hooks, log, permission};
use s12_tasks::Session;
use s13_background::Notices;
use s15_mailbox::{LEAD, Mailboxes, Team, Teammate, send_message};
use s16_protocol::Protocol;
use s16_protocol::teammate::Worker;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::yield_now;
use tokio::time::timeout;

/// Longer than anything here takes; only a failure waits so long.
const PATIENCE: Duration = Duration::from_secs(30);

/// The lead's side of a team.
struct Desk<W = Worker> {
    _dir: TempDir,
    ws: Workspace,
    mail: Mailboxes,
    notices: Notices,
    protocol: Protocol,
    team: Team<W>,
    tools: Toolbox,
}

impl Desk {
    fn new(model: &MockModel) -> Self {
        Self::with(model.url(), |protocol| Worker { protocol })
    }
}

impl<W: Teammate> Desk<W> {
    fn with(url: &str, worker: impl FnOnce(Protocol) -> W) -> Self {
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
            .on_pre_tool(log(&ws))
            .on_pre_tool_first(protocol.gate());
        let settings = Settings {
            credentials: Credentials::api_key("sk-test"),
            base_url: Some(url.to_owned()),
            ..Settings::default()
        };
        let client = Client::new(settings, Arc::new(Unobserved)).unwrap();
        let worker = worker(protocol.clone());
        let rules = (&hooks, &policy);
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
            protocol,
            team,
            tools,
        }
    }

    async fn call(&self, name: &str, input: Value) -> Output {
        let call = ToolCall::new("toolu_1", name, input);
        self.tools.call(call).await
    }

    async fn spawn(&self, name: &str) {
        let input = json!({"name": name, "role": "developer", "prompt": "Work."});
        assert!(!self.call("spawn_teammate", input).await.is_error);
    }

    async fn tell(&self, to: &str, content: &str) {
        let sent = self.call("send_message", json!({"to": to, "content": content}));
        assert!(!sent.await.is_error);
    }

    async fn shutdown(&self, name: &str) -> Output {
        self.call("request_shutdown", json!({"teammate": name}))
            .await
    }

    async fn review(&self, id: &str, approve: bool, feedback: &str) -> Output {
        let input = json!({"request_id": id, "approve": approve, "feedback": feedback});
        self.call("review_plan", input).await
    }

    /// Waits until `/team` shows this of the teammate.
    async fn until(&self, doing: &str) {
        let shown = timeout(PATIENCE, async {
            while !self.team.shown().contains(doing) {
                yield_now().await;
            }
        });
        if shown.await.is_err() {
            panic!("/team was to show {doing:?}: {}", self.team.shown());
        }
    }

    /// The next mail for the lead, as its model reads it.
    async fn read(&self) -> String {
        let read = timeout(PATIENCE, async {
            loop {
                let taken = self.notices.take();
                if !taken.is_empty() {
                    return taken.join("\n");
                }
                yield_now().await;
            }
        });
        read.await.expect("mail for the lead was to come")
    }

    /// The next mail, which must be a plan: its id.
    async fn plan(&self) -> String {
        let plan = self.read().await;
        let id = plan.split_once("request_id ").map(|(_, id)| id);
        id.unwrap_or_else(|| panic!("{plan}"))
            .trim_end_matches('.')
            .to_owned()
    }

    fn has(&self, file: &str) -> bool {
        self.ws.root().join(file).exists()
    }
}

fn write(path: &str) -> Value {
    json!({"path": path, "content": "x"})
}

fn submit(plan: &str) -> Reply {
    calls("submit_plan", json!({"plan": plan}))
}

/// The texts that came as mail, in order.
fn mail_in(request: &Request) -> Vec<String> {
    let texts = request.user_texts().into_iter();
    texts.filter(|text| text.starts_with("<mail")).collect()
}

fn refused(output: &Output) -> &str {
    assert!(output.is_error, "{output:?}");
    &output.text
}
