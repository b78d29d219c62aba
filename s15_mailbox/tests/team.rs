//! Teammates through the tool that spawns them, with a real client and a model that checks every request.

use std::future::ready;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use mock_servers::model::{MockModel, Options, Request, calls, says};
use s01_loop::{Client, Credentials, Output, Repl, Settings, ToolCall, Unobserved};
use s02_tools::{Toolbox, Workspace};
use s03_permission::Policy;
use s04_hooks::{HookOutput, Hooks, PreTool, log, permission};
use s12_tasks::Session;
use s13_background::Notices;
use s15_mailbox::teammate::Worker;
use s15_mailbox::{LEAD, Mail, Mailboxes, Team, Teammate, TeammateContext};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::task::yield_now;
use tokio::time::timeout;

/// Longer than anything here takes; only a failure waits so long.
const PATIENCE: Duration = Duration::from_secs(30);

/// A workspace and a team in it, as the lead sees them.
struct Crew<W> {
    _dir: TempDir,
    ws: Workspace,
    mail: Mailboxes,
    team: Team<W>,
}

impl Crew<Worker> {
    fn new(model: &MockModel) -> Self {
        Self::with(model.url(), Worker, |_| |_| HookOutput::Go)
    }
}

impl<W: Teammate> Crew<W> {
    /// A crew with one more PreToolUse hook.
    fn with<H>(url: &str, worker: W, hook: impl FnOnce(&Mailboxes) -> H) -> Self
    where
        H: Fn(PreTool) -> HookOutput + Send + Sync + 'static,
    {
        let dir = tempfile::tempdir().unwrap();
        let ws = Workspace::at(dir.path()).unwrap();
        let repl = Repl::typed("s15_mailbox").quiet();
        let mail = Mailboxes::open(&ws, &Session::new(&ws));
        let policy = Policy::open(&ws, repl.clone());
        let hook = hook(&mail);
        let hooks = Hooks::new()
            .on_pre_tool(permission(&policy))
            .on_pre_tool(move |event| ready(hook(event)))
            .on_pre_tool(log(&ws));
        let client = client(url);
        let (rules, notices) = ((&hooks, &policy), Notices::default());
        let team = Team::new(&client, &ws, rules, &mail, &notices, &repl, worker);
        Self {
            _dir: dir,
            ws,
            mail,
            team,
        }
    }

    async fn spawn(&self, name: &str, prompt: &str) -> Output {
        let input = json!({"name": name, "role": "backend developer", "prompt": prompt});
        let call = ToolCall {
            id: "toolu_1".into(),
            name: "spawn_teammate".into(),
            input,
            extra: Map::new(),
        };
        let tools = Toolbox::new().with(self.team.spawn_tool());
        tools.call(call).await
    }

    /// The next mail for the lead.
    async fn next_mail(&self) -> Vec<Mail> {
        let mail = timeout(PATIENCE, async {
            loop {
                let drained = self.mail.drain(LEAD).unwrap();
                if !drained.mail.is_empty() {
                    return drained.mail;
                }
                self.mail.wait(LEAD).await;
            }
        });
        mail.await.expect("mail for the lead was to come")
    }

    /// The only message that comes: its type and what it says.
    async fn word(&self) -> (String, String) {
        let mut mail = self.next_mail().await;
        assert_eq!(mail.len(), 1, "{mail:?}");
        let mail = mail.remove(0);
        (mail.kind, mail.content)
    }

    /// What `/team` says when everybody has gone.
    async fn gone(&self) -> String {
        let is_gone = |line: &str| line.contains("gone (");
        let gone = timeout(PATIENCE, async {
            while !self.team.shown().lines().all(is_gone) {
                yield_now().await;
            }
        });
        if gone.await.is_err() {
            panic!("everybody was to leave: {}", self.team.shown());
        }
        self.team.shown()
    }

    /// Who called what, and why it was blocked.
    fn logged(&self) -> Vec<(String, String, Value)> {
        let log = std::fs::read_to_string(self.ws.state("log.jsonl")).unwrap();
        let entry = |line: &str| {
            let entry: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| entry[name].as_str().unwrap().to_owned();
            (text("agent"), text("tool"), entry["blocked"].clone())
        };
        log.lines().map(entry).collect()
    }
}

fn client(url: &str) -> Client {
    let settings = Settings {
        credentials: Credentials::api_key("sk-test"),
        base_url: Some(url.to_owned()),
        ..Settings::default()
    };
    Client::new(settings, Arc::new(Unobserved)).unwrap()
}

fn result(text: &str) -> (String, String) {
    ("result".into(), text.into())
}

fn mail_in(request: &Request) -> Vec<String> {
    let texts = request.user_texts().into_iter();
    texts.filter(|text| text.starts_with("<mail ")).collect()
}

