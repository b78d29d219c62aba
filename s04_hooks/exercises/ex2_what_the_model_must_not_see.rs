//! Exercise 2 · what the model must not see (15 minutes).
//!
//! A PostToolUse hook can add to an output, but a secret that stands in it goes to the model all the same. Let such a
//! hook replace the text: `HookOutput::Rewrite` with a string does so, and a command from the settings by answering
//! `{"hookSpecificOutput": {"updatedOutput": "…"}}`. The hooks behind it, the user and the model see the new text and
//! no trace of the old one. Whether the tool failed stays as it was. Each event takes only its own: `updatedOutput`
//! of a PreToolUse command does nothing to the call, and `updatedInput` of a PostToolUse command nothing to the
//! output.
//!
//! Hint: `Hooks::post_tool` in `src/hooks.rs` gets the word of each hook; `said` in `src/commands.rs` is where the
//! answer of a command becomes that word.
//!
//! Hint: `said` does not know which event it answers. Its callers do.

use std::sync::{Arc, Mutex};

use mock_servers::model::{MockModel, calls, says};
use s01_loop::{Output, ToolCall};
use s04_hooks::{HookOutput, Hooks, PostTool};
use serde_json::{Value, json};
use testkit::Class;

/// A class with a secret, and settings with these commands on the two tool events.
fn class(pre_tool: &[Value], post_tool: &[Value]) -> Class {
    let entry = |answers: &[Value]| {
        let hook = |answer| json!({"type": "command", "command": format!("echo '{answer}'")});
        json!([{"matcher": "read_file", "hooks": answers.iter().map(hook).collect::<Vec<_>>()}])
    };
    let settings =
        json!({"hooks": {"PreToolUse": entry(pre_tool), "PostToolUse": entry(post_tool)}});
    Class::new(env!("CARGO_BIN_EXE_s04_hooks"))
        .file("key.txt", "KEY=s3cret\n")
        .file(".harness/settings.json", settings.to_string())
}

fn answer(field: &str, value: Value) -> Value {
    json!({"hookSpecificOutput": {field: value}})
}

fn reads_the_key() -> MockModel {
    MockModel::scripted([calls("read_file", json!({"path": "key.txt"})), says("Done.")])
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn a_hook_replaces_the_text_and_the_next_one_sees_that() {
    let seen = Arc::new(Mutex::new(String::new()));
    let sees = Arc::clone(&seen);
    let hooks = Hooks::new()
        .on_post_tool(async |_| HookOutput::Rewrite(json!("KEY=***")))
        .on_post_tool(move |PostTool { output, .. }: PostTool| {
            *sees.lock().unwrap() = output.text;
            std::future::ready(HookOutput::Go)
        });
    let call = ToolCall::new("toolu_1", "bash", json!({}));
    let output = hooks.post_tool(&call, Output::error("KEY=s3cret")).await;
    let expected = Output::error("KEY=***");
    assert!(
        output == expected,
        "the text should be replaced and the failure stay one: {expected:?}. It became {output:?}"
    );
    let seen = seen.lock().unwrap().clone();
    assert!(seen == "KEY=***", "the next hook should see the new text; it saw {seen:?}");
    let refused = hooks.post_tool(&call, Output::refused("not today")).await;
    assert!(refused.text == "not today", "a refused call has no output to replace");
}

#[test]
#[ignore = "exercise 2"]
fn neither_model_nor_user_sees_the_old_text() {
    let model = reads_the_key();
    let class = class(&[], &[answer("updatedOutput", json!("KEY=***"))]).model(&model);
    let ran = class.types(&["What is the key?"]);
    let request = model.last_request();
    let results = request.results();
    assert!(
        results == [(false, "KEY=***".to_owned())],
        "the command answered with updatedOutput `KEY=***`, and the model should read that; it read {results:?}"
    );
    let sent = String::from_utf8_lossy(&request.body).contains("s3cret");
    assert!(!sent, "the secret is still somewhere in the request");
    ran.succeeds().shows("KEY=***").never_shows("s3cret");
}

/// The trap: the same word means one thing before a call and another after it.
#[test]
#[ignore = "exercise 2"]
fn each_event_takes_only_its_own() {
    let model = reads_the_key();
    let class = class(
        &[answer("updatedOutput", json!("ls"))],
        &[
            answer("updatedOutput", json!("KEY=***")),
            answer("updatedInput", json!({"path": "other.txt"})),
        ],
    );
    let class = class.model(&model);
    class.types(&["What is the key?"]).succeeds();
    let log: Value = serde_json::from_str(&class.read(".harness/log.jsonl")).unwrap();
    assert!(
        log["input"] == json!({"path": "key.txt"}),
        "a PreToolUse command answered with updatedOutput; that should not change the call, which became {}",
        log["input"]
    );
    let results = model.last_request().results();
    assert!(
        results == [(false, "KEY=***".to_owned())],
        "one PostToolUse command answered with updatedOutput `KEY=***`, the next one with updatedInput, which has no \
         meaning there; the model read {results:?}"
    );
}
