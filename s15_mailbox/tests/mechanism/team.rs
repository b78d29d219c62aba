//! Teammates through the tool that spawns them, with a real client and a model that checks every request.

use std::future::{pending, ready};
use std::sync::{Arc, OnceLock};

use anyhow::Result;
use mock_servers::model::{Fault, MockModel, Options, Reply, Request, calls, says};
use s04_hooks::{HookOutput, PreTool};
use s15_mailbox::teammate::Worker;
use s15_mailbox::{AgentState, LEAD, Mailboxes, Team, Teammate, TeammateContext};
use serde_json::{Value, json};

use crate::scene::{Scene, done, mail_in, message, refused, spawn, until_shown};

/// A team whose teammates do the chapter's work.
fn team(scene: &Scene, model: &MockModel) -> Team<Worker> {
    scene.team(model.url(), &scene.hooks(), Worker)
}

/// A team with one more PreToolUse hook.
fn team_with<H>(scene: &Scene, model: &MockModel, hook: H) -> Team<Worker>
where
    H: Fn(PreTool) -> HookOutput + Send + Sync + 'static,
{
    let hooks = scene.hooks();
    let hooks = hooks.on_pre_tool_first(move |event| ready(hook(event)));
    scene.team(model.url(), &hooks, Worker)
}

/// The only message that comes for the lead: its type and what it says.
async fn word(scene: &Scene) -> (String, String) {
    let mut mail = scene.next_mail().await;
    assert_eq!(mail.len(), 1, "{mail:?}");
    let mail = mail.remove(0);
    (mail.kind, mail.content)
}

fn result(text: &str) -> (String, String) {
    ("result".into(), text.into())
}

fn read(path: &str) -> Reply {
    calls("read_file", json!({ "path": path }))
}

/// What a teammate of a test does.
#[derive(Clone)]
enum Puppet {
    /// It stays and does nothing.
    Stays,
    /// It has a fault in its program.
    Panics,
}

impl Teammate for Puppet {
    async fn run(self, teammate: TeammateContext) -> Result<()> {
        match self {
            Self::Panics => panic!("a fault"),
            Self::Stays => teammate.set_state(AgentState::Idle),
        }
        pending().await
    }
}

#[tokio::test]
async fn who_hires_somebody_twice_learns_what_it_does_and_how_to_reach_it() {
    let scene = Scene::new();
    let team = scene.team("http://127.0.0.1:9", &scene.hooks(), Puppet::Stays);
    done(spawn(&team, "alice", "Go.").await);
    until_shown(&team, "idle").await;
    let refusal = refused(spawn(&team, "alice", "Go on.").await);
    assert!(refusal.contains("(idle): write to it"), "{refusal}");
}

#[tokio::test]
async fn the_lead_learns_of_a_teammate_that_breaks_down() {
    let scene = Scene::new();
    let team = scene.team("http://127.0.0.1:9", &scene.hooks(), Puppet::Panics);
    spawn(&team, "alice", "Go.").await;
    let told = "alice had to stop: it broke down";
    assert_eq!(word(&scene).await, ("error".into(), told.into()));
    until_shown(&team, "gone (stopped: it broke down)").await;
}

/// An error of the API; a model that calls and calls. Nothing of it is taken for the teammate's words.
#[tokio::test]
async fn the_lead_learns_why_a_teammate_could_not_go_on() {
    let broken = MockModel::scripted([]);
    broken.fault(Fault::Internal, 1);
    let endless = MockModel::scripted((0..10).map(|_| read("x")));
    for (model, why) in [(broken, "500"), (endless, "not done after 10 rounds")] {
        let scene = Scene::new();
        let team = team(&scene, &model);
        spawn(&team, "alice", "Go.").await;
        let (kind, said) = word(&scene).await;
        assert_eq!(kind, "error");
        assert!(said.starts_with("alice had to stop: "), "{said}");
        assert!(said.contains(why), "{said}");
        until_shown(&team, "gone (stopped: ").await;
    }
}

#[tokio::test]
async fn an_empty_reply_is_not_reported_as_the_prompt() {
    let model = MockModel::scripted([Reply::default()]);
    let scene = Scene::new();
    spawn(&team(&scene, &model), "alice", "Delete everything.").await;
    let nothing = result("(I am done and have nothing to say.)");
    assert_eq!(word(&scene).await, nothing);
}

