//! A folder with all that a lead and its teammates share, and a team in it.
//!
//! The tests and the exercises of s15 to s18 begin with a [`Scene`]. Invariant: nobody waits for ever: what does not come
//! is named in the failure.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mock_servers::model::Request;
use s01_loop::{Client, Credentials, Output, Repl, Settings, ToolCall, Unobserved};
use s02_tools::{Toolbox, Workspace};
use s03_permission::Policy;
use s04_hooks::{Hooks, log, permission};
use s12_tasks::{Board, NewTask, Task};
use s13_background::Notices;
use s15_mailbox::{LEAD, Mail, Mailboxes, Team, Teammate};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::yield_now;

/// Longer than anything here takes; only a failure waits so long.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A workspace with a board, mail and notices.
pub struct Scene {
    pub dir: TempDir,
    pub ws: Workspace,
    pub repl: Repl,
    pub board: Board,
    pub mail: Mailboxes,
    pub notices: Notices,
    pub policy: Policy,
}

impl Scene {
    pub fn new() -> Self {
        Self::within(tempfile::tempdir().unwrap(), "")
    }

    /// A new session whose workspace is this folder of a directory.
    pub fn within(dir: TempDir, folder: &str) -> Self {
        let ws = Workspace::at(dir.path().join(folder)).unwrap();
        let repl = Repl::once("test", "").quiet();
        let board = Board::open(&ws);
        Self {
            dir,
            mail: Mailboxes::open(&ws, board.session()),
            policy: Policy::open(&ws, repl.clone()),
            notices: Notices::default(),
            ws,
            repl,
            board,
        }
    }

    /// The mailboxes as another session in the same folder has them.
    pub fn another_session(&self) -> Mailboxes {
        Mailboxes::open(&self.ws, Board::open(&self.ws).session())
    }

    /// The hooks of a lead: its policy and its log.
    pub fn hooks(&self) -> Hooks {
        Hooks::new().on_pre_tool(permission(&self.policy)).on_pre_tool(log(&self.ws))
    }

    /// A team that asks this address under these hooks.
    pub fn team<W: Teammate>(&self, url: &str, hooks: &Hooks, worker: W) -> Team<W> {
        let settings = Settings {
            credentials: Credentials::ApiKey("sk-test".into()),
            base_url: Some(url.to_owned()),
            ..Settings::default()
        };
        let client = Client::new(settings, Arc::new(Unobserved)).unwrap();
        let (rules, notices) = ((hooks, &self.policy), &self.notices);
        Team::new(&client, &self.ws, rules, &self.mail, notices, &self.repl, worker)
    }

    pub fn send(&self, from: &str, to: &str, content: &str) {
        self.mail.send(message(from, to, content)).unwrap();
    }

    /// The next mail for the lead, taken out of its mailbox.
    pub async fn next_mail(&self) -> Vec<Mail> {
        let look = || match self.mail.drain(LEAD).unwrap() {
            mail if mail.is_empty() => Err("none".to_owned()),
            mail => Ok(mail),
        };
        until("mail for the lead", look).await
    }

    pub fn task(&self, subject: &str, blocked_by: &[&str]) -> Task {
        let new = NewTask {
            subject: subject.into(),
            description: format!("All about {subject}."),
            blocked_by: blocked_by.iter().map(|name| (*name).to_owned()).collect(),
        };
        self.board.create(new).unwrap()
    }
}

/// A message between agents.
pub fn message(from: &str, to: &str, content: &str) -> Mail {
    Mail::new(from, to, "message", content)
}

/// What lies in a mailbox, in order; it is empty afterwards.
pub fn contents(mail: &Mailboxes, name: &str) -> Vec<String> {
    let drained = mail.drain(name).unwrap();
    drained.into_iter().map(|mail| mail.content).collect()
}

/// Calls a tool as the model does.
pub async fn call(tools: &Toolbox, name: &str, input: Value) -> Output {
    tools.call(ToolCall::new("toolu_1", name, input)).await
}

/// Spawns a teammate.
pub async fn spawn<W: Teammate>(team: &Team<W>, name: &str, prompt: &str) -> Output {
    let input = json!({"name": name, "role": "backend developer", "prompt": prompt});
    let tools = Toolbox::new().with(team.spawn_tool());
    call(&tools, "spawn_teammate", input).await
}

/// What a call answers that must not fail.
#[track_caller]
pub fn done(output: Output) -> String {
    assert!(!output.is_error, "{}", output.text);
    output.text
}

/// What a call answers that must fail.
#[track_caller]
pub fn refused(output: Output) -> String {
    assert!(output.is_error, "{}", output.text);
    output.text
}

/// Waits until `look` finds something. What it has seen instead is in the failure.
pub async fn until<T>(what: &str, mut look: impl FnMut() -> Result<T, String>) -> T {
    let began = Instant::now();
    loop {
        match look() {
            Ok(found) => return found,
            Err(seen) => assert!(began.elapsed() < PATIENCE, "{what} was to come: {seen}"),
        }
        yield_now().await;
    }
}

/// Waits until `/team` shows this.
pub async fn until_shown<W: Teammate>(team: &Team<W>, doing: &str) -> String {
    let look = || Some(team.shown()).filter(|shown| shown.contains(doing));
    until(doing, || look().ok_or_else(|| team.shown())).await
}

/// The texts of a request that came as mail, in order.
pub fn mail_in(request: &Request) -> Vec<String> {
    let texts = request.user_texts().into_iter();
    texts.filter(|text| text.starts_with("<mail")).collect()
}
