//! Whatever works beside the user has no way around hooks, permissions and the log.

use mock_servers::model::{Reply, Request, calls, says};
use serde_json::{Value, json};
use testkit::Class;

use super::context::{DUE, jobs};
use super::{bash, class, model, spawn, teammate};

/// The tool calls of somebody who tries what a hook forbids, what nobody allows, and what is fine.
fn tries(who: &str, request: &Request) -> Reply {
    match request.calls().len() {
        0 => calls("write_file", json!({"path": format!("{who}-forbidden"), "content": ""})),
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
        .file(".harness/settings.json", json!({"hooks": hooks}).to_string())
        .file(".harness/cron.json", jobs("2020-01-01T09:00:00Z"))
}

/// What comes by the clock, and whoever works on their own, has no way around hooks, permission and log.
#[test]
fn a_scheduled_turn_and_a_teammate_pass_every_hook_and_the_log() {
    let model = model(|request: &Request| match (teammate(request), request.calls().len()) {
        (Some(name), ..3) => tries(name, request),
        (None, ..3) => tries("lead", request),
        (None, 3) => calls("spawn_teammate", spawn("alice")),
        _ => says("Done."),
    });
    let class = watched().model(&model);
    class.types(&[]).succeeds().shows("[mail from alice: result]");
    let seen = lines(&class.read("seen.jsonl"));
    let log = lines(&class.read(".harness/log.jsonl"));
    let count = |event: &str, text: &str| {
        let is_it =
            |one: &&Value| one["hook_event_name"] == event && one.to_string().contains(text);
        seen.iter().filter(is_it).count()
    };
    assert_eq!(count("UserPromptSubmit", DUE), 1, "{seen:#?}");
    // The mail has a turn of its own unless it comes before the end of the first.
    assert!(matches!(count("Stop", ""), 1 | 2), "{seen:#?}");
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
        let of: Vec<(&str, bool)> =
            of.map(|entry| (entry["tool"].as_str().unwrap(), entry["blocked"].is_null())).collect();
        let expected = [("write_file", false), ("bash", false), ("read_file", true)];
        assert_eq!(of[..3], expected, "{who}");
    }
}

fn lines(text: &str) -> Vec<Value> {
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().expect("lines of JSON")
}