#[tokio::test]
async fn a_teammate_works_by_itself_reports_and_leaves() {
    let model = MockModel::scripted([
        calls(
            "write_file",
            json!({"path": "schema.sql", "content": "CREATE TABLE users;"}),
        ),
        says("schema.sql has a users table.\n"),
    ]);
    let crew = Crew::new(&model);
    let spawned = crew.spawn("alice", "Create schema.sql.").await;
    assert_eq!(
        spawned,
        Output::ok("alice is at work; its mail comes to you by itself")
    );
    assert_eq!(crew.word().await, result("schema.sql has a users table."));
    assert_eq!(crew.gone().await, "alice  backend developer  gone (done)");
    assert!(crew.ws.root().join("schema.sql").exists());
    let request = model.last_request();
    assert!(
        request
            .system
            .starts_with("You are a teammate named 'alice', a backend developer."),
        "{}",
        request.system
    );
    assert_eq!(request.user_texts(), ["Create schema.sql."]);
    assert_eq!(
        request.tool_names(),
        ["bash", "read_file", "write_file", "send_message"]
    );
}

#[tokio::test]
async fn a_name_is_given_once_at_a_time() {
    let model = MockModel::scripted([says("One."), says("Two.")]);
    let crew = Crew::new(&model);
    crew.mail.join("alice").unwrap();
    for (name, why) in [
        ("alice", "is taken"),
        ("lead", "is taken"),
        ("../x", "is no name"),
    ] {
        let output = crew.spawn(name, "Go.").await;
        assert!(output.is_error && output.text.contains(why), "{output:?}");
    }
    let output = crew.spawn("bob", " \n").await;
    assert!(output.text.contains("the prompt is empty"), "{output:?}");
    crew.mail.leave("alice");
    assert!(!crew.spawn("alice", "Go.").await.is_error);
    assert_eq!(crew.word().await, result("One."));
    crew.gone().await;
    assert!(!crew.spawn("alice", "Again.").await.is_error);
    assert_eq!(crew.word().await, result("Two."));
}

#[tokio::test]
async fn who_hires_somebody_twice_learns_what_it_does_and_how_to_reach_it() {
    let model = MockModel::scripted([]);
    let crew = Crew::with(model.url(), Guest, |_| |_| HookOutput::Go);
    assert!(!crew.spawn("alice", "Go.").await.is_error);
    let idle = timeout(PATIENCE, async {
        while !crew.team.shown().contains("idle") {
            yield_now().await;
        }
    });
    idle.await.expect("alice was to be idle");
    let output = crew.spawn("alice", "Go on.").await;
    assert!(
        output.is_error && output.text.contains("(idle): write to it"),
        "{output:?}"
    );
}

/// A teammate that stays and does nothing.
#[derive(Clone)]
struct Guest;

impl Teammate for Guest {
    async fn run(self, teammate: TeammateContext) -> Result<()> {
        teammate.is(s15_mailbox::Doing::Idle);
        std::future::pending().await
    }
}

#[tokio::test]
async fn the_lead_learns_of_an_error_of_the_api() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 65_536]);
        let body = r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#;
        let head =
            "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\nconnection: close";
        write!(
            stream,
            "{head}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
    });
    let crew = Crew::with(&url, Worker, |_| |_| HookOutput::Go);
    crew.spawn("alice", "Go.").await;
    let (kind, said) = crew.word().await;
    assert_eq!(kind, "error");
    assert!(
        said.starts_with("alice had to stop: ") && said.contains("401"),
        "{said}"
    );
    assert!(crew.gone().await.contains("gone (stopped: "));
    assert!(
        crew.mail
            .send(Mail::new(LEAD, "alice", "message", "?"))
            .is_err(),
        "nobody reads it any more"
    );
}

/// A teammate with a fault in its program.
#[derive(Clone)]
struct Broken;

impl Teammate for Broken {
    async fn run(self, _: TeammateContext) -> Result<()> {
        panic!("a fault")
    }
}

#[tokio::test]
async fn the_lead_learns_of_a_teammate_that_breaks_down() {
    let crew = Crew::with("http://127.0.0.1:9", Broken, |_| |_| HookOutput::Go);
    crew.spawn("alice", "Go.").await;
    assert_eq!(
        crew.word().await,
        ("error".into(), "alice had to stop: it broke down".into())
    );
    assert!(crew.gone().await.contains("gone (stopped: it broke down)"));
}

#[tokio::test]
async fn a_teammate_that_finds_no_end_is_stopped_and_nothing_is_taken_for_its_words() {
    let model = MockModel::scripted((0..10).map(|_| calls("read_file", json!({"path": "x"}))));
    let crew = Crew::new(&model);
    crew.spawn("alice", "Go.").await;
    let (kind, said) = crew.word().await;
    assert_eq!(kind, "error");
    assert!(said.contains("not done after 10 rounds"), "{said}");
}

