//! Agents beside the lead: under its permission, in its worktrees, with its jobs, its plan and its mail.

use std::cell::Cell;

use mock_servers::model::{Reply, Request, calls, says};
use serde_json::{Value, json};
use testkit::Class;

use crate::context::{DUE, jobs};

use crate::{
    QUESTION, background, bash, class, is_subagent, model, named, news, prompt_below, session,
    side_call, spawn, teammate,
};

/// Two agents ask at once: one question after the other, each under its name, and each answer goes to its own.
#[test]
fn two_agents_ask_and_each_gets_its_own_answer() {
    let model = model(|request: &Request| {
        if let Some(reply) = side_call(request) {
            return reply;
        }
        let asks = |file: &str| bash(&format!("touch {file}"));
        match (teammate(request), is_subagent(request)) {
            (Some(_), _) if request.calls().is_empty() => asks("of-alice"),
            (_, true) if request.calls().is_empty() => asks("of-subagent"),
            (Some(_), _) | (_, true) => says(news(request)),
            (None, false) if request.calls().is_empty() => calls("spawn_teammate", spawn("alice"))
                .and_calls("task", json!({"description": "touch"})),
            (None, false) => says("Noted."),
        }
    });
    let class = class(&[]).model(&model);
    let mut terminal = session(&class);
    terminal.type_line("go");
    for count in 1..=2 {
        // Read from the screen that was waited for: a line printed behind it draws the question anew.
        let is_alice = Cell::new(false);
        terminal.wait_until("an open question", |screen| {
            let asker = screen.lines().rfind(|line| line.contains(QUESTION));
            is_alice.set(asker.is_some_and(|line| line.starts_with("alice")));
            screen.matches(QUESTION).count() == count && screen.trim_end().ends_with(QUESTION)
        });
        terminal.type_line(if is_alice.get() { "y" } else { "n" });
    }
    prompt_below(&mut terminal, "Noted.");
    assert!(
        class.dir().join("of-alice").exists(),
        "{}",
        terminal.screen()
    );
    assert!(
        !class.dir().join("of-subagent").exists(),
        "{}",
        terminal.screen()
    );
}

/// A job of the lead, a teammate in a worktree, and the worktree's end: each in its own directory, nothing is lost.
#[test]
fn a_job_a_teammate_and_a_worktree() {
    let model = model(|request: &Request| {
        if let Some(reply) = side_call(request) {
            return reply;
        }
        let results: Vec<String> = request
            .results()
            .into_iter()
            .map(|(_, text)| text)
            .collect();
        let id = || named(&results, "created ", &[':']).to_owned();
        match (teammate(request), request.calls().len()) {
            (Some(_), 0) if news(request).contains("<claimed_task>") => calls(
                "write_file",
                json!({"path": "here.txt", "content": "alice\n"}),
            )
            .and_calls("bash", json!({"command": "pwd", "run_in_background": true})),
            (Some(_), 0) => says("I am ready."),
            (Some(_), _) if request.calls().len() == 1 => {
                let texts = request.user_texts();
                let id = named(&texts, "You have claimed task ", &[':']);
                calls("complete_task", json!({"task_id": id}))
            }
            (Some(_), _) => says(format!("done: {}", news(request))),
            (None, 0) => calls("create_task", json!({"subject": "schema"})),
            (None, 1) => calls("create_worktree", json!({"name": "one", "task_id": id()})),
            (None, 2) => background("cd .harness/worktrees/one && cat ../../../gate; pwd")
                .and_calls("spawn_teammate", spawn("alice")),
            (None, 3) if news(request).contains("<task_notification>") => {
                calls("remove_worktree", json!({"name": "one"}))
            }
            (None, _) if news(request).contains("uncommitted") => says("Not removed."),
            (None, _) => says("Noted."),
        }
    });
    let class = class(&["bash", "remove_worktree"]).model(&model);
    let mut terminal = session(&class);
    terminal.type_line("go").wait_for("alice │ done:");
    crate::open_gate(&class.dir());
    prompt_below(&mut terminal, "Not removed.");
    let worktree = ".harness/worktrees/one";
    assert_eq!(class.read(format!("{worktree}/here.txt")), "alice\n");
    assert!(!class.dir().join("here.txt").exists());
    let requests = model.requests();
    let of_alice = requests.iter().rfind(|request| teammate(request).is_some());
    let pwd = of_alice.unwrap().results();
    let inside = |(_, text): &(bool, String)| text.trim_end().ends_with(worktree);
    assert!(pwd.iter().any(inside), "{pwd:?}");
}

