//! Exercise 3 · a fifth event (15 minutes).
//!
//! Some things need to be said once a session: the rules of the project, the state of the build. Add the event
//! SessionStart, for commands in the settings. Its hooks run once, and what they say to the model goes along with the
//! first prompt of the session that reaches it; with no later one. A prompt that another hook refused does not count.
//! There is nothing to refuse at this event, so a hook's no means nothing. Another agent, which gets its hooks by
//! `Hooks::for_agent`, is no session: its prompts start nothing, and take nothing away.
//!
//! Hint: follow UserPromptSubmit through `src/hooks.rs` and `src/commands.rs`: a list, a way to add to it, a place
//! where it is called, a name in the settings. No other file needs to change.
//!
//! Hint: `Hooks::prompt` is called for every prompt and knows at its end whether this one goes to the model. "Once"
//! needs a memory. Look at `Stops` and at what a clone of it remembers: is that what you want here?

use s01_loop::Repl;
use s02_tools::Workspace;
use s03_permission::Policy;
use s04_hooks::{Hooks, PromptDecision};
use serde_json::{Value, json};
use testkit::Class;

use super::{class, types, with_context};

const SETTINGS: &str = ".harness/settings.json";

/// Settings with a command at the start of a session, which leaves a trace, and one that keeps a secret.
fn settings() -> String {
    let command = |command: &str| json!([{"hooks": [{"type": "command", "command": command}]}]);
    let settings = json!({"hooks": {
        "SessionStart": command("cat > event.json; echo started >> starts.txt; echo indent with tabs"),
        "UserPromptSubmit": command("grep -q secret && { echo 'not that word' >&2; exit 2; } || exit 0"),
    }});
    settings.to_string()
}

fn with_rules(prompt: &str) -> String {
    with_context(prompt, "indent with tabs")
}

/// A class with these settings.
fn with_settings() -> Class {
    let class = class().file(SETTINGS, settings());
    class.file("starts.txt", "")
}

#[test]
#[ignore = "exercise 3"]
fn what_is_said_at_the_start_goes_along_with_the_first_prompt_only() {
    let (class, texts) = types(with_settings(), 2, &["Hello", "And on"]);
    let starts = class.read("starts.txt");
    assert!(
        starts == "started\n",
        "the command of SessionStart should run once in a session; it left {starts:?}"
    );
    assert!(
        texts == [with_rules("Hello"), "And on".to_owned()],
        "the first prompt should carry `indent with tabs` in a tag hook-context, the second nothing; the model read \
         {texts:?}"
    );
    let event: Value = serde_json::from_str(&class.read("event.json")).unwrap();
    assert!(
        event["hook_event_name"] == "SessionStart" && event["cwd"].is_string(),
        "the command should get the event as JSON, with hook_event_name and cwd; it got {event}"
    );
}

/// The first trap: the first prompt need not be the first that reaches the model.
#[test]
#[ignore = "exercise 3"]
fn a_refused_prompt_does_not_swallow_it() {
    let (class, texts) = types(with_settings(), 1, &["tell the secret", "Hello"]);
    assert!(
        texts == [with_rules("Hello")],
        "the first prompt was refused, so `indent with tabs` should go along with the second; the model read {texts:?}"
    );
    let starts = class.read("starts.txt");
    assert!(starts == "started\n", "the command should have run once; it left {starts:?}");
}

/// The second trap: hooks are cloned for other agents.
#[tokio::test]
#[ignore = "exercise 3"]
async fn another_agent_is_no_session() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join(".harness")).unwrap();
    std::fs::write(dir.path().join(SETTINGS), settings()).unwrap();
    let ws = Workspace::at(dir.path()).unwrap();
    let repl = Repl::typed("s04_hooks");
    let lead = Hooks::from_settings(&ws, &repl);
    let before = lead.for_agent("before", Policy::open(&ws, repl.clone()));
    let prompted = [
        (
            "another agent, made before the session",
            before.prompt("side job".into()).await,
            "side job".to_owned(),
        ),
        ("the lead", lead.prompt("go".into()).await, with_rules("go")),
        ("the same agent again", before.prompt("side job".into()).await, "side job".to_owned()),
        (
            "an agent made later",
            lead.for_agent("after", Policy::open(&ws, repl)).prompt("side job".into()).await,
            "side job".to_owned(),
        ),
    ];
    for (who, prompted, expected) in prompted {
        assert!(
            prompted == PromptDecision::Go(expected.clone()),
            "{who} should be sent {expected:?}, and was sent {prompted:?}"
        );
    }
}