#[tokio::test]
async fn an_empty_reply_is_not_reported_as_the_prompt() {
    let model = MockModel::scripted([mock_servers::model::Reply::default()]);
    let crew = Crew::new(&model);
    crew.spawn("alice", "Delete everything.").await;
    assert_eq!(
        crew.word().await,
        result("(I am done and have nothing to say.)")
    );
}

#[tokio::test]
async fn hooks_and_the_policy_gate_a_teammate_under_its_name() {
    let model = MockModel::scripted([
        calls("bash", json!({"command": "sudo true"}))
            .and_calls("write_file", json!({"path": "../out.txt", "content": ""}))
            .and_calls("read_file", json!({"path": "secret.txt"})),
        says("All refused."),
    ]);
    let crew = Crew::with(model.url(), Worker, |_| {
        |event: PreTool| match event.call.input["path"] == "secret.txt" {
            true => HookOutput::Block(format!("not for {}", event.caller.unwrap().name)),
            false => HookOutput::Go,
        }
    });
    crew.spawn("alice", "Try.").await;
    assert_eq!(crew.word().await, result("All refused."));
    let results = model.last_request().results();
    assert_eq!(results.len(), 3, "every call is answered");
    assert!(results.iter().all(|(is_error, _)| *is_error), "{results:?}");
    assert!(results[2].1.contains("not for alice"), "{results:?}");
    let logged = crew.logged();
    assert_eq!(logged.len(), 3);
    for (agent, tool, blocked) in logged {
        assert!(
            agent == "alice" && blocked.is_string(),
            "{agent} {tool} {blocked}"
        );
    }
}

#[tokio::test]
async fn mail_reaches_a_running_teammate_behind_its_results() {
    let model = MockModel::scripted([
        calls("read_file", json!({"path": "a"})).and_calls("read_file", json!({"path": "b"})),
        says("I have read both."),
    ]);
    let crew = Crew::with(model.url(), Worker, |mail| {
        let mail = mail.clone();
        move |event: PreTool| {
            let path = event.call.input["path"].as_str().unwrap_or_default();
            mail.send(Mail::new(LEAD, "alice", "message", format!("seen {path}")))
                .unwrap();
            HookOutput::Go
        }
    });
    crew.spawn("alice", "Read.").await;
    assert_eq!(crew.word().await, result("I have read both."));
    let got = mail_in(&model.last_request());
    assert_eq!(
        got,
        ["a", "b"]
            .map(|path| format!("<mail from=\"lead\" type=\"message\">\nseen {path}\n</mail>"))
    );
}

#[tokio::test]
async fn mail_that_comes_with_the_last_words_is_read_all_the_same() {
    let crew_mail = Arc::new(std::sync::OnceLock::<Mailboxes>::new());
    let sender = crew_mail.clone();
    let model = MockModel::start(Options::strict(), move |request: &Request| {
        match mail_in(request).is_empty() {
            true => {
                let late = Mail::new(LEAD, "alice", "message", "And an index.");
                sender.get().unwrap().send(late).unwrap();
                says("The table is there.")
            }
            false => says("The index as well."),
        }
    })
    .unwrap();
    let crew = Crew::new(&model);
    assert!(crew_mail.set(crew.mail.clone()).is_ok());
    crew.spawn("alice", "Create a table.").await;
    crew.gone().await;
    let said: Vec<String> = crew
        .next_mail()
        .await
        .into_iter()
        .map(|mail| mail.content)
        .collect();
    assert_eq!(said, ["The table is there.", "The index as well."]);
}

#[tokio::test]
async fn a_teammate_writes_to_others_under_its_own_name() {
    let send = |to: &str, content: &str| json!({"to": to, "content": content});
    let mut forged = send("bob", "second");
    forged["from"] = json!("lead");
    let model = MockModel::scripted([
        calls("send_message", send("bob", "first"))
            .and_calls("send_message", send("../x", "hi"))
            .and_calls("send_message", send("bob", " "))
            .and_calls("send_message", forged),
        says("Sent."),
    ]);
    let crew = Crew::new(&model);
    crew.mail.join("bob").unwrap();
    crew.spawn("alice", "Greet bob.").await;
    assert_eq!(crew.word().await, result("Sent."));
    let failed = model.last_request().results();
    let failed: Vec<bool> = failed.iter().map(|(is_error, _)| *is_error).collect();
    assert!(failed[1] && failed[2], "no such name; nothing to say");
    for mail in crew.mail.drain("bob").unwrap().mail {
        assert_eq!(mail.from, "alice");
    }
}