#[tokio::test]
async fn hooks_and_the_policy_gate_a_teammate_under_its_name() {
    let model = MockModel::scripted([
        calls("bash", json!({"command": "sudo true"}))
            .and_calls("write_file", json!({"path": "../out.txt", "content": ""}))
            .and_calls("read_file", json!({"path": "secret.txt"})),
        says("All refused."),
    ]);
    let scene = Scene::new();
    let team = team_with(&scene, &model, |event| {
        let caller = event.caller.expect("a teammate calls").name;
        if event.call.input["path"] == "secret.txt" {
            return HookOutput::Block(format!("not for {caller}"));
        }
        HookOutput::Go
    });
    spawn(&team, "alice", "Try.").await;
    assert_eq!(word(&scene).await, result("All refused."));
    let results = model.last_request().results();
    assert_eq!(results.len(), 3, "every call is answered");
    assert!(results.iter().all(|(is_error, _)| *is_error), "{results:?}");
    assert!(results[2].1.contains("not for alice"), "{results:?}");
    let log = std::fs::read_to_string(scene.ws.state("log.jsonl")).unwrap();
    assert_eq!(log.lines().count(), 3, "{log}");
    for line in log.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        assert_eq!(entry["agent"], "alice", "{line}");
        assert!(entry["blocked"].is_string(), "{line}");
    }
}

#[tokio::test]
async fn mail_reaches_a_running_teammate_behind_its_results() {
    let both = read("a").and_calls("read_file", json!({"path": "b"}));
    let model = MockModel::scripted([both, says("I have read both.")]);
    let scene = Scene::new();
    let mail = scene.mail.clone();
    let team = team_with(&scene, &model, move |event| {
        let path = event.call.input["path"].as_str().unwrap_or_default();
        let seen = message(LEAD, "alice", &format!("seen {path}"));
        mail.send(seen).unwrap();
        HookOutput::Go
    });
    spawn(&team, "alice", "Read.").await;
    assert_eq!(word(&scene).await, result("I have read both."));
    let shown = |path| format!("<mail from=\"lead\" type=\"message\">\nseen {path}\n</mail>");
    assert_eq!(mail_in(&model.last_request()), ["a", "b"].map(shown));
}

#[tokio::test]
async fn mail_that_comes_with_the_last_words_is_read_all_the_same() {
    let mailboxes = Arc::new(OnceLock::<Mailboxes>::new());
    let sender = mailboxes.clone();
    let brain = move |request: &Request| {
        if !mail_in(request).is_empty() {
            return says("The index as well.");
        }
        let late = message(LEAD, "alice", "And an index.");
        sender.get().unwrap().send(late).unwrap();
        says("The table is there.")
    };
    let model = MockModel::start(Options::strict(), brain).unwrap();
    let scene = Scene::new();
    assert!(mailboxes.set(scene.mail.clone()).is_ok());
    let team = team(&scene, &model);
    spawn(&team, "alice", "Create a table.").await;
    until_shown(&team, "gone").await;
    let mail = scene.next_mail().await;
    let said: Vec<&str> = mail.iter().map(|mail| &*mail.content).collect();
    assert_eq!(said, ["The table is there.", "The index as well."]);
}

#[tokio::test]
async fn a_teammate_writes_to_others_under_its_own_name() {
    let send = |to: &str, content: &str| json!({"to": to, "content": content, "from": "lead"});
    let model = MockModel::scripted([
        calls("send_message", send("bob", "first"))
            .and_calls("send_message", send("../x", "hi"))
            .and_calls("send_message", send("bob", " "))
            .and_calls("send_message", send("bob", "second")),
        says("Sent."),
    ]);
    let scene = Scene::new();
    scene.mail.join("bob").unwrap();
    spawn(&team(&scene, &model), "alice", "Greet bob.").await;
    assert_eq!(word(&scene).await, result("Sent."));
    let results = model.last_request().results();
    let failed: Vec<bool> = results.iter().map(|(is_error, _)| *is_error).collect();
    assert!(failed[1] && failed[2], "no such name; nothing to say");
    for mail in scene.mail.drain("bob").unwrap() {
        assert_eq!(mail.from, "alice");
    }
}