/// The plan is the lead's. Teammates have no part in it, and what they write is no reason for a second reminder.
#[test]
fn mail_and_the_reminder_of_the_plan() {
    let model = model(|request: &Request| {
        if let Some(reply) = side_call(request) {
            return reply;
        }
        let plan = json!({"todos": [{"content": "look", "status": "in_progress"}]});
        match (teammate(request), request.calls().len()) {
            (Some(_), 0) => calls("todo_write", plan),
            (Some(_), 1) => calls("send_message", json!({"to": "lead", "content": "one"}))
                .and_calls("send_message", json!({"to": "lead", "content": "two"})),
            (Some(_), _) => says("three"),
            (None, 0) => calls("todo_write", plan),
            (None, 1) => calls("spawn_teammate", spawn("alice")),
            // The lead goes on once everything alice has to say is there.
            (None, 2..=5) => bash("true").and_calls("list_tasks", json!({})),
            (None, _) => says("Noted."),
        }
    });
    let class = class(&["bash"]).model(&model);
    let ran = class.types(&["go"]);
    ran.succeeds();
    let requests = model.requests();
    let alice = requests
        .iter()
        .rfind(|request| teammate(request).is_some())
        .unwrap();
    let (is_error, refused) = alice.results().swap_remove(0);
    assert!(is_error, "{refused}");
    let lead = requests
        .iter()
        .rfind(|request| teammate(request).is_none() && side_call(request).is_none());
    let texts = lead.unwrap().user_texts();
    let nags = texts
        .iter()
        .filter(|text| text.contains("<todo-reminder>"))
        .count();
    assert_eq!(nags, 1, "{texts:#?}");
    for word in ["one", "two", "three"] {
        assert!(
            texts.iter().any(|text| text.contains(word)),
            "{word}: {texts:#?}"
        );
    }
}

#[test]
fn a_subagent_is_denied_what_the_lead_is_denied() {
    let settings = json!({"permissions": {"allow": ["bash"], "deny": ["bash(touch *)"]}});
    let model = model(|request: &Request| match side_call(request) {
        Some(reply) => reply,
        None if !request.calls().is_empty() => says(format!("told: {}", news(request))),
        None if is_subagent(request) => bash("touch made"),
        None => calls("task", json!({"description": "touch"})),
    });
    let class = class(&[])
        .file(".harness/settings.json", settings.to_string())
        .model(&model);
    let ran = class.types(&["go"]);
    ran.succeeds().shows("told: permission denied: the rule");
    assert!(!class.dir().join("made").exists());
}

/// The tool calls of somebody who tries what a hook forbids, what nobody allows, and what is fine.
fn tries(who: &str, request: &Request) -> Reply {
    match request.calls().len() {
        0 => calls(
            "write_file",
            json!({"path": format!("{who}-forbidden"), "content": ""}),
        ),
        1 => bash(&format!("touch {who}-asked")),
        _ => calls("read_file", json!({"path": "README.md", "limit": 1})),
    }
}

/// A workspace in which each event is written to `seen.jsonl`, one hook forbids files, and a scheduled prompt is due.
fn watched() -> Class {
    let keeps = "event=$(cat); printf '%s\\n' \"$event\" >> seen.jsonl";
    let forbids = format!("{keeps}; case $event in *-forbidden*) echo not here >&2; exit 2;; esac");
    let hook = |command: &str| json!([{"hooks": [{"type": "command", "command": command}]}]);
    let hooks = json!({
        "UserPromptSubmit": hook(keeps), "PreToolUse": hook(&forbids), "PostToolUse": hook(keeps), "Stop": hook(keeps),
    });
    class(&[])
        .file(
            ".harness/settings.json",
            json!({"hooks": hooks}).to_string(),
        )
        .file(".harness/cron.json", jobs("2020-01-01T09:00:00Z"))
}

/// What comes by the clock, and whoever works on their own, has no way around hooks, permission and log.
#[test]
fn a_scheduled_turn_and_a_teammate_pass_every_hook_and_the_log() {
    let model = model(|request: &Request| {
        if let Some(reply) = side_call(request) {
            return reply;
        }
        match (teammate(request), request.calls().len()) {
            (Some(name), ..3) => tries(name, request),
            (None, ..3) => tries("lead", request),
            (None, 3) => calls("spawn_teammate", spawn("alice")),
            _ => says("Done."),
        }
    });
    let class = watched().model(&model);
    class
        .types(&[])
        .succeeds()
        .shows("[mail from alice: result]");
    let seen = lines(&class.read("seen.jsonl"));
    let log = lines(&class.read(".harness/log.jsonl"));
    let count = |event: &str, text: &str| {
        let is_it =
            |one: &&Value| one["hook_event_name"] == event && one.to_string().contains(text);
        seen.iter().filter(is_it).count()
    };
    assert_eq!(count("UserPromptSubmit", DUE), 1, "{seen:#?}");
    assert_eq!(count("Stop", ""), 2, "the schedule, and the mail");
    assert_eq!(count("PreToolUse", "README.md"), 2);
    assert_eq!(count("PostToolUse", "README.md"), 2);
    for who in ["lead", "alice"] {
        for file in ["forbidden", "asked"] {
            let name = format!("{who}-{file}");
            assert_eq!(count("PreToolUse", &name), 1);
            assert_eq!(count("PostToolUse", &name), 0, "it has not run");
            assert!(!class.dir().join(name).exists());
        }
        let of = log.iter().filter(|entry| entry["agent"] == who);
        let of: Vec<(&str, bool)> = of
            .map(|entry| (entry["tool"].as_str().unwrap(), entry["blocked"].is_null()))
            .collect();
        let expected = [("write_file", false), ("bash", false), ("read_file", true)];
        assert_eq!(of[..3], expected, "{who}");
    }
}

fn lines(text: &str) -> Vec<Value> {
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().expect("lines of JSON")
}
